"""Asked: what the packages of usual GPU environments ask of each other; harvested by tools/harvest/asked.py.

Versions of a package are bits of a number, oldest first, so that sets of them are compared at once.
"""

from __future__ import annotations

from functools import cache, lru_cache

import msgspec
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from gpuwhy.knowledge import tables

SOURCE = tables.source("METADATA of the published wheels", "knowledge/data/asked.json, by tools/harvest/asked.py")


class Row(msgspec.Struct, frozen=True, array_like=True):
    """Releases that ask for the same; asks: what of which project, None where it is not known."""

    versions: tuple[str, ...]
    python: str
    asks: dict[str, tuple[str, ...]] | None


class Group(msgspec.Struct, frozen=True):
    """A row with its versions as bits."""

    bits: int
    python: str
    asks: dict[str, tuple[str, ...]]


class Project(msgspec.Struct, frozen=True):
    """The releases of a package, oldest first."""

    versions: tuple[Version, ...]
    groups: tuple[Group, ...]


class _Table(msgspec.Struct, frozen=True):
    schema: str
    packages: dict[str, msgspec.Raw]


@cache
def _table() -> dict[str, msgspec.Raw]:
    return tables.load("asked.json", _Table).packages


def knows(name: str) -> bool:
    """Whether a package was harvested."""
    return name in _table()


@cache
def project(name: str) -> Project:
    """The releases of a harvested package."""
    rows = msgspec.json.decode(_table()[name], type=list[Row])
    versions: list[Version] = []
    groups = []
    for row in rows:
        bits = ((1 << len(row.versions)) - 1) << len(versions)
        versions += map(Version, row.versions)
        groups.append(Group(bits, row.python, row.asks or {}))
    return Project(tuple(versions), tuple(groups))


@lru_cache(maxsize=8192)
def allowed(name: str, spec: str) -> int:
    """The releases of a package that a specifier allows; all of them where it is none."""
    try:
        wanted = SpecifierSet(spec)
    except InvalidSpecifier:
        return (1 << len(project(name).versions)) - 1
    found = (1 << at for at, v in enumerate(project(name).versions) if wanted.contains(v, prereleases=True))
    return sum(found)


@lru_cache(maxsize=4096)
def on_python(name: str, python: str) -> int:
    """The releases that take a Python (3.11)."""
    return sum(group.bits for group in project(name).groups if _takes(group.python, python))


@lru_cache(maxsize=4096)
def _takes(demand: str, python: str) -> bool:
    try:
        return not demand or SpecifierSet(demand).contains(f"{python}.99")
    except InvalidSpecifier:
        return True


def newest(name: str, bits: int) -> str:
    """The newest of some releases."""
    return str(project(name).versions[bits.bit_length() - 1])


def has(name: str, version: str) -> bool:
    """Whether a release was harvested."""
    try:
        return Version(version) in project(name).versions
    except ValueError:  # no version, or thousands of digits
        return False


def asks(name: str, version: str) -> dict[str, tuple[str, ...]]:
    """What a release asks for; '' = the newest; {} where it is not known."""
    if not knows(name) or not project(name).groups or (version and not has(name, version)):
        return {}
    groups = project(name).groups
    return next((g.asks for g in groups if g.bits & allowed(name, f"=={version}")), {}) if version else groups[-1].asks
