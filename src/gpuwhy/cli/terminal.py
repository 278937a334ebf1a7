"""The user's terminal and files, for every command: what is read, and how it is printed."""

from __future__ import annotations

import json
import re
import sys
from typing import TextIO

from gpuwhy.machine import reading
from gpuwhy.cli.plain import plain
from gpuwhy.cli import UsageError

MOST = 256 << 20
"""The largest recording that is read."""
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_PLAIN = str.maketrans({"✓": "+", "✗": "X", "·": "-", "–": "-", "…": "...", "→": "->", "“": '"', "”": '"'})


def read_bytes(path: str) -> bytes:
    """A file the user named, or a UsageError that says what is wrong with it."""
    try:
        if path == "-":
            return reading.whole(sys.stdin.fileno(), MOST, "standard input")
        return reading.read(path, MOST)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error


def write(text: str, stream: TextIO | None = None, *, orders: bool = False) -> None:
    """Print without what steers a terminal, or a workflow unless that is meant.

    Where the terminal's encoding has no such signs, with plain ones, and JSON with escapes.
    """
    stream = stream or sys.stdout
    encoding = stream.encoding or "utf-8"
    if text.startswith(("{", "[")) and encoding.lower().replace("-", "") != "utf8":
        text = _NOT_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], text)
    try:
        "✓✗·–…→".encode(encoding)
    except UnicodeEncodeError:
        text = text.translate(_PLAIN)
    if not orders and not text.startswith(("{", "[")):
        text = plain(text, tinted=True)
    stream.write(text.encode(encoding, "replace").decode(encoding))
    stream.flush()
