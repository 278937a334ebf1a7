"""Starting `gpuwhy run` in tests: with pipes, or on a real pseudo-terminal of its own session as a shell gives it."""

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

GPUWHY = [sys.executable, "-m", "gpuwhy", "run"]
LIMIT = 30.0


def run(*argv: str, options: tuple[str, ...] = (), command: list[str] = GPUWHY, **more) -> subprocess.CompletedProcess:
    """`gpuwhy run` with pipes."""
    more = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": LIMIT, **more}
    return subprocess.run([*command, *options, "--", *argv], check=False, **more)


def python(code: str, *args: str) -> tuple[str, ...]:
    """A Python program."""
    return (sys.executable, "-c", code, *args)


class Terminal:
    """A program on a pseudo-terminal, in a session of its own whose foreground group it is."""

    def __init__(self, *argv: str, shell: bool = False) -> None:
        self.seen = b""
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm"
            os.environ.pop("COLUMNS", None)
            os.execvp(argv[0], list(argv))

    def until(self, text: bytes) -> bytes:
        """Read until a text appears."""
        end = time.monotonic() + LIMIT
        while text not in self.seen:
            assert time.monotonic() < end, self.seen
            self._read()
        before, _, self.seen = self.seen.partition(text)
        return before

    def _read(self) -> bool:
        if not select.select([self.master], [], [], 0.2)[0]:
            return True
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.seen += data
        return bool(data)

    def type(self, data: bytes) -> None:
        """Press keys."""
        os.write(self.master, data)

    def end(self) -> tuple[int, bytes]:
        """The wait status, and everything printed after what was read."""
        limit = time.monotonic() + LIMIT
        while self._read():
            assert time.monotonic() < limit, self.seen
        _, status = os.waitpid(self.pid, 0)
        os.close(self.master)
        return status, self.seen


def wait_for(path: Path) -> str:
    """The text of a file that a program writes sooner or later."""
    end = time.monotonic() + LIMIT
    while not path.exists() or not path.read_text():
        assert time.monotonic() < end, path
        time.sleep(0.01)
    return path.read_text()
