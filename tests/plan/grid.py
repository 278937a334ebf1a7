"""The grid: some hundred machines, each with wishes, and what is proposed there.

python -m tests.plan.grid            compute the outcomes and write tests/plan/grid.jsonl
pytest -m network tests/plan         hand every proposal to `uv pip compile`
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from gpuwhy.model.plan import Machine, Plan, Proposal
from gpuwhy.plan.answer import plan
from gpuwhy.plan.machine import described
from gpuwhy.plan.ways import backend, requirements
from gpuwhy.plan.wishes import from_words

KEPT = Path(__file__).parent / "grid.jsonl"


class Cell(NamedTuple):
    """One question."""

    wishes: tuple[str, ...]
    driver: str = ""
    gpu: str = ""
    python: str = ""
    system: str = "linux"
    arch: str = "x86_64"
    glibc: str = ""

    @property
    def name(self) -> str:
        return " ".join(filter(None, (*self.wishes, *self[1:])))


MACHINES = (  # driver, GPU, system, architecture
    ("390.157", "Tesla K40m", "linux", "x86_64"),
    ("418.39", "Tesla K80", "linux", "x86_64"),
    ("470.82.01", "Tesla K80", "linux", "x86_64"),
    ("470.82", "GTX 980", "windows", "x86_64"),
    ("390.46", "GTX 1080", "linux", "x86_64"),
    ("450.80.02", "GTX 1080", "linux", "x86_64"),
    ("470.82", "GTX 1080", "windows", "x86_64"),
    ("580", "GTX 1080", "linux", "x86_64"),
    ("418.39", "Tesla V100", "linux", "x86_64"),
    ("525.60.13", "Tesla V100", "linux", "x86_64"),
    ("440.33", "RTX 2080 Ti", "linux", "x86_64"),
    ("535", "Tesla T4", "linux", "x86_64"),
    ("531.14", "RTX 2060", "windows", "x86_64"),
    ("450.51.06", "A100", "linux", "x86_64"),
    ("515.43.04", "A100", "linux", "x86_64"),
    ("580.65.06", "A100", "linux", "x86_64"),
    ("460.32.03", "RTX 3090", "linux", "x86_64"),
    ("550.54.15", "RTX 3090", "wsl", "x86_64"),
    ("551.61", "RTX 3080", "windows", "x86_64"),
    ("525.85.12", "RTX 4090", "linux", "x86_64"),
    ("550", "RTX 4090", "wsl", "x86_64"),
    ("561.17", "RTX 4090", "windows", "x86_64"),
    ("590.44.01", "RTX 4090", "linux", "x86_64"),
    ("535.104.05", "H100", "linux", "x86_64"),
    ("570.26", "RTX 5090", "linux", "x86_64"),
    ("580", "RTX 5090", "windows", "x86_64"),
    ("580.95.05", "B200", "linux", "x86_64"),
    ("550.54.14", "GH200", "linux", "aarch64"),
    ("580.65.06", "GH200", "linux", "aarch64"),
    ("580", "sm_121", "linux", "aarch64"),
)
WISHES = (
    ("tensorflow",),
    ("torch",),
    ("jax",),
    ("onnxruntime-gpu",),
    ("cupy",),
    ("torch", "torchvision", "torchaudio"),
    ("tensorflow", "torch"),
    ("torch", "xformers"),
)
GLIBC = (  # RHEL 7, RHEL 8 and Debian 10, Ubuntu 20.04
    ("550.54.15", "Tesla V100", "x86_64", "2.17"),
    ("580.65.06", "A100", "x86_64", "2.28"),
    ("580.65.06", "GH200", "aarch64", "2.31"),
)
OLD = (
    "tensorflow==1.15.*",
    "tensorflow-gpu==2.0.*",
    "tensorflow==2.4.*",
    "tensorflow==2.10.*",
    "torch==1.12.*",
    "torch==2.1.*",
)
PYTHONS = ("3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14")


def cells() -> Iterator[Cell]:
    """Every question of the grid."""
    for driver, gpu, system, arch in MACHINES:
        yield from (Cell(wishes, driver, gpu, "", system, arch) for wishes in WISHES)
    for wishes in WISHES[:5]:
        for python in PYTHONS:
            yield Cell(wishes, "580", "Tesla T4", python)
            yield Cell(wishes, "470", "GTX 1080", python)
    for driver, gpu, arch, glibc in GLIBC:
        yield from (Cell(wishes, driver, gpu, "", "linux", arch, glibc) for wishes in WISHES[:6])
    for wish in OLD:
        yield Cell((wish,), "470", "GTX 1080")
        yield Cell((wish,), "470.82", "GTX 1080", "", "windows")
        yield Cell((wish,), "535", "RTX 4090")
        yield Cell((wish,), "535", "A100", "3.10")
    yield Cell(("tensorflow", "torch", "jax"), "550", "RTX 4090")
    yield Cell(("tensorflow", "torch", "jax"), "580", "H100", "3.12")
    yield Cell(("jax", "torch"), "580", "RTX 5090")
    yield Cell(("tensorflow", "onnxruntime"), "550", "A100")
    yield Cell(("torch", "bitsandbytes", "torchvision"), "550", "RTX 3090")
    yield Cell(("tensorflow", "tf-keras"), "550", "RTX 3090")
    yield Cell(("tensorflow==2.21.0",), "550", "RTX 3090")
    yield Cell(("cupy", "torch"), "535", "RTX 3090")


def machine_of(cell: Cell) -> Machine:
    """The machine that a question describes."""
    return described(cell.driver, (cell.gpu,), cell.python, cell.system, cell.arch, glibc=cell.glibc)


@cache
def answered(cell: Cell) -> Plan:
    """The plan for one question."""
    return plan(from_words(cell.wishes), machine_of(cell))


def proposed(made: Plan) -> Proposal | None:
    """What a plan proposes, or what comes nearest."""
    return made.conflict.nearest if made.conflict else made.proposal


def outcome(cell: Cell) -> dict[str, Any]:
    """What is proposed, in a few words that can be compared."""
    made = answered(cell)
    out: dict[str, Any] = {"cell": list(cell)}
    found = proposed(made)
    if made.conflict:
        out |= {"conflict": made.conflict.text, "gives_up": made.conflict.gives_up}
    if found:
        out |= _said(found)
    return out


def _said(found: Proposal) -> dict[str, Any]:
    own = {"index": backend(found)} if backend(found) else {}
    system = {"system": [f"{p.name} {p.version}" for p in found.system]} if found.system else {}
    libraries = [f"{c.package}=={c.version}" for c in found.libraries]
    return {"python": found.python, "install": requirements(found), "libraries": libraries, **own, **system}


def main() -> None:
    """Write the outcomes."""
    lines = [json.dumps(outcome(cell), ensure_ascii=False) for cell in cells()]
    KEPT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(len(lines), "cells")


if __name__ == "__main__":
    main()
