"""Drivers and CUDA: which driver runs programs built for which CUDA, and which CUDA a driver speaks.

A driver runs everything older than itself. From CUDA 11 on it also runs programs built for a newer minor release of
its own major ("minor-version compatibility"), as far as they bring machine code for the GPU: PTX of a newer toolkit is
still refused (error 222). Up to CUDA 10 every minor release needs its own driver.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec

from gpuwhy.knowledge.tables import source
from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import at_least, numbers

NOTES = "NVIDIA CUDA Toolkit release notes"
PACKAGED = source(NOTES, "table of toolkits and their drivers, 13.2 Update 2 edition; 13.3 and 13.4 from their notes")
COMPATIBLE = source("NVIDIA CUDA compatibility guide", "minor-version compatibility")


class Toolkit(msgspec.Struct, frozen=True):
    """A toolkit release and the drivers packaged with it; "" where NVIDIA packages none."""

    cuda: str  # "12.4"
    update: int  # 0 = the first release
    linux: str
    windows: str


class Floor(msgspec.Struct, frozen=True):
    """The oldest driver that runs a program built for a CUDA release."""

    cuda: str
    driver: str  # runs it
    native: str  # packaged with that very toolkit: all its features; "" where NVIDIA packages none
    minor_compatible: bool  # `driver` is older than `native`, by minor-version compatibility
    source: Source


# Newest first, as the table is printed.
TOOLKITS: tuple[Toolkit, ...] = tuple(Toolkit(*row) for row in (
    ("13.3", 1, "610.43.02", ""), ("13.3", 0, "610.43.02", ""),
    ("13.2", 2, "595.71.05", ""), ("13.2", 1, "595.58.03", ""), ("13.2", 0, "595.45.04", ""),
    ("13.1", 1, "590.48.01", ""), ("13.1", 0, "590.44.01", ""),
    ("13.0", 2, "580.95.05", ""), ("13.0", 1, "580.82.07", ""), ("13.0", 0, "580.65.06", ""),
    ("12.9", 1, "575.57.08", "576.57"), ("12.9", 0, "575.51.03", "576.02"),
    ("12.8", 1, "570.124.06", "572.61"), ("12.8", 0, "570.26", "570.65"),
    ("12.6", 3, "560.35.05", "561.17"), ("12.6", 2, "560.35.03", "560.94"), ("12.6", 1, "560.35.03", "560.94"),
    ("12.6", 0, "560.28.03", "560.76"),
    ("12.5", 1, "555.42.06", "555.85"), ("12.5", 0, "555.42.02", "555.85"),
    ("12.4", 1, "550.54.15", "551.78"), ("12.4", 0, "550.54.14", "551.61"),
    ("12.3", 1, "545.23.08", "546.12"), ("12.3", 0, "545.23.06", "545.84"),
    ("12.2", 2, "535.104.05", "537.13"), ("12.2", 1, "535.86.09", "536.67"), ("12.2", 0, "535.54.03", "536.25"),
    ("12.1", 1, "530.30.02", "531.14"), ("12.1", 0, "530.30.02", "531.14"),
    ("12.0", 1, "525.85.12", "528.33"), ("12.0", 0, "525.60.13", "527.41"),
    ("11.8", 0, "520.61.05", "520.06"),
    ("11.7", 1, "515.48.07", "516.31"), ("11.7", 0, "515.43.04", "516.01"),
    ("11.6", 2, "510.47.03", "511.65"), ("11.6", 1, "510.47.03", "511.65"), ("11.6", 0, "510.39.01", "511.23"),
    ("11.5", 2, "495.29.05", "496.13"), ("11.5", 1, "495.29.05", "496.13"), ("11.5", 0, "495.29.05", "496.04"),
    ("11.4", 4, "470.82.01", "472.50"), ("11.4", 3, "470.82.01", "472.50"), ("11.4", 2, "470.57.02", "471.41"),
    ("11.4", 1, "470.57.02", "471.41"), ("11.4", 0, "470.42.01", "471.11"),
    ("11.3", 1, "465.19.01", "465.89"), ("11.3", 0, "465.19.01", "465.89"),
    ("11.2", 2, "460.32.03", "461.33"), ("11.2", 1, "460.32.03", "461.09"), ("11.2", 0, "460.27.03", "460.82"),
    ("11.1", 1, "455.32", "456.81"), ("11.1", 0, "455.23", "456.38"),
    ("11.0", 1, "450.51.06", "451.82"), ("11.0", 0, "450.51.05", "451.48"),
    ("10.2", 0, "440.33", "441.22"), ("10.1", 0, "418.39", "418.96"), ("10.0", 0, "410.48", "411.31"),
    ("9.2", 1, "396.37", "398.26"), ("9.2", 0, "396.26", "397.44"), ("9.1", 0, "390.46", "391.29"),
    ("9.0", 0, "384.81", "385.54"), ("8.0", 1, "375.26", "376.51"), ("8.0", 0, "367.48", "369.30"),
    ("7.5", 0, "352.31", "353.66"), ("7.0", 0, "346.46", "347.62"),
))  # fmt: skip

# major: (linux, windows); no Windows floor is published for 13.
FAMILIES: dict[int, tuple[str, str]] = {
    11: ("450.80.02", "452.39"),
    12: ("525.60.13", "527.41"),
    13: ("580.65.06", ""),
}

# Driver branches that came without a toolkit release of their own, and the CUDA they speak.
BRANCHES: dict[int, str] = {565: "12.7", 616: "13.4"}


def floor(cuda: str, system: str = "linux") -> Floor | None:
    """The oldest driver that runs a program built for `cuda` ('12.4', '12.4.1'); None where nothing is known."""
    wanted = (*numbers(cuda), 0, 0, 0)
    native = _packaged(wanted[0], wanted[1], wanted[2], system)
    family = FAMILIES.get(wanted[0], ("", ""))[_column(system)]
    known = [driver for driver in (native, family) if driver]
    if not known:
        return None
    oldest = min(known, key=numbers)
    by_family = oldest == family and oldest != native
    return Floor(f"{wanted[0]}.{wanted[1]}", oldest, native, by_family, COMPATIBLE if by_family else PACKAGED)


def cuda_of_driver(driver_version: str) -> str | None:
    """The newest CUDA that a driver speaks natively: 550.54.15 → 12.4; None for what the table does not reach."""
    branch = numbers(driver_version)[:1]
    table = _by_branch()
    if not branch or branch[0] > table[-1][0]:
        return None
    return next((cuda for first, cuda in reversed(table) if first <= branch[0]), None)


def in_branch(driver: str) -> str:
    """A driver version; of a bare branch ("535") the newest that NVIDIA packaged with a toolkit or names as a floor."""
    if "." in driver:
        return driver
    known = [t.linux for t in TOOLKITS] + [linux for linux, _ in FAMILIES.values()]
    return max((one for one in known if one.split(".")[0] == driver), key=numbers, default=driver)


def runs(driver_cuda: str, cuda: str) -> bool:
    """Whether a driver that speaks `driver_cuda` runs programs built for `cuda`, newer minors of its major included."""
    speaks, wanted = numbers(driver_cuda), numbers(cuda)
    if speaks[:1] == wanted[:1] and speaks[:1] >= (11,):
        return True
    return at_least(driver_cuda, ".".join(str(n) for n in wanted[:2]))


def _column(system: str) -> int:
    return 1 if system == "windows" else 0


def _packaged(major: int, minor: int, patch: int, system: str) -> str:
    """The driver of that update; of the first release where the update is not in the table."""
    rows = {t.update: (t.linux, t.windows)[_column(system)] for t in TOOLKITS if t.cuda == f"{major}.{minor}"}
    return rows.get(patch) or rows.get(0, "")


@lru_cache(maxsize=1)
def _by_branch() -> tuple[tuple[int, str], ...]:
    """(first driver branch, CUDA), oldest first. Windows branches fall between the Linux ones."""
    out = dict(BRANCHES)
    for toolkit in reversed(TOOLKITS):
        out.setdefault(numbers(toolkit.linux)[0], toolkit.cuda)
    return tuple(sorted(out.items()))
