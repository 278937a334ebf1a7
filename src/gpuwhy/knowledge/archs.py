"""GPU architectures: which toolkits and drivers know them, and which compiled code runs on them."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from gpuwhy.knowledge.drivers import floor
from gpuwhy.knowledge.tables import source
from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import numbers

MATRIX = source("NVIDIA data center drivers: CUDA toolkit, driver and architecture matrix")
PTXAS = source("ptxas --help of the nvidia-cuda-nvcc wheels 11.7 … 13.4", "allowed values of --gpu-name")
LAWS = source("NVIDIA CUDA C++ programming guide", "binary and PTX compatibility")


class Arch(msgspec.Struct, frozen=True):
    """A compute capability and its life in toolkits and drivers; "" = not known (first) or not ended (last)."""

    capability: str
    name: str  # Ampere
    first_toolkit: str
    last_toolkit: str
    last_driver: str  # "R470": newer branches do not drive it
    source: Source


ARCHS: tuple[Arch, ...] = (
    Arch("2.0", "Fermi", "3.0", "8.0", "R390", MATRIX),
    Arch("2.1", "Fermi", "", "8.0", "R390", MATRIX),
    Arch("3.0", "Kepler", "6.0", "10.2", "R470", MATRIX),
    Arch("3.2", "Kepler", "6.0", "10.2", "R470", MATRIX),
    Arch("3.5", "Kepler", "6.0", "11.8", "R470", PTXAS),
    Arch("3.7", "Kepler", "6.0", "11.8", "R470", PTXAS),
    Arch("5.0", "Maxwell", "6.5", "12.9", "R580", PTXAS),
    Arch("5.2", "Maxwell", "6.5", "12.9", "R580", PTXAS),
    Arch("5.3", "Maxwell", "6.5", "12.9", "R580", PTXAS),
    Arch("6.0", "Pascal", "8.0", "12.9", "R580", PTXAS),
    Arch("6.1", "Pascal", "8.0", "12.9", "R580", PTXAS),
    Arch("6.2", "Pascal", "8.0", "12.9", "R580", PTXAS),
    Arch("7.0", "Volta", "9.0", "12.9", "R580", PTXAS),
    Arch("7.2", "Volta", "", "12.9", "R580", PTXAS),
    Arch("7.5", "Turing", "10.0", "", "", MATRIX),
    Arch("8.0", "Ampere", "11.0", "", "", MATRIX),
    Arch("8.6", "Ampere", "11.1", "", "", MATRIX),
    Arch("8.7", "Ampere", "", "", "", PTXAS),
    Arch("8.8", "Ampere", "13.0", "", "", PTXAS),
    Arch("8.9", "Ada", "11.8", "", "", PTXAS),
    Arch("9.0", "Hopper", "11.8", "", "", PTXAS),
    Arch("10.0", "Blackwell", "12.8", "", "", PTXAS),
    Arch("10.1", "Blackwell", "12.8", "12.9", "", PTXAS),
    Arch("10.3", "Blackwell", "12.9", "", "", PTXAS),
    Arch("10.7", "Rubin", "13.4", "", "", PTXAS),
    Arch("11.0", "Blackwell", "13.0", "", "", PTXAS),
    Arch("12.0", "Blackwell", "12.8", "", "", PTXAS),
    Arch("12.1", "Blackwell", "12.9", "", "", PTXAS),
)

TEGRA = ("3.2", "5.3", "6.2", "7.2", "8.7")

_CODE = re.compile(r"(?:sm|compute)_(\d+)(\d)([af]?)\Z")


def of(capability: str) -> Arch | None:
    """The row of a compute capability ('8.6')."""
    return next((row for row in ARCHS if row.capability == capability), None)


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


LAUNCH = 5
"""A card may be driven by a branch a little older than that of the first toolkit which compiles for it."""


def first_driver_branch(capability: str, system: str = "linux") -> int:
    """The driver branch of the first toolkit that compiles for it; 0 where nobody published one."""
    toolkit = first_toolkit(capability)
    known = floor(toolkit, "windows" if system == "windows" else "linux") if toolkit else None
    return numbers(known.native)[0] if known and known.native else 0


FIRST_BRANCH = {"8.6": 455}  # Linux driver 455.23.04 release highlights: GeForce RTX 3080 and 3090
"""Where the first driver is known better than by its toolkit."""


def oldest_branch(capability: str, system: str = "linux") -> int:
    """The oldest driver branch that can drive it; 0 where it is not known."""
    first = first_driver_branch(capability, system)
    return FIRST_BRANCH.get(capability, max(first - LAUNCH, 0))


def runs_on(sass: tuple[str, ...], ptx: tuple[str, ...], capability: str) -> Literal["sass", "ptx", "no"]:
    """How code runs on a GPU: as machine code, by compiling its PTX at the start, or not at all."""
    if any(sass_runs(code, capability) for code in sass):
        return "sass"
    return "ptx" if any(ptx_runs(code, capability) for code in ptx) else "no"


def sass_runs(code: str, capability: str) -> bool:
    """Machine code runs on its own major at its minor or above; `a` only on its own; Tegra's only on Tegra.

    NVIDIA promises nothing for desktop code on Tegra; it is counted as running, because seeing it run is common.
    """
    parsed, gpu = _parse(code), numbers(capability)[:2]
    if parsed is None or len(gpu) < 2:
        return False
    own, suffix = parsed
    if suffix == "a" or ".".join(map(str, own)) in TEGRA:
        return own == gpu
    return own[0] == gpu[0] and own[1] <= gpu[1]


def ptx_runs(code: str, capability: str) -> bool:
    """PTX compiles for any GPU at its version or above; `a` only for its own; `f` within its major."""
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


KOKKOS = {
    "6.0": "PASCAL60", "6.1": "PASCAL61", "7.0": "VOLTA70", "7.5": "TURING75", "8.0": "AMPERE80", "8.6": "AMPERE86",
    "8.7": "AMPERE87", "8.9": "ADA89", "9.0": "HOPPER90", "10.0": "BLACKWELL100", "12.0": "BLACKWELL120",
}  # fmt: skip
"""What Kokkos calls the architectures."""
