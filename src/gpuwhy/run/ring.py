"""Ring: the first and the last bytes of what a program prints on all its streams."""

import re
import threading
from bisect import bisect

from msgspec.structs import replace

from gpuwhy.log.log import Log

HEAD, TAIL = 1 << 20, 4 << 20
TIMES, GAP = 1000, 0.2
"""How many moments of output are kept, and the seconds between two at first."""
LONGEST = 4096
"""Bytes of a line that is not complete, which others wait for no longer."""


class Ring:
    """Keeps the head and the tail of what passes, line by line in the order in which it came."""

    def __init__(self, head: int = HEAD, tail: int = TAIL) -> None:
        self._most_head, self._most_tail, self._gap = head, tail, GAP
        self._head, self._tail = bytearray(), bytearray()
        self._begun: dict[int, bytes] = {}  # by stream
        self._kept = self._lines = 0
        self._lock = threading.Lock()
        self.total = 0
        self.last = 0.0
        self.times: list[float] = []

    def add(self, chunk: bytes | memoryview, now: float, stream: int = 1) -> None:
        """Take a piece that came `now`; bounded memory, lines only counted."""
        with self._lock:
            if not self.times or now - self.times[-1] >= self._gap:
                if len(self.times) >= TIMES:
                    del self.times[1::2]
                    self._gap *= 2
                self.times.append(now)
            self.last = now
            self.total += len(chunk)
            data = self._begun.pop(stream, b"") + bytes(chunk)
            end = data.rfind(b"\n") + 1
            if len(data) - end > LONGEST:
                end = len(data)
            if data[end:]:
                self._begun[stream] = data[end:]
            self._kept += end
            self._lines += data.count(b"\n", 0, end)
            room = max(0, self._most_head - len(self._head))
            self._head += data[: min(room, end)]
            self._tail += data[min(room, end) : end]
            if len(self._tail) > 2 * self._most_tail:
                del self._tail[: -self._most_tail]

    def text(self) -> bytes:
        """What is kept; a line stands for what is not, and the tail begins with a whole line."""
        with self._lock:
            head, tail = bytes(self._head), bytes(self._tail[-self._most_tail :])
            if len(head) + len(tail) < self._kept:
                tail = tail[tail.find(b"\n") + 1 :]
                count = self._kept - len(head) - len(tail)
                head += b"" if head.endswith(b"\n") else b"\n"
                lines = max(0, self._lines - head.count(b"\n") - tail.count(b"\n"))
                head += f"[… {count:,} bytes, {lines:,} lines left out …]\n".encode()
            whole = head + tail
            for rest in self._begun.values():
                whole += rest if whole.endswith(b"\n") or not whole else b"\n" + rest
            return whole


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
