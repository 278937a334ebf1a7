"""Fitting: whether a published release works with a driver, a GPU and a Python.

What nobody read is unknown, not no.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from gpuwhy.facts.version import at_least, numbers
from gpuwhy.knowledge.archs import runs_on
from gpuwhy.knowledge.drivers import cuda_of_driver, floor
from gpuwhy.knowledge.releases import Release, Releases, has_python

_TRIAL = re.compile(r"\d(a|b|rc|\.dev)\d")
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


def fits(release: Release, machine: Machine) -> Verdict:
    """Whether every part of a machine fits; the first that does not is the reason."""
    verdicts = [one(release, machine) for one in (_python, _cuda, _cudnn, _driver, _gpu)]
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
        trial, linux = bool(_TRIAL.search(row.version)), row.platform == "linux-x86_64"
        return verdict.fits != "yes", trial, order[row.version], not linux

    return min(judged, key=rank, default=None)


def _python(release: Release, machine: Machine) -> Verdict:
    if machine.python and not has_python(release, machine.python):
        return Verdict("no", f"no wheel for Python {machine.python}")
    return YES


def _cuda(release: Release, machine: Machine) -> Verdict:
    """Up to CUDA 10 the very release; from 11 on the same major, an older minor perhaps."""
    if not machine.cuda:
        return YES
    if release.cuda is None:
        return Verdict("no", "built without CUDA")
    if not isinstance(release.cuda, str):
        return Verdict("unknown", "its CUDA is not known")
    built, given = numbers(release.cuda), numbers(machine.cuda)
    same = min(len(built), len(given), 2)
    if built[:1] != given[:1] or (built[0] < 11 and built[:same] != given[:same]):
        return Verdict("no", f"built for CUDA {release.cuda}")
    older = len(given) > 1 and len(built) > 1 and given[:2] < built[:2]
    return Verdict("unknown", f"built for CUDA {release.cuda}, which is newer") if older else YES


def _cudnn(release: Release, machine: Machine) -> Verdict:
    """The same major, and not older than the build's."""
    if not machine.cudnn:
        return YES
    if release.cudnn is None:
        return Verdict("no", "built without cuDNN")
    if not isinstance(release.cudnn, str):
        return Verdict("unknown", "its cuDNN is not known")
    built, given = numbers(release.cudnn), numbers(machine.cudnn)
    if built[:1] != given[:1] or given[: len(built)] < built[: len(given)]:
        return Verdict("no", f"built with cuDNN {release.cudnn}")
    return YES


def _driver(release: Release, machine: Machine) -> Verdict:
    if not machine.driver:
        return YES
    if release.cuda is None:
        return Verdict("no", "built without CUDA")
    if not isinstance(release.cuda, str):
        return Verdict("unknown", "its CUDA is not known")
    known = floor(release.cuda, "windows" if release.platform.startswith("windows") else "linux")
    if known is None:
        return Verdict("unknown", f"the oldest driver for CUDA {release.cuda} is not known")
    branch = "." not in machine.driver and numbers(machine.driver)[:1]
    if numbers(known.driver)[:1] <= branch if branch else at_least(machine.driver, known.driver):
        return YES
    return Verdict("no", f"CUDA {release.cuda} needs driver {known.driver} or newer")


def _gpu(release: Release, machine: Machine) -> Verdict:
    if not machine.gpu:
        return YES
    if release.cuda is None:
        return Verdict("no", "built without CUDA")
    if not isinstance(release.sass, tuple) or not isinstance(release.ptx, tuple):
        return Verdict("unknown", "its GPU architectures are not known")
    how = runs_on(release.sass, release.ptx, machine.gpu)
    if how == "no":
        return Verdict("no", f"no code for compute capability {machine.gpu}")
    cuda = cuda_of_driver(machine.driver) if machine.driver else ""
    if how == "ptx" and cuda and isinstance(release.cuda, str) and not at_least(cuda, release.cuda):
        newer = f"its PTX of CUDA {release.cuda} is newer than driver {machine.driver} compiles"
        return Verdict("no", newer)
    return YES
