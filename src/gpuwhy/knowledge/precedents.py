"""Precedents: rows of data/precedents, and which of them a text is like.

A row's phrases are compared without regard to case and line breaks; `<name>` stands for one word, which the cure may
name, `*` for up to 80 characters. CONTRIBUTING tells how to write one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache

import msgspec

from gpuwhy.knowledge.shipped import names, shipped
from gpuwhy.model.precedent import Alike, Precedent

MOST = 1 << 16
"""Characters of a text that are compared."""
_HOLE = re.compile(r"<([a-z_]+)>| ?\* ?")
_TOKEN = re.compile(r"[a-z0-9_]+")
_INNER = re.compile(r"(?<=[^\0\w])[a-z0-9_]+(?=[^\0\w])")
"""Words of phrases that a text has as whole words: neither at an end nor beside a place."""
_WORD = r"[A-Za-z0-9_](?:[A-Za-z0-9_.+-]*[A-Za-z0-9_+])?"


class Phrase(msgspec.Struct, frozen=True):
    """A phrase: its longest fixed piece, by which most texts are passed over, and the whole."""

    piece: str
    whole: str
    fixed: int


@cache
def phrase(words: str) -> Phrase:
    """A phrase as it is searched for."""
    plain = " ".join(words.split())
    pieces = [one for one in re.split(r"<[a-z_]+>|\*", plain) if one]
    longest = max((one.strip().lower() for one in pieces), key=len, default="")
    return Phrase(longest, plain, sum(map(len, pieces)))


@cache
def rows() -> tuple[Precedent, ...]:
    """Every precedent."""
    read = msgspec.json.Decoder(Precedent).decode_lines
    return tuple(one for name in names("precedents_v0") for one in read(shipped("precedents_v0", name)))


@cache
def _by_word() -> Mapping[str, Sequence[Precedent]]:
    """The rows by a whole word that a text must have for each; under "" those that have no such word."""
    out: dict[str, list[Precedent]] = {}
    for row in rows():
        inner = _INNER.findall("\0".join(_HOLE.sub("\0", one) for one in row.says).lower())
        out.setdefault(max(inner, key=len, default=""), []).append(row)
    return out


@lru_cache(maxsize=8)
def alike(text: str) -> tuple[Alike, ...]:
    """The precedents that a text is like, those that say what few others say first."""
    said = " ".join(text[:MOST].split())
    low = said.lower()
    words = {"", *_TOKEN.findall(low)}
    near = (row for word, rows in _by_word().items() if word in words for row in rows)
    found = [one for row in near if (one := _alike(row, said, low))]
    return tuple(sorted(found, key=_closeness, reverse=True))


_AS_RARE = 40
"""Characters of a phrase that count as much as one step of rarity."""


def _closeness(one: Alike) -> float:
    """How much a text and a precedent have in common that few precedents have, and how many words at all."""
    return sum(math.log(len(rows()) / _knowing(phrase(words).piece)) for words in one.row.says) + one.known / _AS_RARE


@cache
def _knowing(piece: str) -> int:
    """How many precedents hold a piece of a phrase."""
    return max(1, sum(piece in one for one in _said_by_rows()))


@cache
def _said_by_rows() -> tuple[str, ...]:
    return tuple("\0".join(" ".join(words.split()) for words in row.says).lower() for row in rows())


def _alike(row: Precedent, said: str, low: str) -> Alike | None:
    says = tuple(map(phrase, row.says))
    words = _words(says, said) if all(one.piece in low for one in says) else None
    if words is None or any(one.piece in low and _search(one, said) for one in map(phrase, row.unless)):
        return None
    return Alike(row, words, sum(one.fixed for one in says))


def _words(says: Sequence[Phrase], said: str) -> dict[str, str] | None:
    """The words that the places of all phrases stand for; None where a phrase is not said."""
    out: dict[str, str] = {}
    for one in says:
        match = _search(one, said)
        if match is None:
            return None
        out |= {name: word for name, word in match.groupdict().items() if name not in out}
    return out


def _search(one: Phrase, said: str) -> re.Match[str] | None:
    return _compiled(one.whole).search(said)


@cache
def _compiled(words: str) -> re.Pattern[str]:
    """A phrase as a pattern; a name that comes again is the same word."""
    out, last, named = "", 0, set[str]()
    for hole in _HOLE.finditer(words):
        name = hole[1]
        place = ".{0,80}?" if name is None else f"(?P={name})" if name in named else f"(?P<{name}>{_WORD})"
        out += re.escape(words[last : hole.start()]) + place
        last = hole.end()
        named |= {name} if name else set()
    return re.compile(out + re.escape(words[last:]), re.IGNORECASE)
