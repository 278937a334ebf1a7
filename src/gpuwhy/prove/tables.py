"""The rows of tables.toml: variables, limits, words and what can be set."""

from __future__ import annotations

import re
import sys
from functools import cache
from importlib.resources import files

import msgspec

from gpuwhy.prove.proof import Tweak

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class Limit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A limit of a process, as the shell knows it."""

    words: str
    flag: str
    unit: int = 1024
    usual: int = 1 << 50  # a soft limit from which on nobody has set anything


class Tables(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file; the keys of causes, weights, words and misses are expressions."""

    kept: frozenset[str]
    system: frozenset[str]
    lists: dict[str, str]
    causes: dict[str, tuple[str, ...]]
    weights: dict[str, float]
    words: dict[str, tuple[str, ...]]
    misses: dict[str, tuple[str, ...]]
    limits: dict[str, Limit]
    remedy: tuple[Tweak, ...]


@cache
def tables() -> Tables:
    """All rows, checked."""
    text = files("gpuwhy.prove").joinpath("tables.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), Tables)


@cache
def causes_of(name: str) -> tuple[str, ...]:
    """The causes that a variable stands for when the program runs without it."""
    return next(found for row, found in tables().causes.items() if re.fullmatch(row, name))


@cache
def usual(name: str) -> float | None:
    """How often a variable of this name is what matters; None where no row knows it."""
    return next((weight for row, weight in tables().weights.items() if re.match(row, name)), None)
