"""gpuwhy's own commands in a process that can be cancelled with all that it started."""

import contextlib
import json
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from gpuwhy.machine import FORM, NOTE, NOTES
from gpuwhy.machine.process import Child, Kept, Limits, keeper

OUTPUT = 64 << 20
"""The most that an answer may have."""
TAIL = 16 << 10
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Asked(NamedTuple):
    """How a command ended: its code (None = we ended it, and why), output, last errors."""

    code: int | None
    out: bytes
    err: str
    why: str = ""


def ourselves(argv: Sequence[str]) -> list[str]:
    """The command line that starts this gpuwhy again, isolated from PYTHONPATH and the folder."""
    root = os.path.dirname(_HERE)
    alone = os.path.isfile(os.path.join(root, ".pyz"))  # a folder of ours alone comes first
    place = "insert(0, " if alone else "append("
    start = f"import sys; sys.path.{place}{root!r}); from gpuwhy.__main__ import main; main()"
    return [sys.executable, "-I", "-c", start, *argv]


@contextlib.contextmanager
def scratch() -> Iterator[str]:
    """A file name that nobody else has; the file is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="gpuwhy-") as folder:
        yield os.path.join(folder, "record.json")


class Asking:
    """One command while it runs; `end` may come from any thread, before it starts too.

    One that is kept (Linux) runs below a keeper, the parent of whatever it leaves in any session.
    """

    def __init__(
        self, argv: Sequence[str], stdin: bytes = b"", folder: str = "", kept: bool = False
    ) -> None:
        self._argv, self._given, self._folder = ourselves(argv), stdin, folder or None
        self._kept = kept and sys.platform.startswith("linux")
        self._lock = threading.Lock()
        self._child: Child | None = None
        self._why = ""

    def go(self, seconds: float, note: Callable[[str], None]) -> Asked:
        """Run it to its end, or to its time limit; raises OSError where it cannot start."""
        out, err = Kept(OUTPUT), _Errors(note)
        argv, given = self._argv, self._given
        environ = {**os.environ, NOTES: "1", FORM: "both"}
        if self._kept:
            wanted = {"argv": argv, "executable": argv[0], "environ": environ, "limits": {}}
            wanted |= {"folder": self._folder or os.getcwd(), "input": ""}
            argv = keeper(says=False)
            given = (json.dumps(wanted) + "\n").encode()
        how: dict[str, Any] = {"environ": environ, "folder": self._folder}
        how |= {"given": given, "orders": self._kept}
        with self._lock:
            if self._why:
                return Asked(None, b"", "", self._why)
            child = self._child = Child(argv, Limits(seconds), (out.take, err.take), **how)
        code = child.wait()
        why = f"no answer within {seconds:g} s" if child.late else child.why
        return Asked(code, bytes(out.head), err.text(), why)

    def end(self, why: str = "cancelled") -> None:
        """End it with its children; nothing where it has ended."""
        with self._lock:
            self._why = self._why or why
            if self._child:
                self._child.end(why)


class _Errors:
    """Standard error: notes go on at once, of the rest the end is kept."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note, self._line, self._kept = note, b"", b""

    def take(self, piece: bytes) -> str:
        """Pass the notes on, keep what is no note."""
        *lines, rest = (self._line + piece).splitlines(keepends=True) or [b""]
        whole = rest.endswith(b"\n") or not piece or len(rest) > TAIL
        self._line = b"" if whole else rest
        for line in [*lines, rest] if whole else lines:
            text = line.decode("utf-8", "replace")
            if text.startswith(NOTE):
                self._note(text.removeprefix(NOTE).strip())
            else:
                self._kept = (self._kept + line)[-TAIL:]
        return ""

    def text(self) -> str:
        """What was kept."""
        return self._kept.decode("utf-8", "replace").strip()
