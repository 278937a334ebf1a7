"""Asking: gpuwhy's own commands in a process that can be cancelled with all that it started."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import IO, NamedTuple

from gpuwhy.machine import FORM, NOTE, NOTES
from gpuwhy.machine.process import CHILDREN, kill_group

OUTPUT = 64 << 20
"""The most that an answer may have."""
TAIL = 16 << 10
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_KEEPER = os.path.join(CHILDREN, "keeper.py")


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


def keeps() -> bool:
    """Whether this system lets us end whatever a program leaves behind."""
    return sys.platform.startswith("linux")


class Asking:
    """One command while it runs; `end` may come from any thread, before it starts too."""

    def __init__(
        self, argv: Sequence[str], stdin: bytes = b"", folder: str = "", kept: bool = False
    ) -> None:
        self._argv, self._stdin, self._folder = list(argv), stdin, folder or None
        self._kept = kept and keeps()
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._orders = -1
        self._why = ""

    def go(self, seconds: float, note: Callable[[str], None]) -> Asked:
        """Run it to its end, or to its time limit; raises OSError where it cannot start."""
        says = -1
        with self._lock:
            if self._why:
                return Asked(None, b"", "", self._why)
            child, says = self._start()
            self._child = child
        timer = threading.Timer(seconds, self.end, (f"no answer within {seconds:g} s",))
        timer.daemon = True
        timer.start()
        try:
            return self._followed(child, says, note)
        finally:
            timer.cancel()
            self._let_go(says)

    def end(self, why: str = "cancelled") -> None:
        """End it with its children; nothing where it has ended."""
        with self._lock:
            self._why = self._why or why
            if self._child is None or self._child.returncode is not None:
                return
            if self._orders >= 0:
                os.close(self._orders)  # the keeper ends everything
                self._orders = -1
            elif not self._kept:
                kill_group(self._child.pid)

    def _start(self) -> tuple[subprocess.Popen[bytes], int]:
        environ = {**os.environ, NOTES: "1", FORM: "both"}
        if self._kept:
            return self._start_kept(environ)
        child = subprocess.Popen(
            ourselves(self._argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self._folder,
            env=environ,
            start_new_session=True,
        )
        return child, -1

    def _start_kept(self, environ: dict[str, str]) -> tuple[subprocess.Popen[bytes], int]:
        """Below a keeper, who is the parent of whatever is left behind, in any session."""
        source, orders = os.pipe()
        says, out = os.pipe()
        try:
            child = subprocess.Popen(
                [sys.executable, "-I", "-S", _KEEPER, str(source), str(out)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(source, out),
                start_new_session=True,
            )
        except OSError:
            os.close(orders)
            os.close(says)
            raise
        finally:
            os.close(source)
            os.close(out)
        argv = ourselves(self._argv)
        wanted = {
            "argv": argv,
            "executable": argv[0],
            "environ": environ,
            "folder": self._folder or os.getcwd(),
        }
        os.write(orders, (json.dumps({**wanted, "limits": {}, "input": ""}) + "\n").encode())
        self._orders = orders
        return child, says

    def _followed(
        self, child: subprocess.Popen[bytes], says: int, note: Callable[[str], None]
    ) -> Asked:
        assert child.stdout
        assert child.stderr
        errors = _Tail(note)
        threads = [threading.Thread(target=errors.follow, args=(child.stderr,), daemon=True)]
        if child.stdin:
            threads.append(
                threading.Thread(target=_feed, args=(child.stdin, self._stdin), daemon=True)
            )
        for thread in threads:
            thread.start()
        out = self._read(child.stdout)
        code = child.wait() if says < 0 else _told(says, child)
        for thread in threads:
            thread.join(1.0)
        return Asked(None if self._why else code, out, errors.text(), self._why)

    def _read(self, stream: IO[bytes]) -> bytes:
        parts, size = [], 0
        while part := os.read(stream.fileno(), 1 << 16):
            size += len(part)
            if size > OUTPUT:
                self.end(f"the answer has more than {OUTPUT >> 20} MiB")
                break
            parts.append(part)
        return b"".join(parts)

    def _let_go(self, says: int) -> None:
        self.end("left")
        child = self._child
        if child is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(15)
            for stream in (child.stdout, child.stderr):
                if stream:
                    stream.close()
        if says >= 0:
            os.close(says)


def _told(says: int, child: subprocess.Popen[bytes]) -> int | None:
    """The end of a kept program, as its keeper says it."""
    text = b""
    while piece := os.read(says, 1 << 16):
        text = (text + piece)[-TAIL:]
    child.wait()
    last = json.loads(text.splitlines()[-1]) if text.strip() else {}
    if "code" not in last:
        return None
    return -int(last["signal"]) if last["signal"] else int(last["code"])


def _feed(stream: IO[bytes], data: bytes) -> None:
    with contextlib.suppress(OSError):
        stream.write(data)
    with contextlib.suppress(OSError):
        stream.close()


class _Tail:
    """Standard error: notes go on at once, of the rest the end is kept."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note, self._kept = note, b""

    def follow(self, stream: IO[bytes]) -> None:
        """Read it to its end."""
        with contextlib.suppress(OSError, ValueError):
            while line := stream.readline(1 << 14):
                text = line.decode("utf-8", "replace")
                if text.startswith(NOTE):
                    self._note(text.removeprefix(NOTE).strip())
                else:
                    self._kept = (self._kept + line)[-TAIL:]

    def text(self) -> str:
        """What was kept."""
        return self._kept.decode("utf-8", "replace").strip()
