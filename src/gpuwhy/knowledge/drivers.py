"""Drivers and CUDA: which driver runs programs built for which CUDA, and which CUDA it supports.

A driver runs everything older than itself. From CUDA 11 on it also runs programs built for a newer
minor release of its own major ("minor-version compatibility"), as far as they bring machine code
for the GPU: PTX of a newer toolkit is still refused (error 222). Up to CUDA 10 every minor release
needs its own driver.
"""

from functools import cache

import msgspec

from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import at_least, numbers
from gpuwhy.knowledge.tables import load

NEWEST_MINOR = {9: 2, 10: 2, 11: 8, 12: 9, 13: 4}
"""The last minor release of each CUDA major, where a package names the major alone."""


class Toolkit(msgspec.Struct, frozen=True, array_like=True):
    """A toolkit release and the drivers packaged with it; "" where NVIDIA packages none."""

    cuda: str  # "12.4"
    update: int  # 0 = the first release
    linux: str
    windows: str

    def of(self, system: str) -> str:
        """The driver for a system."""
        return self.windows if system == "windows" else self.linux


class Table(msgspec.Struct, frozen=True):
    """drivers.json."""

    packaged: Source
    compatible: Source
    toolkits: tuple[Toolkit, ...]  # newest first
    families: dict[int, tuple[str, str]]  # major: (linux, windows); no Windows floor for 13
    branches: dict[int, str]  # driver branches without a toolkit of their own: their CUDA


class Floor(msgspec.Struct, frozen=True):
    """The oldest driver that runs a program built for a CUDA release."""

    cuda: str
    driver: str  # runs it
    native: str  # packaged with that very toolkit: all its features; "" where there is none
    source: Source


def table() -> Table:
    """Toolkits with their drivers."""
    return load("drivers.json", Table)


def packaged() -> Source:
    """Where it is said which driver comes with which toolkit."""
    return table().packaged


def floor(cuda: str, system: str = "linux") -> Floor | None:
    """The oldest driver that runs a program built for `cuda` ('12.4', '12.4.1'), if known."""
    major, minor, patch = (*numbers(cuda), 0, 0, 0)[:3]
    updates = {t.update: t.of(system) for t in table().toolkits if t.cuda == f"{major}.{minor}"}
    native = updates.get(patch) or updates.get(0, "")
    family = table().families.get(major, ("", ""))[system == "windows"]
    known = [driver for driver in (native, family) if driver]
    if not known:
        return None
    oldest = min(known, key=numbers)
    by_family = oldest == family and oldest != native
    told = table().compatible if by_family else packaged()
    return Floor(f"{major}.{minor}", oldest, native, told)


def cuda_of_driver(driver_version: str) -> str | None:
    """The newest CUDA of a driver: 550.54.15 → 12.4; None for what the table does not reach."""
    branch = numbers(driver_version)[:1]
    known = _by_branch()
    if not branch or branch[0] > known[-1][0]:
        return None
    return next((cuda for first, cuda in reversed(known) if first <= branch[0]), None)


def in_branch(driver: str) -> str:
    """A driver version; of a bare branch ("535") the newest that NVIDIA packaged or names."""
    if "." in driver:
        return driver
    known = [t.linux for t in table().toolkits] + [linux for linux, _ in table().families.values()]
    return max((one for one in known if one.split(".")[0] == driver), key=numbers, default=driver)


def runs(driver_cuda: str, cuda: str) -> bool:
    """Whether a driver whose newest CUDA is `driver_cuda` runs programs built for `cuda`."""
    own, wanted = numbers(driver_cuda), numbers(cuda)
    if own[:1] == wanted[:1] and own[:1] >= (11,):
        return True
    return at_least(driver_cuda, ".".join(str(n) for n in wanted[:2]))


@cache
def _by_branch() -> tuple[tuple[int, str], ...]:
    """(first driver branch, CUDA), oldest first. Windows branches fall between the Linux ones."""
    out = dict(table().branches)
    for toolkit in reversed(table().toolkits):
        out.setdefault(numbers(toolkit.linux)[0], toolkit.cuda)
    return tuple(sorted(out.items()))
