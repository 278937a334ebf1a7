"""The rows of tables.toml."""

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
def _all() -> dict[str, Any]:
    text = files("gpuwhy.fleet").joinpath("tables.toml").read_text(encoding="utf-8")
    rows: dict[str, Any] = tomllib.loads(text)
    return rows


def table(name: str) -> Any:
    """One table."""
    return _all()[name]


def expression(name: str) -> re.Pattern[str]:
    """One expression; a list is one of several."""
    given = _all()["expressions"][name]
    return re.compile(given if isinstance(given, str) else "|".join(given))
