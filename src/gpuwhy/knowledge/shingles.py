"""Shingles: three words in a row as a number; what the message atlas keeps of a text instead of the text."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

WIDTH = 3
WORDS = re.compile(r"[A-Za-z0-9_]+")
HOLE = "\0"
"""Stands in a template for what a program fills in."""


def words(text: str, most: int = 1_000_000) -> list[str]:
    """The words of a text in lower case, at most so many."""
    out = []
    for found in WORDS.finditer(text):
        out.append(found.group().lower())
        if len(out) >= most:
            break
    return out


def fragments(template: str) -> list[list[str]]:
    """The words between the holes of a template; a word that touches a hole is part of what is filled in."""
    out = []
    pieces = template.split(HOLE)
    for number, piece in enumerate(pieces):
        start = re.match(r"[A-Za-z0-9_]+", piece).end() if number and re.match(r"[A-Za-z0-9_]", piece) else 0  # type: ignore[union-attr]
        piece = piece[start:]
        if number < len(pieces) - 1:
            piece = re.sub(r"[A-Za-z0-9_]+$", "", piece)
        out.append(words(piece))
    return out


def hashed(some: Sequence[str]) -> int:
    """A number of 32 bits for words in a row."""
    return zlib.crc32(" ".join(some).encode())


def shingles(some: Sequence[str]) -> list[int]:
    """The number of every three words in a row."""
    return [hashed(some[n : n + WIDTH]) for n in range(len(some) - WIDTH + 1)]


def key(template: str) -> int:
    """The number by which a label finds its template."""
    return zlib.crc32(" \0 ".join(" ".join(f) for f in fragments(template)).encode())


def anchored(some: Sequence[str]) -> int:
    """The number of the three words that a message begins with."""
    return hashed(("^", *some[:WIDTH]))
