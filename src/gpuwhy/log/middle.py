"""Middle: a large text between its beginning and its end, read in part.

A line shape that comes back is counted, not read again. A row whose expressions matched MATCHED
times, or failed FAILED times, is taken out of the search.
"""

from __future__ import annotations

import re

from gpuwhy.log.lines import Line, unprefixed
from gpuwhy.log.match import Found, Rows
from gpuwhy.log.scan import Literals

MATCHED, FAILED = 48, 200
SHAPES = 1 << 15
"""How many line shapes are remembered."""
REACH = 2048
"""Bytes around a literal that are read of a long line."""
_ANSI = re.compile(rb"\x1b\[[0-9;?]*[ -/]*[@-~]")
_DIGITS = bytes.maketrans(b"123456789", b"0" * 9)
Key = object


class Middle:
    """Takes blocks of whole lines and collects the messages on them."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.literals = Literals(rows.literals.words)
        self._tried: dict[int, list[int]] = {}
        self._out: set[int] = set()
        self._shapes: dict[bytes, tuple[Found, ...]] = {}
        self._found: dict[Key, Found] = {}
        self.sampled = not self.literals.fast

    @property
    def note(self) -> str:
        """What was not read."""
        if not self.literals.fast:
            return "a large text: its middle was not read (install ahocorasick_rs to read it)"
        return "a large text with many different messages: its middle was read in part"

    def found(self) -> list[Found]:
        """The messages so far, in order."""
        return list(self._found.values())

    def feed(self, block: bytes, first: int) -> None:
        """Read a block whose first line has this number."""
        if not self.literals.fast:
            return
        if b"\x1b" in block:
            block = _ANSI.sub(b"", block)
        lower = block.lower()
        number, counted = first, 0
        start = end = -1
        held: set[int] = set()
        for literal, at in self.literals.found(lower):
            if at >= end:
                if held:
                    self._line(block[start:end], number, held)
                held = set()
                start, end = _bounds(lower, at)
                number += lower.count(b"\n", counted, start)
                counted = start
            held.add(literal)
        if held:
            self._line(block[start:end], number, held)
        self._thin()

    def _line(self, data: bytes, number: int, literals: set[int]) -> None:
        shape = data.translate(_DIGITS)
        known = self._shapes.get(shape)
        if known is not None:
            for one in known:
                one.times += 1
                one.last = number
            return
        raw = data.decode("utf-8", "replace").strip()
        line = Line(number, raw, unprefixed(raw), raw)
        found = []
        for one in self.rows.on_line(line, literals, self._tried, self._out):
            old = self._found.setdefault(one.key, one)
            if old is not one:
                old.times += 1
                old.last = number
            found.append(old)
        if len(self._shapes) < SHAPES:
            self._shapes[shape] = tuple(found)

    def _thin(self) -> None:
        """Take out the rows that were tried often enough."""
        spent = {
            row
            for row, (matched, failed) in self._tried.items()
            if matched >= MATCHED or failed >= FAILED
        } - self._out
        if not spent:
            return
        self.sampled = True
        self._out |= spent
        touched = {literal for row in spent for literal in self.rows.literals_of_row[row]}
        self.literals.without(
            one for one in touched if self._out.issuperset(self.rows.of_literal[one])
        )


def _bounds(text: bytes, at: int) -> tuple[int, int]:
    """The line around a place; of a long one what stands near it."""
    start = max(
        text.rfind(b"\n", max(0, at - REACH), at), text.rfind(b"\r", max(0, at - REACH), at)
    )
    start = start + 1 if start >= 0 else max(0, at - REACH)
    ends = (text.find(mark, at, at + REACH) for mark in (b"\n", b"\r"))
    end = min((one for one in ends if one >= 0), default=min(len(text), at + REACH))
    return start, max(end, at + 1)
