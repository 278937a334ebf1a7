"""Ring: the first and the last bytes of a stream and when they came; two buffers at most."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from gpuwhy.log.log import Log

HEAD, TAIL = 1 << 20, 4 << 20
MARKS = 1000
GAP = 0.2


class Ring:
    """Keeps the head and the tail of what passes, and marks of time: (seconds, offset)."""

    def __init__(self, head: int = HEAD, tail: int = TAIL) -> None:
        self._most_head, self._most_tail = head, tail
        self._head, self._tail = bytearray(), bytearray()
        self.total = 0
        self.lines = 0
        self.last = 0.0
        self.marks: list[tuple[float, int]] = []
        self._gap = GAP

    def add(self, chunk: bytes | memoryview, now: float) -> None:
        """Take a piece that came `now`; bounded memory, lines only counted."""
        if not self.marks or now - self.marks[-1][0] >= self._gap:
            if len(self.marks) >= MARKS:
                del self.marks[1::2]
                self._gap *= 2
            self.marks.append((now, self.total))
        self.last = now
        room = max(0, self._most_head - len(self._head))
        self._head += chunk[:room]
        self._tail += chunk[room:]
        if len(self._tail) > 2 * self._most_tail:
            del self._tail[: -self._most_tail]
        self.total += len(chunk)
        self.lines += bytes(chunk).count(b"\n")

    @property
    def left_out(self) -> int:
        """Bytes between head and tail that are not kept."""
        return max(0, self.total - self._most_head - self._most_tail)

    def parts(self) -> list[tuple[int, bytes]]:
        """The kept bytes with the offset at which each part starts: the head, then the tail."""
        tail = bytes(self._tail[-self._most_tail :])
        return [(0, bytes(self._head)), (self.total - len(tail), tail)][: 2 if tail else 1]

    def _runs(self) -> list[tuple[int, bytes]]:
        """The parts, as one where nothing is missing between them: a line may cross the border."""
        parts = self.parts()
        return parts if self.left_out else [(0, b"".join(data for _, data in parts))]

    def pieces(self) -> Iterator[tuple[float, bytes]]:
        """What is kept, cut at line ends, with the time at which each piece was complete."""
        for start, data in self._runs():
            if start > len(self._head):  # something is missing before: begin with a whole line
                whole = data.find(b"\n") + 1
                start, data = start + whole, data[whole:]
                lines = self._lines_before(data)
                yield (
                    self._when(start),
                    f"[… {self.left_out:,} bytes, {lines:,} lines left out …]\n".encode(),
                )
            yield from self._cut(start, data)

    def _lines_before(self, tail: bytes) -> int:
        """The lines of which nothing is kept, where the tail begins with a whole line."""
        begun = not self._head.endswith(b"\n")
        return max(0, self.lines - self._head.count(b"\n") - tail.count(b"\n") - begun)

    def _cut(self, start: int, data: bytes) -> Iterator[tuple[float, bytes]]:
        done = 0
        for _, offset in self.marks:
            end = data.rfind(b"\n", done, max(done, offset - start)) + 1
            if end > done:
                yield self._when(start + end - 1), data[done:end]
                done = end
        if data[done:]:
            yield self._when(start + len(data) - 1), data[done:]

    def _when(self, offset: int) -> float:
        return next((time for time, at in reversed(self.marks) if at <= offset), 0.0)


_LEFT_OUT = re.compile(r"^\[… [\d,]+ bytes, ([\d,]+) lines left out …\]$", re.MULTILINE)


def as_printed(log: Log, text: str) -> Log:
    """A log with the line numbers of the whole output, of which `text` keeps both ends."""
    starts, shifts, shift = [0], [0], 0
    line, done = 1, 0
    for found in _LEFT_OUT.finditer(text):
        line, done = line + text.count("\n", done, found.start()), found.start()
        shift += int(found[1].replace(",", "")) - 1
        starts.append(line)
        shifts.append(shift)
    if not shift:
        return log

    def real(number: int) -> int:
        return number + shifts[bisect(starts, number - 1) - 1] if number else 0

    messages = (replace(one, line=real(one.line), last=real(one.last)) for one in log.messages)
    ending = replace(log.ending, line=real(log.ending.line))
    return replace(log, messages=tuple(messages), lines=real(log.lines), ending=ending)


def merged(rings: Iterable[Ring]) -> bytes:
    """Several streams as one text, in the order in which it came as far as the marks tell."""
    pieces = [(time, n, data) for n, ring in enumerate(rings) for time, data in ring.pieces()]
    pieces.sort(key=lambda piece: piece[:2])
    whole = [data if data.endswith(b"\n") else data + b"\n" for _, _, data in pieces[:-1]]
    return b"".join([*whole, *(data for _, _, data in pieces[-1:])])
