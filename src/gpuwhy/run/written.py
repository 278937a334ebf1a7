"""What a watched program wrote to files instead: redirected output, a log, what one rank left."""

import glob
import json
import os
import re
import time
from collections.abc import Sequence

from gpuwhy.machine.reading import regular
from gpuwhy.run.child import Ended
from gpuwhy.run.tables import pattern

TAIL, FILES, LINES = 1 << 16, 4, 60
"""How many bytes of a file, how many files, and how many last lines of the output are read."""
EARLY = 2.0
"""Seconds by which the clock of a file system may lag."""
_NAMED = re.compile(
    r"(?<![\w./~-])(?P<path>~?[\w./@%+-]{0,200}[\w-]\.(?:log|out|err|txt|stderr|stdout))\b"
)
"""A file's name in the last words of a program."""
_ROOT = re.compile(
    r"Root Cause \(first observed failure\):.{0,400}?rank\s*: (?P<rank>\d+) "
    r"\(local_rank: (?P<local>\d+)\).{0,200}?error_file\s*: (?P<file>\S+)",
    re.DOTALL,
)
"""torchrun's block on the process that failed first."""


def elsewhere(ended: Ended, output: str, folder: str) -> tuple[str, ...]:
    """The ends of the files that the program wrote while it ran, of standard error last."""
    began = time.time() - (time.monotonic() - ended.began) - EARLY
    last = _NAMED.finditer("\n".join(output.splitlines()[-LINES:]))
    named = (os.path.join(folder or ".", os.path.expanduser(one["path"])) for one in last)
    seen = (row for one in ended.samples.seen.values() for row in one.get("writes", ()))
    opened = (path for _, path in sorted(seen, key=lambda row: row[0] == 2))
    found: dict[str, None] = {}
    for path in map(os.path.realpath, (*named, *opened)):
        if os.path.isfile(path) and os.path.getmtime(path) >= began:
            found.pop(path, None)
            found[path] = None
    texts = (_tail(path) for path in list(found)[-FILES:])
    return tuple(text for text in texts if text.strip() and text.strip() not in output)


def _tail(path: str) -> str:
    try:
        with os.fdopen(regular(path), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL))
            data = file.read(TAIL)
    except OSError:
        return ""
    return "" if b"\0" in data else data.decode("utf-8", "replace")


def first_rank(output: str) -> str:
    """The rank that failed first, or ""."""
    found = _ROOT.search(output) or pattern("first_rank").search(output)
    return next(filter(None, found.groups()), "") if found else ""


def of_first_rank(argv: Sequence[str], output: str) -> tuple[list[str], list[str]]:
    """What the rank that failed first wrote: logs, which go before the output; its exception."""
    root = _ROOT.search(output)
    if root is None:
        return [], []
    words = [word.replace("_", "-") for word in argv]
    options = [word.partition("=") for word in argv]
    at = next((n for n, word in enumerate(words) if word.startswith("--log-dir")), -1)
    folder = "".join(options[at][2] or argv[at + 1 : at + 2]) if at >= 0 else ""
    pattern = f"{glob.escape(folder)}/*/attempt_*/{root['local']}/std*.log"
    files = sorted(glob.glob(pattern), key=os.path.getmtime) if folder else []
    try:
        said = json.loads(_tail(root["file"]))["message"]
    except (ValueError, KeyError, TypeError):
        said = ""
    if isinstance(said, dict):
        said = said.get("extraInfo", {}).get("py_callstack") or said.get("message", "")
    return [_tail(path) for path in files[-2:]], [str(said)] if said else []
