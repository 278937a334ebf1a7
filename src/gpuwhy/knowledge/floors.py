"""Floors: what a package needs of the GPU, the system, CUDA and torch, and does not state.

Each row is for the releases [since, until) of a package and names its source. All rows count.
"""

import re
from functools import lru_cache

import msgspec

from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import at_least
from gpuwhy.knowledge.tables import load, rows


class Floor(msgspec.Struct, frozen=True, kw_only=True):
    """What some releases of a package need and do not state."""

    package: str  # a name, or an expression that the whole name matches
    since: str = "0"
    until: str = ""
    gpu: str = ""  # the oldest compute capability
    systems: tuple[str, ...] = ()  # the only ones: linux (WSL 2 is one), windows
    python: str = ""  # the Pythons it works on: <3.12
    cuda: str = ""  # what its builds are made with
    asks: dict[str, str] = {}  # of frameworks and NVIDIA's wheels
    adds: tuple[str, ...] = ()  # requirements to name beside it
    builds: tuple[str, ...] = ()  # it is compiled against the installed torch: needed before
    compiler: str = ""  # nvcc is needed, and when
    variables: tuple[tuple[str, str], ...] = ()  # to set before it is installed
    note: str = ""
    source: Source


class Notes(msgspec.Struct, frozen=True):
    """install_notes.json: what is said beside a plan, and where nothing fits."""

    beside: tuple[tuple[str, str, str, str], ...]  # a package, another, its release and newer: text
    not_there: dict[str, str]  # names of which the index has nothing, or something else
    beside_the_index: dict[str, tuple[str, Source]]  # builds that the package index does not have
    of_nvidia: tuple[str, Source]  # the one way to TensorFlow 1 on 8.0 and newer


def notes() -> Notes:
    """What is said of packages beside their releases."""
    return load("install_notes.json", Notes)


@lru_cache(maxsize=4096)
def floors(package: str, version: str) -> tuple[Floor, ...]:
    """The rows about a release."""
    begun = (row for row in _of(package) if at_least(version, row.since))
    return tuple(row for row in begun if not (row.until and at_least(version, row.until)))


@lru_cache(maxsize=512)
def _of(package: str) -> tuple[Floor, ...]:
    return tuple(row for row in rows("floors.jsonl", Floor) if re.fullmatch(row.package, package))
