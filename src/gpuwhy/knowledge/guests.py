"""Guests: packages that people run on a GPU through a framework, and what the index says of Python; harvested.

Written by tools/harvest/guests.py. A guest's wheels carry little or no GPU code that we read; what it asks of
frameworks, of Python and of the platform is what its own metadata says. What no metadata says is in `floors`.
"""

from __future__ import annotations

from functools import cache

import msgspec

from gpuwhy.knowledge import tables


class Guest(msgspec.Struct, frozen=True, array_like=True):
    """One release."""

    version: str
    uploaded: str
    python: str  # >=3.9
    platforms: tuple[str, ...]  # linux-x86_64 … any; source: it has no wheel
    asks: dict[str, str] | None  # of frameworks; None: no wheel to read it from
    tags: tuple[
        str, ...
    ]  # Pythons of compiled wheels: 3.9, 3.8+ (stable ABI); () = one wheel for all


class _Guests(msgspec.Struct, frozen=True):
    schema: str
    packages: dict[str, msgspec.Raw]


class _Pythons(msgspec.Struct, frozen=True):
    schema: str
    packages: dict[str, dict[str, list[str]]]


@cache
def _table() -> dict[str, msgspec.Raw]:
    return tables.load("guests.json", _Guests).packages


@cache
def _pythons() -> dict[str, dict[str, str]]:
    """Project → release → what it demands of Python."""
    table = tables.load("requires_python.json", _Pythons).packages
    return {
        name: {v: spec for spec, versions in rows.items() for v in versions}
        for name, rows in table.items()
    }


def is_guest(name: str) -> bool:
    """Whether a package is a guest that was harvested."""
    return name in _table()


@cache
def guests(name: str) -> list[Guest]:
    """The releases of a guest, oldest first."""
    return msgspec.json.decode(_table()[name], type=list[Guest]) if name in _table() else []


def requires_python(name: str, version: str) -> str:
    """What a release demands of Python, as the index tells; '' where it demands nothing."""
    return _pythons().get(name, {}).get(version, "")
