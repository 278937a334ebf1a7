"""Sources: releases without wheels whose setup.py imports what a build of its own does not have (tools/harvest)."""

from __future__ import annotations

from functools import cache

import msgspec

from gpuwhy.knowledge import tables

KNOW = tables.source("setup.py and pyproject.toml of the source archives", "knowledge/data/sources.json, November 2026")
PACKAGE = {"pkg_resources": "setuptools<81", "Cython": "cython", "yaml": "pyyaml"}
"""Modules whose package is called otherwise."""


class Row(msgspec.Struct, frozen=True, array_like=True):
    """Releases that import the same modules; whether they have a pyproject.toml, so that pip builds them apart."""

    modules: tuple[str, ...]
    apart: bool
    versions: str


class _Table(msgspec.Struct, frozen=True):
    schema: str
    asked: str
    packages: dict[str, list[Row]]


@cache
def _table() -> dict[str, list[Row]]:
    return tables.load("sources.json", _Table).packages


def knows(name: str) -> bool:
    """Whether some release of a package is such."""
    return name in _table()


def failing(name: str, version: str) -> Row | None:
    """What a release imports while it is built and does not ask for; None where that is nothing, or not known."""
    return next((row for row in _table().get(name, ()) if version in row.versions.split()), None)
