"""Kept: the beginning and the end of a text while it passes, in bounded memory."""

from __future__ import annotations

from collections import deque

KEPT = 512 << 10


class Kept:
    """The beginning and the end of a text while it passes."""

    def __init__(self) -> None:
        self.first, self.last = b"", deque[bytes]()
        self.held = 0

    def feed(self, piece: bytes) -> bytes:
        """Look at a piece and hand it on."""
        if len(self.first) < KEPT:
            self.first += piece[: KEPT - len(self.first)]
        self.last.append(piece[-KEPT:])
        self.held += len(self.last[-1])
        while self.held - len(self.last[0]) > KEPT:
            self.held -= len(self.last.popleft())
        return piece

    def text(self) -> str:
        """What was kept."""
        end = b"".join(self.last)
        return (self.first if len(end) <= len(self.first) else self.first + b"\n" + end).decode("utf-8", "replace")
