"""Published: which names the package index has, and which releases of common packages; tools/harvest/published.py."""

from __future__ import annotations

import hashlib
from functools import cache

import msgspec
from packaging.version import InvalidVersion, Version

from gpuwhy.knowledge import tables

NAMES = tables.source(
    "the list of names of the package index", "927,088 projects, 16 November 2026"
)
SOURCE = tables.source(
    "the files of the package index", "knowledge/data/published.json, November 2026"
)
_HASHES = 4
_UNLISTED = frozenset({"api", "install"})
"""Projects that the index has and its list of names leaves out; of 250 names that were not listed, only these two."""


class Published(msgspec.Struct, frozen=True):
    """One release: what it demands of Python, and the newest Python that it has a wheel for ('' = sources alone)."""

    python: str
    newest: str
    sources: bool = True  # False where there is nothing to build for another Python


class _Table(msgspec.Struct, frozen=True):
    schema: str
    asked: str
    packages: dict[str, msgspec.Raw]


def bits(name: str, size: int) -> list[int]:
    """The places of a name in a filter of that many bits."""
    digest = hashlib.blake2b(name.encode(), digest_size=16).digest()
    return [int.from_bytes(digest[n * 4 : n * 4 + 4], "little") % size for n in range(_HASHES)]


def is_project(name: str) -> bool:
    """Whether the index may have a project of that (normal) name; False is certain as of the day of the list."""
    held = _filter()
    return name in _UNLISTED or all(
        held[bit >> 3] >> (bit & 7) & 1 for bit in bits(name, len(held) * 8)
    )


@cache
def _filter() -> bytes:
    return tables.raw("names.bin")


@cache
def _table() -> dict[str, msgspec.Raw]:
    return tables.load("published.json", _Table).packages


def names() -> tuple[str, ...]:
    """The packages whose releases were asked for."""
    return tuple(_table())


@cache
def releases(name: str) -> dict[Version, Published]:
    """Every release of a package that was asked for; {} for others."""
    rows = (
        msgspec.json.decode(_table()[name], type=list[tuple[str, str, str]])
        if name in _table()
        else []
    )
    return {
        Version(version): Published(python, newest.rstrip("!"), not newest.endswith("!"))
        for python, newest, versions in rows
        for version in versions.split()
    }


def is_missing(name: str, version: str) -> bool:
    """Whether a release is older than the newest of those that the index has, and is none of them."""
    known = releases(name)
    try:
        asked = Version(version)
    except InvalidVersion:
        return False
    return bool(known) and not asked.local and asked < max(known) and asked not in known
