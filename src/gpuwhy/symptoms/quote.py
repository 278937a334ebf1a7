"""Quote: the beginning and the end of a log as its reader saw it, line for line, in bounded memory."""

from __future__ import annotations

from collections import deque

from gpuwhy.symptoms.text import Cutter

FIRST, LAST, WIDE = 2_000, 6_000, 4_000


class Quote:
    """Keeps lines while a log passes."""

    def __init__(self) -> None:
        self._cutter = Cutter()
        self._first: list[str] = []
        self._last: deque[str] = deque(maxlen=LAST)
        self._lines = 0

    def feed(self, chunk: bytes) -> bytes:
        """Look at a piece and hand it on."""
        for block in self._cutter.feed(chunk):
            self._take(block.data)
        return chunk

    def _take(self, data: bytes) -> None:
        for line in data.split(b"\n")[: -1 if data.endswith(b"\n") else None]:
            text = line[:WIDE].decode("utf-8", "replace")
            self._lines += 1
            if len(self._first) < FIRST:
                self._first.append(text)
            else:
                self._last.append(text)

    def text(self) -> str:
        """What was kept; a line tells how many are not."""
        for block in self._cutter.flush():
            self._take(block.data)
        left = self._lines - len(self._first) - len(self._last)
        gap = [f"[… 0 bytes, {left:,} lines left out …]"] if left else []
        return "\n".join([*self._first, *gap, *self._last])
