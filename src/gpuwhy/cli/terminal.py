"""The user's terminal and files: what is read, and how it is printed so that it steers nothing."""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import BinaryIO, TextIO

from gpuwhy.answer.text import plain as harmless
from gpuwhy.cli import ASKED, UsageError, refused
from gpuwhy.machine import NOTE, NOTES, reading

MOST = 256 << 20
"""The largest recording that is read."""
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_SIGNS = str.maketrans(
    {"✓": "+", "✗": "X", "·": "-", "–": "-", "…": "...", "→": "->", "“": '"', "”": '"'}
)
_LINED = re.compile(r"([\n\t])")
_TINTED = re.compile(r"([\n\t]|\x1b\[[0-9;]{1,12}m)")
_LINES = re.compile(r"[\n\r\t\v\f\x85\u2028\u2029]+")
_ORDER = re.compile(r"^(\s*)(?=::[A-Za-z-]{1,40}[ :]|##\[[a-z]{1,20}\])", re.MULTILINE)
"""A line that a workflow runner would obey."""


def read_bytes(path: str) -> bytes:
    """A file the user named, or a UsageError that says what is wrong with it."""
    try:
        if path == "-":
            return reading.whole(sys.stdin.fileno(), MOST, "standard input")
        return reading.read(path, MOST)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot read {path}: {why}") from error


def reading_of(path: str) -> AbstractContextManager[None]:
    """What goes wrong while this file is read is a mistake in what the user gave."""
    return refused(OSError, f"cannot read {'standard input' if path in ('', '-') else path}: ")


def source(path: str, hint: str = "") -> BinaryIO:
    """A file, or standard input; `hint` follows where there is no such file."""
    if path not in ("", "-"):
        with reading_of(path), refused(FileNotFoundError, f"cannot read {path}: ", hint):
            return reading.source(path)
    try:
        return os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    except (AttributeError, OSError, ValueError) as error:
        raise UsageError("cannot read standard input: it is closed") from error


def lines_of(path: str, longest: int) -> Iterator[bytes | None]:
    """The lines of a file or of standard input, None for one that is too long."""
    with source(path) as file, reading_of(path):
        yield from reading.lines(file, longest)


def write(text: str, stream: TextIO | None = None, *, orders: bool = False) -> None:
    """Print without what steers a terminal, or a workflow unless that is meant.

    Where the terminal's encoding has no such signs, with plain ones, and JSON with escapes.
    """
    stream = stream or sys.stdout
    encoding = stream.encoding or "utf-8"
    is_json = text.startswith(("{", "["))
    if is_json and encoding.lower().replace("-", "") != "utf8":
        text = _NOT_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], text)
    if not has_signs(stream):
        text = text.translate(_SIGNS)
    if not orders and not is_json:
        text = plain(text, tinted=True)
    stream.write(text.encode(encoding, "replace").decode(encoding))
    stream.flush()


def has_signs(stream: TextIO) -> bool:
    """Whether the encoding of a stream has our signs."""
    try:
        "✓✗·–…→".encode(stream.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def plain(text: str, tinted: bool = False) -> str:
    """A text of several lines without what steers a terminal or a workflow; our colours stay."""
    if not text.isprintable():
        parts = (_TINTED if tinted else _LINED).split(text)  # every second one is kept
        parts[::2] = map(harmless, parts[::2])
        text = "".join(parts)
    return _ORDER.sub(r"\1· ", text) if "::" in text or "##[" in text else text


def one_line(text: str) -> str:
    """The same of what has to be one line: it cannot begin another."""
    return plain(_LINES.sub(" ", text))


class Progress:
    """Names the step that is running on standard error, once a second has passed."""

    def __init__(self) -> None:
        self._text = "looking at the machine"
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._show, daemon=True)

    def note(self, text: str) -> None:
        """Say which step runs now."""
        self._text = one_line(text)[:200]
        if NOTES in ASKED:  # a program reads our steps, line by line
            print(f"{NOTE}{self._text}", file=sys.stderr, flush=True)

    def __enter__(self) -> Progress:
        if NOTES in ASKED:
            self.note(self._text)
        if sys.stderr.isatty():
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        if self._thread.is_alive():
            self._thread.join(0.5)

    def _show(self) -> None:
        start = time.monotonic()
        if self._done.wait(1.0):
            return
        while not self._done.wait(0.2):
            said = f"… {self._text} ({time.monotonic() - start:.0f} s)"
            print(f"\r\x1b[K{said}", end="", file=sys.stderr, flush=True)
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
