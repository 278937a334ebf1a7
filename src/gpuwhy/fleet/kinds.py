"""Kinds: the facts that nodes are compared by, what a difference can do, and other tables."""

from __future__ import annotations

import re
import sys
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import msgspec

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Worse = Literal["any", "less", "more"]
"""Which difference can do harm: any, a smaller value than the others', a greater one."""
Weight = Literal[0, 1, 2, 3]
"""3: a job can fail by it. 2: in some settings. 1: slower, or mostly harmless. 0: worth knowing."""


class Kind(msgspec.Struct, frozen=True):
    """One kind of fact that nodes are compared by."""

    name: str  # "gpu.count"; with a dot or a low line at the end: all names that begin so
    title: str
    weight: Weight
    worse: Worse = "any"
    causes: tuple[str, ...] = ()  # what such a difference can be, likeliest first
    tolerance: float = 0.0  # numbers that differ by less than this share are the same
    unlimited: bool = False  # -1 is the greatest value

    @property
    def exact(self) -> bool:
        """Whether it is one fact, not a family of them."""
        return not self.name.endswith((".", "_"))


@cache
def _tables() -> dict[str, Any]:
    text = files("gpuwhy.fleet").joinpath("tables.toml").read_text(encoding="utf-8")
    found: dict[str, Any] = tomllib.loads(text)
    return found


def table(name: str) -> Any:
    """One table of tables.toml."""
    return _tables()[name]


def expression(name: str) -> re.Pattern[str]:
    """One expression of that file; a list is one of several."""
    given = table("expressions")[name]
    return re.compile(given if isinstance(given, str) else "|".join(given))


KINDS = {name: msgspec.convert({"name": name, **row}, Kind) for name, row in table("kinds").items()}
PLACE = {name: place for place, name in enumerate(KINDS)}
_OTHER = Kind("", "", 0)


@cache
def kind_of(fact: str) -> Kind:
    """The kind of a fact by its name, else by its longest beginning; others have no weight."""
    if fact in KINDS:
        return KINDS[fact]
    fits = [one for one in KINDS.values() if not one.exact and fact.startswith(one.name)]
    return max(fits, key=lambda kind: len(kind.name), default=_OTHER)


def title(fact: str) -> str:
    """What a fact is called: "NCCL", "variable NCCL_IB_HCA"."""
    kind = kind_of(fact)
    if not kind.name or kind.name == fact:
        return kind.title or fact
    return f"{kind.title} {fact.split('.', 1)[1]}"
