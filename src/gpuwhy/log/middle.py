"""Middle: a large text between its beginning and its end, read in part.

Only rows of failures are looked for, and none in anybody's words. A line shape that comes back is
counted, not read again. A row whose expressions matched MATCHED times, or failed FAILED times, is
taken out of the search.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from gpuwhy.log.lines import Line, unprefixed
from gpuwhy.log.match import Found, Rows
from gpuwhy.log.scan import Literals

MATCHED, FAILED = 48, 200
FAILING = ("error", "echo", "harmless")
PROSE = ("title.", "said.", "remark.", "shadow.said")
"""What is said in anybody's words: such literals stand in every second line."""
OFTEN = 64
"""After so many lines it is looked which rows were tried often enough."""
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
        self._out: set[int] = {
            number
            for number, row in enumerate(rows.rows)
            if row.role not in FAILING or row.id.startswith(PROSE)
        }
        self._drop(self._out)
        self._dropped = set[int]()
        self._lines = 0
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
        shapes = lower.translate(_DIGITS).split(b"\n")
        new = self._count(shapes, first)
        if not new:
            return
        for place in new:
            if len(shapes[place]) <= REACH and len(self._shapes) < SHAPES:
                self._shapes[shapes[place]] = ()
        lines = block.split(b"\n")
        text = lower
        if len(new) < len(lines):
            lowered = lower.split(b"\n")
            text = b"\n".join([lowered[place] for place in new])
        for place, start, held in self._hits(text):
            line = lines[new[place]]
            at = max(0, start - REACH) if len(line) > 2 * REACH else 0
            part = line[at : at + 2 * REACH] if len(line) > 2 * REACH else line
            self._line(part, shapes[new[place]], first + new[place], held)
        self._thin()

    def _count(self, shapes: list[bytes], first: int) -> list[int]:
        """Count the lines whose shape is known; the places of the others."""
        new = []
        known = self._shapes
        for place, shape in enumerate(shapes):
            found = known.get(shape)
            if found is None:
                new.append(place)
            elif found:
                for one in found:
                    one.times += 1
                    one.last = first + place
        return new

    def _hits(self, text: bytes) -> Iterator[tuple[int, int, set[int]]]:
        """For each line with literals its place, where the first stands in it, and the literals;
        a long line comes in parts.
        """
        place = start = 0
        end, held, at_first = text.find(b"\n"), set[int](), 0
        end = len(text) if end < 0 else end
        for literal, at in self.literals.found(text):
            if at >= end or (held and at - start - at_first > REACH):
                if held:
                    yield place, at_first, held
                    held = set()
                while at >= end:
                    place, start = place + 1, end + 1
                    found = text.find(b"\n", start)
                    end = len(text) if found < 0 else found
            if not held:
                at_first = at - start
            held.add(literal)
        if held:
            yield place, at_first, held

    def _line(self, data: bytes, shape: bytes, number: int, literals: set[int]) -> None:
        self._lines += 1
        if self._lines % OFTEN == 0:
            self._out |= self._spent()
        wanted = (self.rows.of_literal[one] for one in literals)
        if all(self._out.issuperset(rows) for rows in wanted):
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
        if found and shape in self._shapes:
            self._shapes[shape] = tuple(found)

    def _spent(self) -> set[int]:
        """The rows that were tried often enough."""
        return {
            row
            for row, (matched, failed) in self._tried.items()
            if matched >= MATCHED or failed >= FAILED
        }

    def _thin(self) -> None:
        """Take the rows out that were tried often enough."""
        spent = self._spent()
        if spent - self._dropped:
            self.sampled = True
            self._out |= spent
            self._drop(spent - self._dropped)
            self._dropped |= spent

    def _drop(self, rows: Iterable[int]) -> None:
        """Look no more for literals that only rows want which are out."""
        touched = {literal for row in rows for literal in self.rows.literals_of_row.get(row, ())}
        self.literals.without(
            one for one in touched if self._out.issuperset(self.rows.of_literal[one])
        )
