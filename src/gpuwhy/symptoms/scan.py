"""One pass over a text for many literals: hyperscan where it is installed, the standard library elsewhere."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cache, cached_property
from typing import Any

from gpuwhy.symptoms.shape import Shapes
from gpuwhy.symptoms.sieve import Sieve, Within

LONG = 8192
"""A line longer than this is read in windows of that size around what was found in it."""
HALF = LONG // 2


class Hits:
    """A line that holds anchors: its number, its text, and which anchors."""

    __slots__ = ("anchors", "line", "text")

    def __init__(self, line: int, text: bytes, anchors: set[int]) -> None:
        self.line, self.text, self.anchors = line, text, anchors


class Scanner:
    """Finds the lines of a block that hold any of the anchors (lower case, as UTF-8).

    `weak` are anchors of messages that decide nothing: in a large block only the first line of each is taken.
    """

    def __init__(self, anchors: tuple[str, ...], weak: frozenset[str] = frozenset(), *, fast: bool = True) -> None:
        self.anchors = tuple(a.encode() for a in anchors)
        self.weak = frozenset(n for n, a in enumerate(anchors) if a in weak)
        self._allowed = fast

    @property
    def _engine(self) -> Any:
        """Compiled when the first large block comes."""
        return _hyperscan(self.anchors, self.weak) if self._allowed else None

    @cached_property
    def _sieve(self) -> Sieve:
        return Sieve(self.anchors)

    @property
    def dull(self) -> Set[bytes]:
        """Lines, in lower case and with every digit 0, that are known to hold no anchor."""
        return self._sieve.dull

    @cached_property
    def _within(self) -> Within:
        return Within(self.anchors)

    def within(self, low: bytes) -> set[int]:
        """All anchors in a short text in lower case."""
        return self._within.numbers(low)

    @cached_property
    def _shapes(self) -> Shapes:
        return Shapes(self.anchors)

    def held(self, lines: Sequence[bytes], without: Set[int]) -> list[frozenset[int]]:
        """What each of some short lines may hold; anchors without a word only where they are not in `without`."""
        return self._shapes.held(lines, without)

    @property
    def engine(self) -> str:
        """Which engine does the work."""
        return "hyperscan" if self._engine is not None else "python"

    def hits(self, block: bytes, first: int, common: Set[int] = frozenset()) -> Iterator[Hits]:
        """The lines with anchors, in order; of a long line the windows with anchors. Of `common` the first alone."""
        line, counted = first, 0
        for start, text, anchors in _lines(block, sorted(self._found(block, common))):
            line += block.count(b"\n", counted, start)
            counted = start
            yield Hits(line, text, anchors)

    def _found(self, block: bytes, common: Set[int]) -> Iterable[tuple[int, int]]:
        """The places of anchors, and which."""
        if len(block) <= LONG:
            return self._places(block, range(len(self.anchors)), common)
        if self._engine is not None:
            return self._fast(block, common)
        return self._places(block, self._sieve.may_hold(block, common), self.weak | common)

    def _places(self, block: bytes, numbers: Sequence[int], once: Set[int]) -> Iterator[tuple[int, int]]:
        low = block.lower() if numbers else b""
        for number in numbers:
            anchor = self.anchors[number]
            at = low.find(anchor)
            while at >= 0:
                yield at, number
                at = low.find(anchor, at + 1) if number not in once else -1

    def _fast(self, block: bytes, common: Set[int]) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        lengths, seen = [len(a) for a in self.anchors], set[int]()

        def met(number: int, start: int, end: int, flags: int, context: Any) -> None:
            if number not in seen:
                found.append((end - lengths[number], number))
            if number in common:
                seen.add(number)

        self._engine.scan(block, match_event_handler=met)
        return found


def _lines(block: bytes, found: Iterable[tuple[int, int]]) -> Iterator[tuple[int, bytes, set[int]]]:
    """The places, in order, by line (a carriage return starts one too), or by window where a line is long."""
    begin = end = start = last = -1
    anchors: set[int] = set()
    for at, anchor in found:
        if at >= end:
            begin = max(block.rfind(b"\n", max(end, 0), at), block.rfind(b"\r", max(end, 0), at), end) + 1
            end = _end(block, at)
        where = begin if end - begin <= LONG else max(begin, begin + (at - begin) // HALF * HALF - HALF // 2)
        if where != start and anchors:
            yield start, block[start : min(last, start + LONG)], anchors
            anchors = set()
        start, last = where, end
        anchors.add(anchor)
    if anchors:
        yield start, block[start : min(last, start + LONG)], anchors


def _end(block: bytes, at: int) -> int:
    """Where the line ends."""
    end = block.find(b"\n", at)
    end = end if end >= 0 else len(block)
    back = block.find(b"\r", at, end)
    return back if back >= 0 else end


@cache
def _hyperscan(anchors: tuple[bytes, ...], weak: frozenset[int]) -> Any:
    """A compiled database, or None where hyperscan is not installed."""
    with contextlib.suppress(Exception):
        import hyperscan

        engine = hyperscan.Database()
        engine.compile(
            expressions=[_quoted(a) for a in anchors],
            ids=list(range(len(anchors))),
            elements=len(anchors),
            flags=[
                hyperscan.HS_FLAG_CASELESS | (hyperscan.HS_FLAG_SINGLEMATCH if n in weak else 0)
                for n in range(len(anchors))
            ],
        )
        return engine
    return None


def _quoted(anchor: bytes) -> bytes:
    return b"".join(b"\\x%02x" % byte for byte in anchor)
