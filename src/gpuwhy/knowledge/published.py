"""Published: releases of the GPU stack's packages on the index, and slips of their names."""

import re
from functools import cache

import msgspec
from packaging.version import InvalidVersion, Version

from gpuwhy.knowledge.tables import load, source

SOURCE = source("the files of the package index", "knowledge/data/published.json, November 2026")
SHORTEST = 5


class _Table(msgspec.Struct, frozen=True):
    schema: str
    asked: str
    taken: str  # slips of these names that are projects of their own
    packages: dict[str, str]


def _table() -> _Table:
    return load("published.json", _Table)


@cache
def releases(name: str) -> tuple[Version, ...]:
    """Every release of a package that was asked for, oldest first; () for others."""
    return tuple(map(Version, _table().packages.get(name, "").split()))


def is_missing(name: str, version: str) -> bool:
    """Whether a release is older than the newest that the index has, and is none of them."""
    known = releases(name)
    try:
        asked = Version(version)
    except InvalidVersion:
        return False
    return bool(known) and not asked.local and asked < known[-1] and asked not in known


def meant(name: str) -> str:
    """The package that a name, which the index does not have, is a slip of; "" for none."""
    return "" if name in _table().packages else _slips().get(name, "")


@cache
def _slips() -> dict[str, str]:
    known, taken = _table().packages, frozenset(_table().taken.split())
    every = {slip: name for name in known if len(name) >= SHORTEST for slip in slips(name)}
    return {slip: name for slip, name in every.items() if slip not in taken}


def slips(name: str) -> set[str]:
    """A name with a letter missing or twice, with two swapped, with a hyphen or an s too many."""
    places = range(len(name))
    out = {name[:at] + name[at + 1 :] for at in places}
    out |= {name[: at + 1] + name[at:] for at in places}
    out |= {name[:at] + name[at : at + 2][::-1] + name[at + 2 :] for at in places}
    out |= {f"{name[:at]}-{name[at:]}" for at in places}
    proper = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
    return {one for one in (*out, f"{name}s") if one != name and proper.fullmatch(one)}
