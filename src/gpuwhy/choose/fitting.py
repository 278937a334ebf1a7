"""Fitting: whether one published release works with what there is, judged as `choose` judges.

What nobody read is unknown, not no.
"""

import re

import msgspec

from gpuwhy.choose.choice import FITS, Judged, worst
from gpuwhy.choose.demand import Card, Demand, System, parsed
from gpuwhy.choose.hardware import judge_library, on_hardware
from gpuwhy.choose.names import is_library
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
Row = tuple[Release, Judged]
"""A release, and whether it fits."""


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


def fits(row: Release, machine: Machine) -> Judged:
    """Whether every part of a machine fits; the first that does not is the reason."""
    if machine.python and not has_python(row, machine.python):
        return Judged("python", f"no wheel for Python {machine.python}")
    parts = [with_cuda(row, machine.cuda), with_cudnn(row, machine.cudnn)]
    if machine.driver or machine.gpu:
        system: System = "windows" if row.platform.startswith("windows") else "linux"
        cards = (Card(f"compute capability {machine.gpu}", machine.gpu),) if machine.gpu else ()
        demand = Demand((), system, driver_version=machine.driver, gpus=cards)
        alone = msgspec.structs.replace(demand, gpus=())
        library = is_library(row.name)
        parts.append(_unread(row.cuda, "CUDA"))
        parts.append(on_hardware(row, alone if library else demand))
        parts.append(judge_library(row, demand) if library else FITS)
    return worst(parts)


def newest(known: Releases, machine: Machine, platform: str = "") -> Row | None:
    """The newest release that fits, else that may; previews last, withdrawn ones never."""
    rows = [row for row in reversed(known.rows) if not (row.yanked or row.gone)]
    rows = [row for row in rows if platform in ("", row.platform)]
    order = {version: at for at, version in enumerate(dict.fromkeys(row.version for row in rows))}
    judged = [(row, verdict) for row in rows if not (verdict := fits(row, machine)).kind]

    def rank(one: Row) -> tuple[object, ...]:
        row, verdict = one
        trial, linux = parsed(row.version).is_prerelease, row.platform == "linux-x86_64"
        return bool(verdict.doubt), trial, order[row.version], not linux

    return min(judged, key=rank, default=None)


def _unread(value: object, what: str) -> Judged:
    """Of a value that is no version: the release is without it, or nobody read it."""
    if isinstance(value, str):
        return FITS
    known = value is None
    return (
        Judged("cpu", f"built without {what}")
        if known
        else Judged(doubt=f"its {what} is not known")
    )


def with_cuda(row: Release, cuda: str) -> Judged:
    """Up to CUDA 10 the very release; from 11 on the same major, an older minor perhaps."""
    if not cuda or not isinstance(row.cuda, str):
        return _unread(row.cuda, "CUDA") if cuda else FITS
    built, given = numbers(row.cuda), numbers(cuda)
    same = min(len(built), len(given), 2)
    if built[:1] != given[:1] or (built[0] < 11 and built[:same] != given[:same]):
        return Judged("version", f"built for CUDA {row.cuda}")
    older = len(given) > 1 and len(built) > 1 and given[:2] < built[:2]
    return Judged(doubt=f"built for CUDA {row.cuda}, which is newer") if older else FITS


def with_cudnn(row: Release, cudnn: str) -> Judged:
    """As the framework's own rule says; without one the same major, and not older."""
    if not cudnn or not isinstance(row.cudnn, str):
        return _unread(row.cudnn, "cuDNN") if cudnn else FITS
    known = rule(row.name.removesuffix("-gpu").partition("-cuda")[0], row.version)
    fitting = cudnn_fits(known.needs if known else "minor or newer", row.cudnn, cudnn)
    return Judged("version", f"built with cuDNN {row.cudnn}") if fitting is False else FITS
