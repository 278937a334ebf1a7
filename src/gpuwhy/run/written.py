"""What a watched program wrote to a file instead: redirected output, a log that it names."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator

from gpuwhy.machine.reading import regular
from gpuwhy.run.child import Ended

TAIL, FILES, LINES = 1 << 16, 4, 60
"""How many bytes of a file, how many files, and how many last lines of the output are read."""
EARLY = 2.0
"""Seconds by which the clock of a file system may lag."""
_NAMED = re.compile(
    r"(?<![\w./~-])(?P<path>~?[\w./@%+-]{0,200}[\w-]\.(?:log|out|err|txt|stderr|stdout))\b"
)
"""A file's name in the last words of a program."""


def elsewhere(ended: Ended, output: str, folder: str) -> tuple[str, ...]:
    """The ends of the files that the program wrote while it ran, of standard error last."""
    began = time.time() - (time.monotonic() - ended.began) - EARLY
    found: dict[str, None] = {}
    for path in (*_named(output, folder), *_opened(ended)):
        if _fresh(path, began):
            found.pop(os.path.realpath(path), None)
            found[os.path.realpath(path)] = None
    texts = (_tail(path) for path in list(found)[-FILES:])
    return tuple(text for text in texts if text.strip() and text.strip() not in output)


def _opened(ended: Ended) -> Iterator[str]:
    """The files into which its processes were seen to write, standard error last."""
    rows = [row for one in ended.samples.seen.values() for row in one.get("writes", ())]
    yield from (path for _, path in sorted(rows, key=lambda row: row[0] == 2))


def _named(output: str, folder: str) -> Iterator[str]:
    last = "\n".join(output.splitlines()[-LINES:])
    for found in _NAMED.finditer(last):
        yield os.path.join(folder or ".", os.path.expanduser(found["path"]))


def _fresh(path: str, began: float) -> bool:
    """Whether it is a file that was written since the program began."""
    try:
        return os.path.isfile(path) and os.path.getmtime(path) >= began
    except OSError:
        return False


def _tail(path: str) -> str:
    try:
        with os.fdopen(regular(path), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL))
            data = file.read(TAIL)
    except OSError:
        return ""
    return "" if b"\0" in data else data.decode("utf-8", "replace")
