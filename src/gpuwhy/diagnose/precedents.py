"""Precedents: the causes of others whose program said the same, where no row knows what it says."""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

import msgspec

from gpuwhy.knowledge import tables
from gpuwhy.log.log import Log

_HOLE = re.compile(r"<[a-z_]+>|\*")
_WORD = r"[A-Za-z0-9_][A-Za-z0-9_.+-]*"
FEWEST = 14
"""Characters of its phrases below which a precedent says no more than the name of an error."""


class Row(msgspec.Struct, frozen=True, rename={"not_": "not"}):
    """What a text has to say, all of it, and what it must not."""

    says: tuple[str, ...]
    not_: tuple[str, ...] = ()
    source: str = ""


class Alike(NamedTuple):
    """A precedent that a text is like: how many characters of it are known, and the line."""

    known: int
    cause: str
    row: Row
    line: int

    def is_in(self, ending: str) -> bool:
        """Whether the words that a program ended with are those of a phrase."""
        pieces = (piece for words in self.row.says for piece in _pieces(words))
        return any(len(piece) >= FEWEST and piece in ending for piece in pieces)


def alike(log: Log, causes: tuple[str, ...]) -> list[Alike]:
    """The precedents whose phrases all stand in a text, the closest first."""
    said = " ".join(log.excerpt.lower().split())
    found = [
        Alike(known, cause, row, _line(log, row.says[0]))
        for piece, known, cause, row in _index(causes)
        if piece in said
        and all(_stands(words, said) for words in row.says)
        and not any(_stands(words, said) for words in row.not_)
    ]
    return sorted(found, key=lambda one: -one.known)


@cache
def _index(causes: tuple[str, ...]) -> tuple[tuple[str, int, str, Row], ...]:
    """Every precedent with its longest piece, by which most texts are passed over."""
    every = ((cause, row) for cause in causes for row in rows(cause))
    known = (
        (sum(len(piece) for words in row.says for piece in _pieces(words)), cause, row)
        for cause, row in every
    )
    return tuple(
        (max(map(longest, row.says), key=len), size, cause, row)
        for size, cause, row in known
        if size >= FEWEST
    )


def rows(cause: str) -> tuple[Row, ...]:
    """The precedents of one cause."""
    try:
        return tables.rows(f"precedents/{cause}.jsonl", Row)
    except FileNotFoundError:
        return ()


def _stands(words: str, said: str) -> bool:
    return longest(words) in said and bool(_expression(words).search(said))


@lru_cache(maxsize=8192)
def longest(words: str) -> str:
    """The longest fixed piece of a phrase."""
    return max(_pieces(words), key=len, default="")


def _pieces(words: str) -> Iterator[str]:
    return (" ".join(one.lower().split()) for one in _HOLE.split(words))


@lru_cache(maxsize=1024)
def _expression(words: str) -> re.Pattern[str]:
    """A phrase as an expression: <name> is a word, * is anything on the line."""
    plain, last, made = " ".join(words.lower().split()), 0, ""
    for hole in _HOLE.finditer(plain):
        made += re.escape(plain[last : hole.start()])
        made += _WORD if hole[0] != "*" else ".{0,80}?"
        last = hole.end()
    return re.compile(made + re.escape(plain[last:]), re.IGNORECASE)


def _line(log: Log, words: str) -> int:
    """The line of a text that holds a phrase."""
    piece = longest(words)[:60]
    lines = enumerate(log.excerpt.splitlines(), 1)
    return next((at for at, line in lines if piece in " ".join(line.lower().split())), 0)
