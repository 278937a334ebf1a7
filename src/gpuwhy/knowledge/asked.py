"""Asked: what the packages of usual GPU environments ask of each other; harvested by tools/harvest/asked.py.

Versions of a package are bits of a number, oldest first, so that sets of them are compared at once.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cache, lru_cache

import msgspec
from packaging.specifiers import InvalidSpecifier, Specifier, SpecifierSet
from packaging.version import Version

from gpuwhy.knowledge import releases, tables

SOURCE = tables.source(
    "METADATA of the published wheels", "knowledge/data/asked.json, by tools/harvest/asked.py"
)


class Row(msgspec.Struct, frozen=True, array_like=True):
    """Releases that ask for the same; asks: what differs from the row before, None where it is not known."""

    versions: str
    python: str
    asks: dict[str, str | list[str] | None] | None


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
    versions: list[Version] = []
    groups = []
    asks: dict[str, tuple[str, ...]] = {}
    for row in msgspec.json.decode(_table()[name], type=list[Row]):
        found = row.versions.split()
        bits = ((1 << len(found)) - 1) << len(versions)
        versions += map(Version, found)
        asks = {} if row.asks is None else _changed(asks, row.asks)
        groups.append(Group(bits, row.python, asks))
    return Project(tuple(versions), tuple(groups))


def _changed(
    before: dict[str, tuple[str, ...]], said: dict[str, str | list[str] | None]
) -> dict[str, tuple[str, ...]]:
    out = {name: wishes for name, wishes in before.items() if name not in said}
    for name, wishes in said.items():
        if wishes is not None:
            out[name] = (wishes,) if isinstance(wishes, str) else tuple(wishes)
    return out


@lru_cache(maxsize=65536)
def allowed(name: str, spec: str) -> int:
    """The releases of a package that a specifier allows; all of them where it is none."""
    versions = project(name).versions
    out = (1 << len(versions)) - 1
    try:
        for one in _parsed(spec):
            out &= _by_clause(versions, one)
    except InvalidSpecifier:
        return (1 << len(versions)) - 1
    return out


@lru_cache(maxsize=4096)
def _parsed(spec: str) -> tuple[Specifier, ...]:
    return tuple(SpecifierSet(spec))


def _by_clause(versions: tuple[Version, ...], clause: Specifier) -> int:
    """The releases that one clause allows: a piece of the ordered row, where the operator is one of order."""
    if clause.operator in (">=", "<") and "+" not in clause.version:
        at = bisect_left(versions, Version(clause.version))
        return (1 << len(versions)) - (1 << at) if clause.operator == ">=" else (1 << at) - 1
    if (
        clause.operator in ("==", "<=")
        and not clause.version.endswith("*")
        and "+" not in clause.version
    ):
        wanted = Version(clause.version)
        first, after = bisect_left(versions, wanted), bisect_right(versions, wanted)
        return (1 << after) - (1 << first if clause.operator == "==" else 1)
    return sum(
        1 << at for at, version in enumerate(versions) if clause.contains(version, prereleases=True)
    )


@lru_cache(maxsize=65536)
def on_python(name: str, python: str) -> int:
    """The releases that take a Python (3.11); of a framework, which has no sources, those with a wheel for it."""
    found = sum(group.bits for group in project(name).groups if _takes(group.python, python))
    known = releases.family(name)
    if known is None:
        return found
    wheels = {
        row.version: releases.has_python(row, python)
        for row in known.rows
        if row.platform == _LINUX
    }
    return sum(
        1 << at
        for at, version in enumerate(project(name).versions)
        if found >> at & 1 and wheels.get(str(version), True)
    )


_LINUX = "linux-x86_64"


@lru_cache(maxsize=4096)
def _takes(demand: str, python: str) -> bool:
    try:
        return not demand or SpecifierSet(demand).contains(f"{python}.99")
    except InvalidSpecifier:
        return True


@lru_cache(maxsize=4096)
def meets(wanted: str, wish: str) -> bool:
    """Whether one exact release, harvested or not, meets a wish; anything else that is wanted may."""
    exact = (
        wanted[2:]
        if wanted.startswith("==") and not wanted.endswith("*") and "," not in wanted
        else ""
    )
    try:
        return not exact or SpecifierSet(wish).contains(Version(exact), prereleases=True)
    except ValueError:
        return True


class Demand(msgspec.Struct, frozen=True):
    """What is asked of another package, and its releases that meet it."""

    wish: str
    bits: int


@lru_cache(maxsize=65536)
def demands(name: str, at: int, python: str) -> dict[str, Demand]:
    """What the releases of one group ask for on a Python, of packages that were harvested."""
    out = {}
    for other, wishes in project(name).groups[at].asks.items():
        parted = [wish.partition(";") for wish in wishes]
        here = [spec for spec, _, where in parted if not where or python in where.split(",")]
        wish = ",".join(filter(None, here))
        bits = allowed(other, wish) if here and knows(other) else 0
        if bits:  # else it is older than what was harvested
            out[other] = Demand(wish, bits)
    return out


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
    return (
        next((g.asks for g in groups if g.bits & allowed(name, f"=={version}")), {})
        if version
        else groups[-1].asks
    )
