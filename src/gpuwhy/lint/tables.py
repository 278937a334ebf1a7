"""Names, bounds and patterns of tables.toml, by `section.name`."""

from __future__ import annotations

import re
import sys
from functools import cache
from importlib.resources import files
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@cache
def _all() -> dict[str, dict[str, Any]]:
    text = files("gpuwhy.lint").joinpath("tables.toml").read_text(encoding="utf-8")
    found: dict[str, dict[str, Any]] = tomllib.loads(text)
    return found


def table(key: str) -> Any:
    """A table by its section and name."""
    section, _, name = key.partition(".")
    return _all()[section][name]


def names(key: str) -> tuple[str, ...]:
    """A list of names."""
    return tuple(table(key))


def pattern(key: str, flags: int = 0) -> re.Pattern[str]:
    """A regular expression."""
    return re.compile(table(key), flags)
