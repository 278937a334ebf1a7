"""Progress: one line on the terminal's standard error, shown only when something takes longer than a second."""

from __future__ import annotations

import os
import sys
import threading
import time

from gpuwhy.machine.asking import NOTE, NOTES
from gpuwhy.cli.plain import one_line


class Progress:
    """Names the step that is running, once a second has passed; clears itself."""

    def __init__(self, after: float = 1.0) -> None:
        self._after = after
        self._text = "looking at the machine"
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._show, daemon=True)
        self._shown = False
        self._told = bool(os.environ.get(NOTES))  # a program reads our steps, line by line

    def note(self, text: str) -> None:
        """Say which step runs now."""
        self._text = one_line(text)[:200]
        if self._told:
            print(f"{NOTE}{self._text}", file=sys.stderr, flush=True)

    def __enter__(self) -> Progress:
        if self._told:
            self.note(self._text)
        if sys.stderr.isatty():
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        if self._thread.is_alive():
            self._thread.join(0.5)
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def _show(self) -> None:
        start = time.monotonic()
        if self._done.wait(self._after):
            return
        while not self._done.wait(0.2):
            self._shown = True
            print(f"\r\x1b[K… {self._text} ({time.monotonic() - start:.0f} s)", end="", file=sys.stderr, flush=True)
