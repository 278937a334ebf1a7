"""What readers make of values: grammars, releases, slips of the finger, and the readers' own answers."""

import json
from pathlib import Path
from typing import Any

import pytest

from gpuwhy.knowledge.readings import every_flag, flags, known_names, readers
from gpuwhy.knowledge.settings import ANYTHING, distance, faults, misspelt

HERE = Path(__file__).parent
RELEASES = json.loads((HERE / "releases.json").read_text(encoding="utf-8"))
ROWS, VALUES = (
    [json.loads(line) for line in (HERE / name).read_text(encoding="utf-8").splitlines()]
    for name in ("provoked.jsonl", "values.jsonl")
)


def kinds(name: str, value: str, installed: dict[str, str]) -> list[str]:
    return [fault.kind for fault in faults(name, value, installed)]


@pytest.mark.parametrize("row", VALUES, ids=lambda row: f"{row['name']}={row['value']}")
def test_values(row: dict[str, Any]):
    """What becomes of a value, and what is offered instead."""
    found = faults(row["name"], row["value"], row["installed"])
    assert [fault.kind for fault in found] == ([row["kind"]] if row["kind"] else [])
    assert all(fault.instead == row.get("instead", fault.instead) for fault in found)


def test_a_slip_needs_one_right_name():
    assert misspelt("JAX_OPTION_AX", ["JAX_OPTION_AB", "JAX_OPTION_AC"]) == ""
    assert distance("BLOCKING", "BLOKCING", 2) == 1
    assert distance("ABC", "XYZ", 2) == 3


def test_who_reads_what():
    assert {"JAX_ENABLE_X64", "TORCHINDUCTOR_MAX_AUTOTUNE", "TRITON_CACHE_DIR", "NUMBA_DISABLE_JIT"} <= known_names()
    (reader,) = (r for r in readers("JAX_ENABLE_X64") if r.family == "jax")
    assert (reader.type, reader.at("0.7.2"), reader.at("0.1.0")) == ("bool", "1", "?")
    assert len(every_flag()) > 350
    table = flags("jaxlib", "0.7.2")
    assert table.before["xla_gpu_autotune_level"].type == "int32"
    assert table.release == "0.7.2"


def test_nothing_known_of_what_is_installed():
    assert kinds("PYTORCH_CUDA_ALLOC_CONF", "foo:1", dict(ANYTHING)) == ["rejected"]
    assert kinds("XLA_FLAGS", "--xla_foo=1", dict(ANYTHING)) == []
    assert kinds("JAX_ENABLE_X64", "maybe", dict(ANYTHING)) == []


def test_what_a_reader_took_is_not_called_wrong():
    """Every value that a real reader took without a word is left alone, but for readers that were not asked."""
    wrong = [
        row["id"]
        for row in ROWS
        if row["outcome"] == "silent" and not row.get("unasked")
        for name, value in row["set"].items()
        if "rejected" in kinds(name, value, RELEASES[row["of"]])
    ]
    assert wrong == []


def test_what_stopped_a_reader_is_known():
    """Of the values that stopped a real reader, at least four of five are known to."""
    stopped = [row for row in ROWS if row["outcome"] == "refused" and not row.get("also")]
    known = [r for r in stopped for n, v in r["set"].items() if "rejected" in kinds(n, v, RELEASES[r["of"]])]
    assert len(stopped) > 60
    assert len(known) / len(stopped) >= 0.8, sorted({r["id"] for r in stopped} - {r["id"] for r in known})
