"""Chooses the loader by the system: glibc's, or that of Windows, which is imported where it is needed."""

from __future__ import annotations

from typing import Protocol

from gpuwhy.host.base import Host
from gpuwhy.loader import loads
from gpuwhy.model.fact import Fact, Known
from gpuwhy.model.facts import DriverLibrary, Facts, LoadTree, NeededLibrary


class Loader(Protocol):
    """What fills `facts.loads`, whatever the system."""

    def libcuda(self, host: Host, facts: Facts) -> Fact[tuple[DriverLibrary, ...]]:
        """Every copy of the driver's CUDA library."""

    def libnvml(self, host: Host, facts: Facts) -> Fact[tuple[DriverLibrary, ...]]:
        """Every copy of the driver's management library."""

    def trees(self, host: Host, facts: Facts) -> Fact[tuple[LoadTree, ...]]:
        """What the process of each framework would load."""

    def needs(self, host: Host, facts: Facts) -> Fact[tuple[NeededLibrary, ...]]:
        """Every library that a framework opens by name."""


def loader_of(facts: Facts) -> Loader:
    """The loader of the system under diagnosis."""
    if is_windows(facts):
        from gpuwhy.loader import windows_loads

        return windows_loads
    return loads


def is_windows(facts: Facts) -> bool:
    """Whether the machine is a Windows machine."""
    system = facts.surroundings.system
    return isinstance(system, Known) and system.value == "windows"
