"""GPU architectures: which toolkits and drivers know them, and which compiled code runs on them."""

import re
from functools import cache
from typing import Literal

import msgspec

from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import at_least, major_minor, numbers
from gpuwhy.knowledge.drivers import floor
from gpuwhy.knowledge.tables import load, rows, source

MATRIX = source("NVIDIA data center drivers: CUDA toolkit, driver and architecture matrix")
LAUNCH = 5
"""A card may be driven by a branch a little older than that of the first toolkit for it."""
_CODE = re.compile(r"(?:sm|compute)_(\d+)(\d)([af]?)\Z")


class Arch(msgspec.Struct, frozen=True, kw_only=True):
    """A compute capability, from its first toolkit to its last."""

    capability: str
    name: str  # Ampere
    first_toolkit: str = ""  # "": not known
    last_toolkit: str = ""  # "": not ended
    last_driver: str = ""  # "R470": newer branches do not drive it
    first_branch: int = 0  # where the first driver is known better than by its toolkit
    tegra: bool = False
    source: Source


def archs() -> tuple[Arch, ...]:
    """Every compute capability, oldest first."""
    return rows("archs.jsonl", Arch)


@cache
def of(capability: str) -> Arch | None:
    """The row of a compute capability ('8.6')."""
    return next((row for row in archs() if row.capability == capability), None)


def first_toolkit(capability: str) -> str | None:
    """The first CUDA toolkit that compiles for it."""
    row = of(capability)
    return (row.first_toolkit or None) if row else None


def last_toolkit(capability: str) -> str | None:
    """The last CUDA toolkit that compiles for it; None when the newest still does."""
    row = of(capability)
    return (row.last_toolkit or None) if row else None


def last_driver_branch(capability: str) -> str | None:
    """The last driver branch that drives it ('R470'); None when the newest still does."""
    row = of(capability)
    return (row.last_driver or None) if row else None


def first_driver_branch(capability: str, system: str = "linux") -> int:
    """The driver branch of the first toolkit that compiles for it; 0 where nobody published one."""
    toolkit = first_toolkit(capability)
    known = floor(toolkit, system) if toolkit else None
    return numbers(known.native)[0] if known and known.native else 0


def oldest_branch(capability: str, system: str = "linux") -> int:
    """The oldest driver branch that can drive it; 0 where it is not known."""
    row = of(capability)
    guessed = max(first_driver_branch(capability, system) - LAUNCH, 0)
    return row.first_branch or guessed if row else guessed


def runs_on(
    sass: tuple[str, ...], ptx: tuple[str, ...], capability: str
) -> Literal["sass", "ptx", "no"]:
    """How code runs on a GPU: as machine code, by compiling its PTX at the start, or not at all."""
    if any(sass_runs(code, capability) for code in sass):
        return "sass"
    return "ptx" if any(ptx_runs(code, capability) for code in ptx) else "no"


def sass_runs(code: str, capability: str) -> bool:
    """Machine code runs on its own major at its minor or above; `a` and Tegra's on its own only.

    NVIDIA promises nothing for desktop code on Tegra; it is counted as running, because seeing it
    run is common.
    """
    parsed, gpu = _parse(code), numbers(capability)[:2]
    if parsed is None or len(gpu) < 2:
        return False
    own, suffix = parsed
    row = of(".".join(map(str, own)))
    if suffix == "a" or (row and row.tegra):
        return own == gpu
    return own[0] == gpu[0] and own[1] <= gpu[1]


def ptx_runs(code: str, capability: str) -> bool:
    """PTX compiles for any GPU at its version or above; `a` for its own; `f` within its major."""
    parsed, gpu = _parse(code), numbers(capability)[:2]
    if parsed is None or len(gpu) < 2:
        return False
    own, suffix = parsed
    if suffix == "a":
        return own == gpu
    return own <= gpu and (suffix != "f" or own[0] == gpu[0])


def _parse(code: str) -> tuple[tuple[int, ...], str] | None:
    match = _CODE.match(code)
    return ((int(match[1]), int(match[2])), match[3]) if match else None


ARCHIVE = "developer.nvidia.com/cuda-toolkit-archive"
CUDNN_ARCHIVE = "developer.nvidia.com/rdp/cudnn-archive"


class Parts(msgspec.Struct, frozen=True):
    """The packages of one CUDA release with the cuDNN that its frameworks were built with."""

    cuda: str
    cudnn: str  # or a newer minor of it
    apt: str  # NVIDIA's repository for Ubuntu; the libraries without a driver
    conda: str  # conda-forge
    image: str  # on Docker Hub
    installer: str = ""  # Windows
    archive: str = ""  # cuDNN for Windows


class Table(msgspec.Struct, frozen=True):
    """system_parts.json."""

    source: Source
    parts: tuple[Parts, ...]
    runfiles: dict[str, str]  # for Linux, of releases that no repository or image has any more


def table() -> Table:
    """Every toolkit that is known by its parts."""
    return load("system_parts.json", Table)


def parts(cuda: str, cudnn: str) -> Parts | None:
    """The row for a CUDA release; a later one of the same major where there is none."""
    wanted, minor = numbers(cuda), major_minor(cuda)
    newer = (row for row in table().parts if at_least(row.cuda, minor))
    fitting = [
        row
        for row in newer
        if numbers(row.cuda)[0] == wanted[0]
        and (not numbers(cudnn) or numbers(row.cudnn)[0] == numbers(cudnn)[0])
    ]
    exact = [row for row in fitting if row.cuda == minor]
    return next(iter(exact or (fitting if wanted[0] >= 11 else ())), None)


def runfile(cuda: str) -> str:
    """NVIDIA's installer of a CUDA release for Linux."""
    return table().runfiles.get(cuda, f"cuda_{cuda}_linux.run")


def tensorflow_image(version: str) -> str:
    """TensorFlow's image with the CUDA that a release was built for; "" where it brings its own."""
    if at_least(version, "2.14") or not at_least(version, "1.13"):
        return ""
    return f"tensorflow/tensorflow:{version}-gpu{'' if at_least(version, '2.2') else '-py3'}"
