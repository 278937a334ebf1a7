"""The catalogue of rules: rules.toml has a row for each, and the ids that were given up."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

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
def _catalogue() -> _Catalogue:
    text = files("gpuwhy.lint").joinpath("rules.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), _Catalogue)


def rules() -> Mapping[str, Rule]:
    """Every rule by its id."""
    return {rule.id: rule for rule in _catalogue().rule}


def gone() -> Mapping[str, str]:
    """Ids of version 0 that were given up, and who finds such mistakes now."""
    return {one: why for why, names in _catalogue().gone.items() for one in names.split()}
