"""Which literals a large block can hold, with the standard library alone.

Lines of a log differ in their numbers: with every digit turned into 0 few are left, and those known to hold nothing are
not looked at again. Of the others the words are taken, each once: a literal is in a block only where its words are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set

REMEMBERED = 1 << 23
"""How many bytes of lines without literals are kept."""
LONGEST = 1 << 12
MANY = 1 << 17
SHORTEST = 3

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
        self._edge = re.compile(_trie(edges)) if edges else None
        self._dull: set[bytes] = set()
        self._size = 0

    def dull(self, line: bytes) -> bool:
        """Whether a line, in lower case and with every digit 0, is known to hold nothing."""
        return line in self._dull

    def may_hold(self, block: bytes, common: Set[int] = frozenset()) -> list[int]:
        """The numbers of the literals that the block holds if digits count for nothing; of `common` those it may."""
        lines = set(block.translate(_FOLD).split(b"\n")) - self._dull
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
        joined = few = b" " + b" ".join(words) + b" "
        if len(joined) > MANY and self._edge is not None:
            few = b" " + b" ".join(_around(self._edge, joined)) + b" "
        known: dict[bytes, bool] = {}

        def there(edge: bytes) -> bool:
            if edge not in known:
                known[edge] = edge in (joined if b"0" in edge else few)
            return known[edge]

        return [one for one in self._literals if one.whole <= words and all(map(there, one.edges))]

    def _remember(self, lines: set[bytes], found: set[bytes]) -> None:
        """Lines without literals, while there is room."""
        for line in lines:
            if len(line) <= LONGEST and not any(literal in line for literal in found):
                self._dull.add(line)
                self._size += len(line)
        if self._size > REMEMBERED:
            self._dull.clear()
            self._size = 0


def _around(expression: re.Pattern[bytes], words: bytes) -> Iterator[bytes]:
    """The words that the expression is found in."""
    match = expression.search(words)
    while match is not None:
        end = words.find(b" ", match.end())
        yield words[words.rfind(b" ", 0, match.start()) + 1 : end]
        match = expression.search(words, end)


def _trie(words: set[bytes]) -> bytes:
    """An expression for the shortest of the words at a place, without alternatives that begin alike."""
    if b"" in words:
        return b""
    rest: dict[bytes, set[bytes]] = {}
    for word in words:
        rest.setdefault(word[:1], set()).add(word[1:])
    parts = [re.escape(letter) + _trie(more) for letter, more in sorted(rest.items())]
    return parts[0] if len(parts) == 1 else b"(?:" + b"|".join(parts) + b")"
