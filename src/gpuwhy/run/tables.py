"""The rows of tables.toml: words and patterns by which a watched run is judged."""

import re
from functools import cache
from importlib.resources import files

import msgspec


class Cache(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A folder in which programs keep what they compiled or loaded."""

    names: tuple[str, ...]  # the variables that name it
    of: str = ""
    usual: str = ""  # where it is else


class Tables(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file."""

    falls_back: dict[str, str]
    crashes: dict[str, str]
    cache: tuple[Cache, ...]
    words: dict[str, frozenset[str]]
    patterns: dict[str, str]


@cache
def tables() -> Tables:
    """All rows, checked."""
    text = files("gpuwhy.run").joinpath("tables.toml").read_text(encoding="utf-8")
    return msgspec.toml.decode(text, type=Tables)


@cache
def pattern(name: str) -> re.Pattern[str]:
    """One of the expressions."""
    return re.compile(tables().patterns[name])
