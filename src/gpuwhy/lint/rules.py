"""The data of lint: the catalogue in rules.toml, names and patterns in tables.toml."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from gpuwhy.lint.mistakes import Severity

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class Example(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Small files that break a rule, or nearly do."""

    files: dict[str, str]
    options: dict[str, str] = {}  # driver, gpu


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of mistake; single ones may be warnings where something could still save them."""

    id: str
    severity: Severity
    title: str
    why: str
    source: str
    bad: tuple[Example, ...]
    good: tuple[Example, ...]  # near misses
    fired: int = 0  # on 4,205 files of public repositories; below 3 its precision is not known


class _Catalogue(msgspec.Struct, forbid_unknown_fields=True):
    rule: tuple[Rule, ...]
    gone: dict[str, str]


@cache
def _read(name: str) -> dict[str, Any]:
    text = files("gpuwhy.lint").joinpath(name).read_text(encoding="utf-8")
    found: dict[str, Any] = tomllib.loads(text)
    return found


def rules() -> Mapping[str, Rule]:
    """Every rule by its id."""
    return {rule.id: rule for rule in msgspec.convert(_read("rules.toml"), _Catalogue).rule}


@cache
def gone() -> Mapping[str, str]:
    """Ids of version 0 that were given up, and who finds such mistakes now."""
    found: dict[str, str] = _read("rules.toml")["gone"]
    return {one: why for why, names in found.items() for one in names.split()}


def table(key: str) -> Any:
    """A table by its section and name."""
    section, _, name = key.partition(".")
    return _read("tables.toml")[section][name]


def names(key: str) -> tuple[str, ...]:
    """A list of names."""
    return tuple(table(key))


def pattern(key: str, flags: int = 0) -> re.Pattern[str]:
    """A regular expression."""
    return re.compile(table(key), flags)
