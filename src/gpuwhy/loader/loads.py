"""Loads: which driver library wins, and what the loader finds for every library that a framework opens."""

from __future__ import annotations

from gpuwhy.host.base import Host
from gpuwhy.model.fact import NOT_OBSERVED, Fact
from gpuwhy.model.facts import DriverLibrary, Facts, NeededLibrary


def libcuda(host: Host, facts: Facts) -> Fact[tuple[DriverLibrary, ...]]:
    """Every copy of libcuda, the winner first."""
    return NOT_OBSERVED


def libnvml(host: Host, facts: Facts) -> Fact[tuple[DriverLibrary, ...]]:
    """Every copy of libnvidia-ml, the winner first."""
    return NOT_OBSERVED


def needs(host: Host, facts: Facts) -> Fact[tuple[NeededLibrary, ...]]:
    """Every library of every framework, resolved."""
    return NOT_OBSERVED
