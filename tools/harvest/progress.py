"""Progress: one line with counts, bytes and the time left; every tenth of the way when nobody watches a terminal."""

from __future__ import annotations

import sys
import threading
import time

from tools.harvest.web import Web


class Progress:
    """Counts finished files of one stage."""

    def __init__(self, stage: str, total: int, web: Web) -> None:
        self._stage, self._total, self._web = stage, total, web
        self._start, self._bytes = time.monotonic(), web.received
        self._lock = threading.Lock()
        self.done = self.failed = self._shown = 0

    def step(self, ok: bool) -> None:
        """One more file is finished."""
        with self._lock:
            self.done += 1
            self.failed += not ok
            if sys.stderr.isatty():
                print("\r\x1b[K" + self.line(), end="", file=sys.stderr, flush=True)
            elif self.done * 10 // self._total > self._shown:
                self._shown = self.done * 10 // self._total
                print(self.line(), file=sys.stderr, flush=True)

    def line(self) -> str:
        """What the bar says now."""
        seconds = time.monotonic() - self._start
        left = seconds / max(self.done, 1) * (self._total - self.done)
        share = self.done * 20 // max(self._total, 1)
        amount = (self._web.received - self._bytes) / 1e6
        return (
            f"{self._stage} [{'#' * share}{'.' * (20 - share)}] {self.done}/{self._total}, {self.failed} failed, "
            f"{amount:,.0f} MB, {amount / max(seconds, 0.1):.1f} MB/s, {seconds:.0f} s, {left:.0f} s left"
        )

    def end(self) -> None:
        """Finish the line."""
        if self._total and sys.stderr.isatty():
            print(file=sys.stderr)
