"""Expressions and words of shapes.toml: what secrets, people and machines look like."""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:  # the standard library has it from 3.11 on
    import tomli as tomllib


@cache
def _tables() -> dict[str, dict[str, Any]]:
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    tables: dict[str, dict[str, Any]] = tomllib.loads(text)
    return tables


@cache
def words(name: str) -> frozenset[str]:
    """A list of words."""
    return frozenset(_tables()["words"][name])


@cache
def shape(name: str) -> re.Pattern[str]:
    """An expression, compiled when it is first needed: most reports need few of them."""
    text: str = _tables()["shape"][name]
    while "<<" in text:
        text = re.sub(r"<<(\w+) ?(\w?)>>", _part, text)
    return re.compile(text.replace("\n", ""))


def _part(found: re.Match[str]) -> str:
    part: str = _tables()["part"][found[1]]
    return part.replace("<X", f"<{found[2]}")
