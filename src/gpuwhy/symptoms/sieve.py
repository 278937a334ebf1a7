"""Which literals a large block can hold, with the standard library alone.

Lines of a log differ in their numbers: with every digit turned into 0 few are left, and those known to hold nothing are
not looked at again. Of the others the words are taken, each once: a literal is in a block only where its words are.
Which words hold an end of a literal is remembered, so that only words that are new are searched.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set

REMEMBERED = 1 << 23
"""How many bytes of lines without literals are kept."""
LONGEST = 1 << 12
MANY = 1 << 14
SHORTEST = 3
MOST_WORDS = 1 << 15
"""How many words are remembered."""
GRAM = 3
"""How many letters of a literal are looked up at every place of a short text."""

_UPPER, _DIGITS = bytes(range(0x41, 0x5B)), b"0123456789"
_FOLD = bytes.maketrans(_UPPER + _DIGITS + b"\r", _UPPER.lower() + b"0" * 10 + b"\n")
_LETTERS = {*_UPPER.lower(), *b"0", *range(0x80, 0x100)}
_WORDS = bytes(byte if byte in _LETTERS else 0x20 for byte in range(256))


class _Literal:
    """What the words of a block must be so that a literal can be in it."""

    __slots__ = ("edges", "folded", "number", "whole")

    def __init__(self, number: int, anchor: bytes) -> None:
        self.number, self.folded = number, anchor.translate(_FOLD)
        first, *inner = self.folded.translate(_WORDS).split(b" ")
        last = inner.pop() if inner else b""
        ends = (first + b" ", b" " + last) if b" " in self.folded.translate(_WORDS) else (first,)
        self.whole = frozenset(word for word in inner if word)
        self.edges = tuple(end for end in ends if len(end.strip()) >= SHORTEST)


class Sieve:
    """Tells the literals (lower case) that may be in a block, whatever the case and the digits."""

    def __init__(self, anchors: Iterable[bytes]) -> None:
        self._literals = tuple(_Literal(number, anchor) for number, anchor in enumerate(anchors))
        edges = {edge.strip() for one in self._literals for edge in one.edges if b"0" not in edge}
        self._edge = re.compile(trie(edges)) if edges else None
        self._holders = {edge: set[bytes]() for one in self._literals for edge in one.edges}
        self._words = set[bytes]()
        self.dull: set[bytes] = set()  # lines, in lower case and with every digit 0, that hold nothing
        self._size = 0

    def may_hold(self, block: bytes, common: Set[int] = frozenset()) -> list[int]:
        """The numbers of the literals that the block holds if digits count for nothing; of `common` those it may."""
        lines = set(block.translate(_FOLD).split(b"\n")) - self.dull
        if not lines:
            return []
        text = b"\n".join(lines)
        candidates = self._candidates(text)
        there = {f for f in {one.folded for one in candidates if one.number not in common} if f in text}
        found = [one for one in candidates if one.number in common or one.folded in there]
        if len(text) * 2 < len(block):
            self._remember(lines, {one.folded for one in found})
        return [one.number for one in found]

    def _candidates(self, text: bytes) -> list[_Literal]:
        words = set(text.translate(_WORDS).split())
        self._learn(words)
        there = {edge for edge, holders in self._holders.items() if not holders.isdisjoint(words)}
        return [one for one in self._literals if one.whole <= words and there.issuperset(one.edges)]

    def _learn(self, words: set[bytes]) -> None:
        """Find the ends of literals in the words that are new."""
        new = words - self._words
        if len(self._words) + len(new) > MOST_WORDS:
            self._words.clear()
            for holders in self._holders.values():
                holders.clear()
            new = words
        if not new:
            return
        self._words |= new
        joined = few = b" " + b" ".join(new) + b" "
        if len(joined) > MANY and self._edge is not None:
            few = b" " + b" ".join(_around(self._edge, joined)) + b" "
        for edge, holders in self._holders.items():
            holders.update(_holding(edge, joined if b"0" in edge else few))

    def _remember(self, lines: set[bytes], found: set[bytes]) -> None:
        """Lines without literals, while there is room."""
        for line in lines:
            if len(line) <= LONGEST and not any(literal in line for literal in found):
                self.dull.add(line)
                self._size += len(line)
        if self._size > REMEMBERED:
            self.dull.clear()
            self._size = 0


def _holding(edge: bytes, words: bytes) -> Iterator[bytes]:
    """The words, with a space around each, that hold an end."""
    at = words.find(edge)
    while at >= 0:
        inside = at + edge.startswith(b" ")
        end = words.find(b" ", inside)
        yield words[words.rfind(b" ", 0, inside) + 1 : end]
        at = words.find(edge, end)


class Within:
    """Tells all the literals (lower case) in a short text."""

    def __init__(self, anchors: Sequence[bytes]) -> None:
        self._anchors = anchors
        grams = [_grams(anchor) for anchor in anchors]
        often = Counter(gram for some in grams for gram in some)
        self._short = [number for number, some in enumerate(grams) if not some]
        self._by: dict[bytes, list[int]] = {}
        for number, some in enumerate(grams):
            if some:
                self._by.setdefault(min(some, key=lambda gram: (often[gram], gram)), []).append(number)

    def numbers(self, low: bytes) -> set[int]:
        """The numbers of those in a text in lower case."""
        maybe = [number for gram in _grams(low) & self._by.keys() for number in self._by[gram]]
        return {number for number in (*maybe, *self._short) if self._anchors[number] in low}


def _grams(text: bytes) -> set[bytes]:
    return {text[at : at + GRAM] for at in range(len(text) - GRAM + 1)}


def _around(expression: re.Pattern[bytes], words: bytes) -> Iterator[bytes]:
    """The words that the expression is found in."""
    match = expression.search(words)
    while match is not None:
        end = words.find(b" ", match.end())
        yield words[words.rfind(b" ", 0, match.start()) + 1 : end]
        match = expression.search(words, end)


def trie(words: set[bytes]) -> bytes:
    """An expression for the shortest of the words at a place, without alternatives that begin alike."""
    if b"" in words:
        return b""
    rest: dict[bytes, set[bytes]] = {}
    for word in words:
        rest.setdefault(word[:1], set()).add(word[1:])
    parts = [re.escape(letter) + trie(more) for letter, more in sorted(rest.items())]
    return parts[0] if len(parts) == 1 else b"(?:" + b"|".join(parts) + b")"
