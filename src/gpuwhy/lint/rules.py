"""The data of lint: rules.toml, messages.toml, rows.toml; names and patterns in tables.toml."""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from gpuwhy.lint.mistakes import Severity


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


@cache
def read(name: str) -> dict[str, Any]:
    """The tables of one of these files."""
    text = files("gpuwhy.lint").joinpath(name).read_text(encoding="utf-8")
    return msgspec.toml.decode(text, type=dict[str, Any])


def rules() -> Mapping[str, Rule]:
    """Every rule by its id."""
    every = msgspec.convert(read("rules.toml")["rule"], tuple[Rule, ...])
    return {rule.id: rule for rule in every}


@cache
def gone() -> Mapping[str, str]:
    """Ids of version 0 that were given up, and who finds such mistakes now."""
    found: dict[str, str] = read("rules.toml")["gone"]
    return {one: why for why, names in found.items() for one in names.split()}


def table(key: str) -> Any:
    """A table, a list of names or an expression, by its section and name."""
    section, _, name = key.partition(".")
    return read("tables.toml")[section][name]


def pattern(key: str, flags: int = 0) -> re.Pattern[str]:
    """A regular expression."""
    return re.compile(table(key), flags)
