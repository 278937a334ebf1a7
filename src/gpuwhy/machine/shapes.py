"""Expressions and words of shapes.toml: what secrets, people and machines look like."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import msgspec


@cache
def _tables() -> dict[str, dict[str, Any]]:
    text = Path(__file__).with_suffix(".toml").read_bytes()
    return msgspec.toml.decode(text, type=dict[str, dict[str, Any]])


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
