"""One pass over a text for many literals: hyperscan where it is installed, the standard library elsewhere."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

LONG = 8192
"""A line longer than this is read around what was found in it."""


_DIGITS = re.compile(rb"[0-9]+")


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
        self._weak = frozenset(n for n, a in enumerate(anchors) if a in weak)
        self._allowed = fast

    @property
    def _engine(self) -> Any:
        """Compiled when the first large block comes."""
        return _hyperscan(self.anchors, self._weak) if self._allowed else None

    @property
    def engine(self) -> str:
        """Which engine does the work."""
        return "hyperscan" if self._engine is not None else "python"

    def hits(self, block: bytes, first: int) -> Iterator[Hits]:
        """The lines with anchors, in order."""
        small = len(block) <= LONG
        found = self._plain(block, small) if small or self._engine is None else self._fast(block)
        by_line: dict[int, set[int]] = {}
        where: dict[int, int] = {}
        for position, anchor in found:
            start = _line_start(block, position)
            by_line.setdefault(start, set()).add(anchor)
            where.setdefault(start, position)
        line, counted = first, 0
        for start in sorted(by_line):
            line += block.count(b"\n", counted, start)
            counted = start
            yield Hits(line, _line(block, start, where[start]), by_line[start])

    def _plain(self, block: bytes, small: bool) -> Iterator[tuple[int, int]]:
        low = block.lower()
        for number in range(len(self.anchors)) if small else self._present(low):
            anchor = self.anchors[number]
            at = low.find(anchor)
            while at >= 0:
                yield at, number
                at = low.find(anchor, _skip(low, at)) if small or number not in self._weak else -1

    def _present(self, low: bytes) -> Iterator[int]:
        """The anchors that may be in a large block: looked for in its lines without digits, each taken once."""
        shapes = b"\n".join(set(_DIGITS.sub(b"", low).split(b"\n")))
        return (n for n, anchor in enumerate(self.anchors) if _DIGITS.sub(b"", anchor) in shapes)

    def _fast(self, block: bytes) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        lengths = [len(a) for a in self.anchors]

        def seen(number: int, start: int, end: int, flags: int, context: Any) -> None:
            found.append((end - lengths[number], number))

        self._engine.scan(block, match_event_handler=seen)
        return found


def _skip(block: bytes, at: int) -> int:
    """Where to look on: the next line, or some way down a very long one."""
    end = block.find(b"\n", at, at + LONG)
    return end + 1 if end >= 0 else at + LONG


def _line_start(block: bytes, at: int) -> int:
    """The start of the line (a carriage return starts one too); inside a very long line, a place before."""
    low = max(0, at - LONG)
    start = max(block.rfind(b"\n", low, at), block.rfind(b"\r", low, at)) + 1
    return start if start else (0 if low == 0 else at - LONG // 4)


def _line(block: bytes, start: int, at: int) -> bytes:
    end = block.find(b"\n", at, start + LONG)
    end = end if end >= 0 else min(len(block), start + LONG)
    back = block.find(b"\r", at, end)
    return block[start : back if back >= 0 else end]


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
