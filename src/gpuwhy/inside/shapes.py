"""Shapes as people write them, "batch 224 224 3", and whether an array's shape fits one."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import EllipsisType
from typing import Any

from gpuwhy.inside.arrays import Dim, shown

Bound = int | tuple[Dim, ...]


@dataclass(frozen=True)
class Token:
    """One word of a pattern: a size, a name, or `_`; `many` stands for any number of dimensions."""

    name: str = ""
    size: int = -1
    many: bool = False

    @property
    def named(self) -> bool:
        """Whether it binds a name."""
        return bool(self.name) and self.name != "_"


Shape = str | Sequence[int | str | EllipsisType | None]
"""Words, or a tuple: sizes, names, None or `...`."""


def words(shape: Shape) -> str:
    """A shape as words; raises TypeError where it is none."""
    if isinstance(shape, str):
        return shape
    if not isinstance(shape, (tuple, list)):
        raise TypeError(f"a shape is words, such as 'batch 3 224 224', or a tuple; {type(shape).__name__} came")
    return " ".join(_word(one, shape) for one in shape)


def _word(one: Any, shape: Sequence[Any]) -> str:
    if one is None or one == -1:
        return "_"
    if one is Ellipsis:
        return "..."
    if isinstance(one, str) and len(one.split()) == 1:
        return one
    try:
        return str(operator.index(one))
    except TypeError:
        raise TypeError(f"{shape!r}: {one!r} is no size, no name, not None and not ...") from None


@lru_cache(maxsize=512)
def parse(pattern: str) -> tuple[Token, ...]:
    """The words of a pattern; raises ValueError where one makes no sense."""
    out = tuple(_token(word, pattern) for word in pattern.replace(",", " ").split())
    if sum(token.many for token in out) > 1:
        raise ValueError(f"{pattern!r}: only one of the dimensions may be '...' or '*name'")
    return out


def _token(word: str, pattern: str) -> Token:
    if word in ("...", "*"):
        return Token(many=True)
    if word.isdigit():
        return Token(size=int(word))
    name = word.removeprefix("*")
    if not name.isidentifier():
        raise ValueError(f"{pattern!r}: {word!r} is no size, no name and none of '_', '...', '*name'")
    return Token(name=name, many=word.startswith("*"))


def fit(
    tokens: tuple[Token, ...], shape: tuple[Dim, ...], bound: Mapping[str, Bound]
) -> tuple[dict[str, Bound], list[str]]:
    """The names that a shape binds anew, and what does not fit, as sentences."""
    pairs = _pairs(tokens, shape)
    if pairs is None:
        least = sum(not token.many for token in tokens)
        want = f"{least} or more" if any(t.many for t in tokens) else str(least)
        return {}, [f"it has {_count(len(shape))}, {want} expected"]
    new: dict[str, Bound] = {}
    wrong = []
    for place, token, sizes in pairs:
        text = _compare(place, token, sizes, {**bound, **new}, new)
        if text:
            wrong.append(text)
    return new, wrong


def _count(n: int) -> str:
    return f"{n} dimension{'s' * (n != 1)}"


def _pairs(tokens: tuple[Token, ...], shape: tuple[Dim, ...]) -> list[tuple[int, Token, tuple[Dim, ...]]] | None:
    """Each word with its place and sizes; None where the numbers of dimensions do not fit."""
    spare = len(shape) - sum(not token.many for token in tokens)
    if spare < 0 or (spare > 0 and not any(token.many for token in tokens)):
        return None
    out, place = [], 0
    for token in tokens:
        width = spare if token.many else 1
        out.append((place, token, shape[place : place + width]))
        place += width
    return out


def _compare(
    place: int, token: Token, sizes: tuple[Dim, ...], bound: Mapping[str, Bound], new: dict[str, Bound]
) -> str:
    if token.many:
        return _compare_many(token, sizes, bound, new)
    size = sizes[0]
    if size is None:
        return ""
    if token.size >= 0:
        return "" if size == token.size else f"dimension {place} is {size}, {token.size} expected"
    if not token.named:
        return ""
    before = bound.get(token.name)
    if before is None:
        new[token.name] = size
        return ""
    return "" if before == size else f"dimension {place} ({token.name}) is {size}, but {token.name} is {before}"


def _compare_many(token: Token, sizes: tuple[Dim, ...], bound: Mapping[str, Bound], new: dict[str, Bound]) -> str:
    if not token.named or None in sizes:
        return ""
    before = bound.get(token.name)
    if before is None:
        new[token.name] = sizes
        return ""
    return "" if before == sizes else f"*{token.name} is {shown(sizes)}, but was {before}"
