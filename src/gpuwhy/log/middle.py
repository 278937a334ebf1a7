"""Middle: a large text between its beginning and its end, read in part.

Only rows of failures are looked for, and none in anybody's words. A line shape that comes back is
counted, not read again. A row whose expressions matched MATCHED times, or failed FAILED times, is
taken out of the search.
"""

import re
from collections.abc import Iterator

from gpuwhy.log.lines import Line, unprefixed
from gpuwhy.log.match import Rows
from gpuwhy.log.message import Message
from gpuwhy.log.scan import Literals

MATCHED, FAILED = 48, 200
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


class Middle:
    """Takes blocks of whole lines and collects the messages on them."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.found: dict[object, Message] = {}  # in order
        self._literals = Literals(rows.literals.words)
        self._tried: dict[int, list[int]] = {}
        self._lines = 0
        self._shapes: dict[bytes, tuple[Message, ...]] = {}
        self._out: set[int] = {  # rows that are not looked for
            number
            for number, row in enumerate(rows.rows)
            if row.role not in ("error", "echo", "harmless") or row.id.startswith(PROSE)
        }
        self._drop()
        self.note = ""  # what was not read
        if not self._literals.fast:
            self.note = "a large text: its middle was not read (install ahocorasick_rs to read it)"

    def feed(self, block: bytes, first: int) -> None:
        """Read a block whose first line has this number."""
        if not self._literals.fast:
            return
        if b"\x1b" in block:
            block = _ANSI.sub(b"", block)
        lowered, lines = block.lower().split(b"\n"), block.split(b"\n")
        new: list[tuple[int, bytes]] = []  # the lines whose shape is not known
        for place, shape in enumerate(b"\n".join(lowered).translate(_DIGITS).split(b"\n")):
            known = self._shapes.get(shape)
            for one in known or ():
                one.times += 1
                one.last = first + place
            if known is None:
                new.append((place, shape))
        room = SHAPES - len(self._shapes)
        self._shapes.update((shape, ()) for _, shape in new[:room] if len(shape) <= REACH)
        for at, start, held in self._hits(b"\n".join([lowered[place] for place, _ in new])):
            place, shape = new[at]
            line = lines[place]
            if len(line) > 2 * REACH:
                begin = max(0, start - REACH)
                line = line[begin : begin + 2 * REACH]
            self._line(line, shape, first + place, held)
        self._out |= self._spent()
        if len(self._out) > self._dropped:
            self._drop()
            self.note = "a large text with many different messages: its middle was read in part"

    def _hits(self, text: bytes) -> Iterator[tuple[int, int, set[int]]]:
        """For each line with literals its place, where the first stands in it, and the literals;
        a long line comes in parts.
        """
        place = start = 0
        end, held, at_first = text.find(b"\n"), set[int](), 0
        end = len(text) if end < 0 else end
        for literal, at in self._literals.found(text):
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
        if all(self._out.issuperset(self.rows.of_literal[one]) for one in literals):
            return
        raw = data.decode("utf-8", "replace").strip()
        line = Line(number, raw, unprefixed(raw), raw)
        found = []
        for one in self.rows.on_line(line, literals, self._out, self._tried):
            old = self.found.setdefault(one.key, one)
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

    def _drop(self) -> None:
        """Look no more for literals that only rows want which are out."""
        self._dropped = len(self._out)
        wanted = enumerate(self.rows.of_literal)
        self._literals.without([one for one, rows in wanted if self._out.issuperset(rows)])
