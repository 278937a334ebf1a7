"""The data of lint: rules.toml, messages.toml, rows.toml; names and patterns in tables.toml."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from gpuwhy.facts.fact import Source
from gpuwhy.lint.mistakes import Edit, Mistake, Place, Severity
from gpuwhy.lint.sheet import Pin

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


class Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a check says: {names} in it are filled by the check."""

    text: str
    fix: str = ""
    severity: Severity = "error"
    where: str = ""
    detail: str = ""


@cache
def _read(name: str) -> dict[str, Any]:
    text = files("gpuwhy.lint").joinpath(name).read_text(encoding="utf-8")
    found: dict[str, Any] = tomllib.loads(text)
    return found


def rules() -> Mapping[str, Rule]:
    """Every rule by its id."""
    every = msgspec.convert(_read("rules.toml")["rule"], tuple[Rule, ...])
    return {rule.id: rule for rule in every}


@cache
def gone() -> Mapping[str, str]:
    """Ids of version 0 that were given up, and who finds such mistakes now."""
    found: dict[str, str] = _read("rules.toml")["gone"]
    return {one: why for why, names in found.items() for one in names.split()}


def told(
    case: str,
    at: Pin | Place,
    source: Source | None = None,
    *,
    fix: str = "",
    severity: str = "",
    edit: Edit | None = None,
    values: Mapping[str, object] | None = None,
    **more: object,
) -> Mistake:
    """A mistake by its message, RULE or RULE.CASE; what is given here goes before the row's."""
    row = msgspec.convert(_read("messages.toml")[case], Message)
    words: dict[str, object] = {}
    if isinstance(at, Pin):
        words = {"name": at.name, "version": at.version, "bound": at.specifier, "said": at.said}
    place = at.place if isinstance(at, Pin) else at
    words |= {"line": place.line, **(values or {}), **more}
    return Mistake(
        case.partition(".")[0],
        "error" if (severity or row.severity) == "error" else "warning",
        place,
        row.text.format(**words),
        source or Source("know", row.where, row.detail),
        fix or row.fix.format(**words),
        edit,
    )


def rows(name: str) -> list[dict[str, Any]]:
    """The rows of one kind."""
    found: list[dict[str, Any]] = _read("rows.toml")[name]
    return found


def table(key: str) -> Any:
    """A table, a list of names or an expression, by its section and name."""
    section, _, name = key.partition(".")
    return _read("tables.toml")[section][name]


def pattern(key: str, flags: int = 0) -> re.Pattern[str]:
    """A regular expression."""
    return re.compile(table(key), flags)
