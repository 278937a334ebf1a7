"""Asked: what packages of the GPU stack ask of each other; harvested by tools/harvest/asked.py.

Versions of a package are bits of a number, oldest first, so that sets of them are compared at once.
"""

from bisect import bisect_left, bisect_right
from functools import cache, lru_cache

import msgspec
from packaging.specifiers import InvalidSpecifier, Specifier, SpecifierSet
from packaging.version import Version

from gpuwhy.knowledge import releases, tables

SOURCE = tables.source(
    "METADATA of the published wheels", "knowledge/data/asked.json, by tools/harvest/asked.py"
)
_LINUX = "linux-x86_64"
Asks = dict[str, tuple[str, ...]]


class _Row(msgspec.Struct, frozen=True, array_like=True):
    """Releases that ask for the same; asks: what differs from the row before, None: not known."""

    versions: str
    python: str
    asks: dict[str, str | list[str] | None] | None


class Group(msgspec.Struct, frozen=True):
    """A row with its versions as bits."""

    bits: int
    python: str
    asks: Asks


class Project(msgspec.Struct, frozen=True):
    """The releases of a package, oldest first."""

    versions: tuple[Version, ...]
    groups: tuple[Group, ...]


def _packages() -> dict[str, msgspec.Raw]:
    return tables.load("asked.json", tables.Packages[msgspec.Raw]).packages


def knows(name: str) -> bool:
    """Whether a package was harvested."""
    return name in _packages()


@cache
def project(name: str) -> Project:
    """The releases of a harvested package."""
    versions: list[Version] = []
    groups = []
    asks: Asks = {}
    for row in msgspec.json.decode(_packages()[name], type=list[_Row]):
        found = row.versions.split()
        bits = ((1 << len(found)) - 1) << len(versions)
        versions += map(Version, found)
        kept = {other: wishes for other, wishes in asks.items() if other not in (row.asks or {})}
        new = {other: wish for other, wish in (row.asks or {}).items() if wish is not None}
        listed = {o: (wish,) if isinstance(wish, str) else tuple(wish) for o, wish in new.items()}
        asks = {} if row.asks is None else kept | listed
        groups.append(Group(bits, row.python, asks))
    return Project(tuple(versions), tuple(groups))


@lru_cache(maxsize=65536)
def allowed(name: str, spec: str) -> int:
    """The releases of a package that a specifier allows; all of them where it is none."""
    versions = project(name).versions
    every = out = (1 << len(versions)) - 1
    try:
        for one in _parsed(spec):
            out &= _by_clause(versions, one)
    except InvalidSpecifier:
        return every
    return out


@lru_cache(maxsize=4096)
def _parsed(spec: str) -> tuple[Specifier, ...]:
    return tuple(SpecifierSet(spec))


def _by_clause(versions: tuple[Version, ...], clause: Specifier) -> int:
    """The releases that a clause allows: a piece of the row, where the operator is one of order."""
    ordered = "+" not in clause.version and not clause.version.endswith("*")
    if ordered and clause.operator in (">=", "<", "==", "<="):
        wanted = Version(clause.version)
        below = (1 << bisect_left(versions, wanted)) - 1
        until = (1 << bisect_right(versions, wanted)) - 1
        every = (1 << len(versions)) - 1
        return {">=": every & ~below, "<": below, "==": until & ~below, "<=": until}[
            clause.operator
        ]
    fits = [clause.contains(version, prereleases=True) for version in versions]
    return sum(1 << at for at, fit in enumerate(fits) if fit)


@lru_cache(maxsize=65536)
def on_python(name: str, python: str) -> int:
    """The releases that take a Python (3.11); of a framework those with a wheel for it."""
    found = sum(group.bits for group in project(name).groups if _takes(group.python, python))
    known = releases.family(name)
    rows = [row for row in known.rows if row.platform == _LINUX] if known else []
    wheels = {row.version: releases.has_python(row, python) for row in rows}
    lacking = [not wheels.get(str(version), True) for version in project(name).versions]
    return found & ~sum(1 << at for at, lacks in enumerate(lacking) if lacks)


@lru_cache(maxsize=4096)
def _takes(demand: str, python: str) -> bool:
    try:
        return not demand or SpecifierSet(demand).contains(f"{python}.99")
    except InvalidSpecifier:
        return True


@lru_cache(maxsize=65536)
def demands(name: str, at: int, python: str) -> dict[str, int]:
    """The releases of harvested packages that meet what one group asks for on a Python."""
    out = {}
    for other, wishes in project(name).groups[at].asks.items():
        parted = [wish.partition(";") for wish in wishes]
        here = [spec for spec, _, where in parted if not where or python in where.split(",")]
        bits = allowed(other, ",".join(filter(None, here))) if here and knows(other) else 0
        if bits:  # else it is older than what was harvested
            out[other] = bits
    return out


def newest(name: str, bits: int) -> str:
    """The newest of some releases."""
    return str(project(name).versions[bits.bit_length() - 1])


def has(name: str, version: str) -> bool:
    """Whether a release was harvested."""
    try:
        return knows(name) and Version(version) in project(name).versions
    except ValueError:  # no version, or thousands of digits
        return False


def asks(name: str, version: str) -> Asks:
    """What a release asks for; "" = the newest; {} where it is not known."""
    if not knows(name) or (version and not has(name, version)):
        return {}
    groups = project(name).groups
    wanted = allowed(name, f"=={version}") if version else groups[-1].bits
    return next((group.asks for group in groups if group.bits & wanted), {})
