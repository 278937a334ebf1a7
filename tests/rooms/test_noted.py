"""What is true and stops nothing is told beside the answer; what ends a program at its start is the headline."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gpuwhy.app import CAUSES
from gpuwhy.model.facts import COMMAND_LOST, Facts
from gpuwhy.model.report import Report
from gpuwhy.reason.report import report

from .facts import base, change


def of(changes: dict[str, Any]) -> Report:
    plain = base("healthy")
    for path, value in changes.items():
        change(plain, path, value)
    facts = msgspec.convert(plain, type=Facts)
    return report([c for c in CAUSES if c.asked(facts)], facts, 0.0)


@pytest.mark.parametrize(
    ("owner", "told"), [("numpy 2.2.0", False), ("onnxruntime 1.2", False), ("torch 2.11.0", True)]
)
def test_a_command_of_a_moved_environment_counts_where_gpu_work_is_started_by_it(owner: str, told: bool) -> None:
    one = {"path": "~/venv/bin/it", "owner": owner, "what": COMMAND_LOST, "expected": "", "actual": "/old/bin/python"}
    found = of({"target.damage": {"known": [one]}})
    assert [cause.id for cause in found.causes] == (["install.corrupted"] if told else [])
    said = found.causes[0].said if told else found.noticed[0].text
    assert said.endswith("the environment was made as /old")


def test_a_library_that_is_preloaded_and_not_there_is_only_noticed() -> None:
    fault = {"kind": "ignored", "frameworks": [], "text": "it does not exist: the loader goes on without it"}
    variable = {
        "name": "LD_PRELOAD", "value": "/gone.so", "steers": "the dynamic loader", "problems": [], "faults": [fault],
    }  # fmt: skip
    found = of({"environment.variables": {"known": [variable]}})
    assert (found.causes, [one.id for one in found.noticed]) == ((), ["env.setting"])
    found = of({"environment.variables": {"known": [{**variable, "name": "TORCH_LOGS"}]}})
    assert [one.id for one in found.causes] == ["env.setting"]


def test_a_program_that_does_not_start_is_no_question_of_the_gpu() -> None:
    """env.path says "will not see the GPU" of libraries that are not found; here the import itself fails."""
    found = of({"target.start": {"known": {"lost": ["torch"], "version": "3.13.1"}}})
    assert [one.id for one in found.causes] == ["env.path"]
    assert found.headline == found.causes[0].said
    assert all(row.mark != "bad" for row in found.layers if row.name == "CUDA")


def test_few_open_files_are_noticed_where_pytorch_is() -> None:
    found = of({"surroundings.open_files_limit": {"known": 128}})
    assert (found.causes, [one.id for one in found.noticed]) == ((), ["env.limit"])
    assert of({"surroundings.open_files_limit": {"known": 256}}).noticed == ()


def test_that_an_import_wants_the_driver_stands_at_the_package_that_does() -> None:
    tried = [
        {"module": "torch", "framework": "torch", "ended": "well"},
        {"module": "bits", "framework": "torch", "ended": "without driver", "why": "0 active drivers"},
    ]
    rows = {row.name: row.text for row in of({"target.imports": {"known": tried}}).layers}
    assert rows["PyTorch"].endswith("imported; import bits wants the driver")
    tried[1]["module"] = "torch"
    rows = {row.name: row.text for row in of({"target.imports": {"known": tried}}).layers}
    assert rows["PyTorch"].endswith("· import wants the driver")


@pytest.mark.parametrize(("names", "told"), [(("torch",), ["install.inconsistent"]), (("torch", "numpy"), [])])
def test_pytorch_without_numpy_is_noticed(names: tuple[str, ...], told: list[str]) -> None:
    there = [{"name": name, "version": "2.2", "location": "/s", "installer": {"absent": "pip"}} for name in names]
    tried = [{"module": "torch", "framework": "torch", "ended": "well"}]
    found = of({"target.imports": {"known": tried}, "target.distributions": {"known": there}})
    assert [one.id for one in found.noticed if "NumPy" in one.text] == told
