"""The rows of tables.toml and families.toml."""

from __future__ import annotations

import sys
from functools import cache
from importlib.resources import files
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@cache
def rows(file: str) -> dict[str, Any]:
    """All rows of a file."""
    text = files("gpuwhy.fit").joinpath(f"{file}.toml").read_text(encoding="utf-8")
    found: dict[str, Any] = tomllib.loads(text)
    return found


def table(name: str) -> Any:
    """One table of tables.toml."""
    return rows("tables")[name]


def listed(name: str) -> dict[str, str]:
    """Each word of a table of names, with the key that it stands under."""
    found: dict[str, str] = table(name)
    return {word: key for key, words in found.items() for word in words.split()}
