"""Compiled: releases beside the frameworks that ended with an older Python; harvested by tools/harvest/compiled.py."""

from __future__ import annotations

from functools import cache

import msgspec
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from gpuwhy.knowledge import tables

SOURCE = tables.source("the files of the package index", "knowledge/data/compiled.json, November 2026")


class _Table(msgspec.Struct, frozen=True):
    schema: str
    asked: str
    packages: dict[str, dict[str, list[str]]]


@cache
def _table() -> dict[str, dict[str, list[str]]]:
    return tables.load("compiled.json", _Table).packages


@cache
def _releases(name: str) -> dict[Version, str]:
    rows = _table().get(name, {})
    return {Version(version): python for python, versions in rows.items() for version in versions}


def newest_python(name: str, version: str) -> str:
    """The newest Python that a release has a wheel for, where that is 3.11 or older; '' = newer, or not known."""
    try:
        return _releases(name).get(Version(version), "") if name in _table() else ""
    except ValueError:
        return ""


def ended(name: str, specifier: str) -> str:
    """The same for a range that lets nothing newer in: numpy<1.24; '' for every other."""
    if name not in _table() or not specifier:
        return ""
    try:
        wanted = SpecifierSet(specifier)
    except InvalidSpecifier:
        return ""
    if wanted.contains("9999") or wanted.contains(_after(name)):
        return ""
    found = [(version, python) for version, python in _releases(name).items() if wanted.contains(version)]
    return max(found)[1] if found else ""


def _after(name: str) -> Version:
    """A release just past the newest that ended."""
    newest = max(_releases(name))
    return Version(".".join(map(str, (*newest.release[:-1], newest.release[-1] + 1))))
