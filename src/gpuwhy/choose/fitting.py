"""Fitting: whether one published release works with what there is, judged as `choose` judges.

What nobody read is unknown, not no.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from gpuwhy.choose.demand import Card, Demand, System
from gpuwhy.choose.names import is_library
from gpuwhy.choose.verdicts import FITS, judge_library, on_hardware, parsed
from gpuwhy.facts.version import numbers
from gpuwhy.knowledge.cudnn_rules import fits as cudnn_fits
from gpuwhy.knowledge.cudnn_rules import rule
from gpuwhy.knowledge.releases import Release, Releases, has_python

_NUMBER = r"\d+(\.\d+)*"
_SHAPES = {
    "driver": _NUMBER,
    "gpu": r"(sm_)?\d+\.?\d[af]?",
    "python": r"\d+\.\d+t?",
    "cuda": _NUMBER,
    "cudnn": _NUMBER,
}


class Verdict(msgspec.Struct, frozen=True):
    """Whether a release fits a machine: yes, no, or not known, and why."""

    fits: Literal["yes", "no", "unknown"]
    why: str = ""


YES = Verdict("yes")
Judged = tuple[Release, Verdict]
"""A row, and whether it fits."""


class Machine(msgspec.Struct, frozen=True):
    """What a release has to work with; "" = anything."""

    driver: str = ""  # 535 (the newest of that branch) or 535.183.01
    gpu: str = ""  # sm_89, 8.9
    python: str = ""
    cuda: str = ""  # the CUDA libraries there are: 10.1, 12
    cudnn: str = ""  # the cuDNN there is: 7.6.5, 8


class BadMachineError(ValueError):
    """A part of the description that makes no sense."""


def machine(words: list[str]) -> Machine:
    """Read `driver=535 gpu=sm_89 python=3.10 cuda=10.1 cudnn=7.6.5`; raises BadMachineError."""
    found: dict[str, str] = {}
    for word in words:
        key, _, value = word.partition("=")
        if key not in _SHAPES or not re.fullmatch(_SHAPES[key], value):
            hint = "" if "=" in word else "; a package's name stands before --works-with"
            wanted = "driver=535, gpu=sm_89, python=3.10, cuda=10.1 or cudnn=7.6.5"
            raise BadMachineError(f"{word!r}: expected {wanted}{hint}")
        found[key] = value
    if "gpu" in found:
        digits = re.sub(r"\D", "", found["gpu"])
        found["gpu"] = f"{digits[:-1]}.{digits[-1]}"
    return Machine(**found)


def fits(row: Release, machine: Machine) -> Verdict:
    """Whether every part of a machine fits; the first that does not is the reason."""
    here = not machine.python or has_python(row, machine.python)
    verdicts = (
        YES if here else Verdict("no", f"no wheel for Python {machine.python}"),
        with_cuda(row, machine.cuda),
        with_cudnn(row, machine.cudnn),
        _on(row, machine),
    )
    for wanted in ("no", "unknown"):
        for verdict in verdicts:
            if verdict.fits == wanted:
                return verdict
    return YES


def newest(known: Releases, machine: Machine, platform: str = "") -> Judged | None:
    """The newest release that fits, else that may; previews last, withdrawn ones never."""
    rows = [row for row in reversed(known.rows) if not (row.yanked or row.gone)]
    rows = [row for row in rows if platform in ("", row.platform)]
    order = {version: at for at, version in enumerate(dict.fromkeys(row.version for row in rows))}
    judged = [(row, verdict) for row in rows if (verdict := fits(row, machine)).fits != "no"]

    def rank(one: Judged) -> tuple[object, ...]:
        row, verdict = one
        trial, linux = parsed(row.version).is_prerelease, row.platform == "linux-x86_64"
        return verdict.fits != "yes", trial, order[row.version], not linux

    return min(judged, key=rank, default=None)


def _unread(value: object, what: str) -> Verdict:
    """Of a value that is no version: the release is without it, or nobody read it."""
    unknown = Verdict("unknown", f"its {what} is not known")
    return Verdict("no", f"built without {what}") if value is None else unknown


def with_cuda(row: Release, cuda: str) -> Verdict:
    """Up to CUDA 10 the very release; from 11 on the same major, an older minor perhaps."""
    if not cuda or not isinstance(row.cuda, str):
        return _unread(row.cuda, "CUDA") if cuda else YES
    built, given = numbers(row.cuda), numbers(cuda)
    same = min(len(built), len(given), 2)
    if built[:1] != given[:1] or (built[0] < 11 and built[:same] != given[:same]):
        return Verdict("no", f"built for CUDA {row.cuda}")
    older = len(given) > 1 and len(built) > 1 and given[:2] < built[:2]
    return Verdict("unknown", f"built for CUDA {row.cuda}, which is newer") if older else YES


def with_cudnn(row: Release, cudnn: str) -> Verdict:
    """As the framework's own rule says; without one the same major, and not older."""
    if not cudnn or not isinstance(row.cudnn, str):
        return _unread(row.cudnn, "cuDNN") if cudnn else YES
    known = rule(row.name.removesuffix("-gpu").partition("-cuda")[0], row.version)
    fitting = cudnn_fits(known.needs if known else "minor or newer", row.cudnn, cudnn)
    return Verdict("no", f"built with cuDNN {row.cudnn}") if fitting is False else YES


def _on(row: Release, machine: Machine) -> Verdict:
    """Whether the driver and the GPU run it."""
    if not (machine.driver or machine.gpu) or not isinstance(row.cuda, str):
        return _unread(row.cuda, "CUDA") if machine.driver or machine.gpu else YES
    card = Card(f"compute capability {machine.gpu}", machine.gpu)
    system: System = "windows" if row.platform.startswith("windows") else "linux"
    demand = Demand((), system, driver_version=machine.driver, gpus=(card,) if machine.gpu else ())
    library = is_library(row.name)
    judged = on_hardware(row, msgspec.structs.replace(demand, gpus=()) if library else demand)
    if library and judged == FITS:
        judged = judge_library(row, demand)
    if judged.kind:
        return Verdict("no", judged.why)
    return Verdict("unknown", judged.doubt) if judged.doubt else YES
