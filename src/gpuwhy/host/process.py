"""Runs one child process with a limit on its time and memory, and keeps what it printed until then."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from typing import NamedTuple

CALL_SECONDS = 8.0
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class Limits(NamedTuple):
    """How long a child may run and how much memory it may hold; 0 = whatever it takes."""

    seconds: float
    memory: int = 0
    keeps_errors: bool = False  # what it prints to standard error is part of its answer


_OF_CHILD = {
    "probe": Limits(40.0, 6 << 30, keeps_errors=True),
    "framework": Limits(120.0, 16 << 30, keeps_errors=True),
}
"""Children that load libraries of hundreds of megabytes and talk to a GPU; the others answer in milliseconds."""


def limits_of(child: str) -> Limits:
    """The limits of one of host/children."""
    return _OF_CHILD.get(child) or Limits(CALL_SECONDS)


class End(NamedTuple):
    """How a process ended: its code (negative = a signal, None = we ended it, and why), and what it printed."""

    code: int | None
    out: str
    err: str
    why: str = ""

    @property
    def words(self) -> str:
        """The end, as a report says it."""
        if self.code is None:
            return self.why
        return f"died by signal {-self.code}" if self.code < 0 else f"ended with code {self.code}"


def collect(argv: list[str], limits: Limits, environ: dict[str, str]) -> End:
    """Run a command in a session of its own; a group that outlasts its limits is killed whole."""
    with subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environ,
        start_new_session=True,
    ) as child:
        watch = _Watch(child.pid, limits.memory)
        try:
            out, err = child.communicate(timeout=limits.seconds)
            code, why = (None, watch.why) if watch.why else (child.returncode, "")
        except subprocess.TimeoutExpired as late:
            _kill(child.pid)
            code, why, out, err = None, "ran out of time", late.stdout or b"", late.stderr or b""
            try:
                out, err = child.communicate(timeout=0.5)
            except subprocess.TimeoutExpired:  # stuck in the kernel: leave it, keep what came
                child.stdout = child.stderr = None
                child.returncode = -9
        finally:
            watch.stop()
    return End(code, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"), why)


def _kill(pid: int) -> None:
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(pid, signal.SIGKILL)  # its own children too
        else:  # Windows: ends the process at once, whatever the signal
            os.kill(pid, signal.SIGTERM)


class _Watch:
    """Ends a process whose resident memory passes a limit; address space says nothing for CUDA, which reserves all."""

    def __init__(self, pid: int, memory: int) -> None:
        self.why = ""
        self._done = threading.Event()
        self._pid, self._memory = pid, memory
        if memory:
            threading.Thread(target=self._look, daemon=True).start()

    def stop(self) -> None:
        """The process has ended."""
        self._done.set()

    def _look(self) -> None:
        while not self._done.wait(0.1):
            try:
                with open(f"/proc/{self._pid}/statm", "rb") as file:
                    resident = int(file.read().split()[1]) * _PAGE
            except (OSError, IndexError, ValueError):
                return
            if resident > self._memory:
                self.why = f"took more than {self._memory >> 30} GiB of memory"
                _kill(self._pid)
                return


def middle_cut(text: str, most: int) -> str:
    """The head and the tail of a long text, cut at lines."""
    if len(text) <= most:
        return text
    head, tail = text[: most // 2], text[-most // 2 :]
    return head[: head.rfind("\n") + 1] + "[…]\n" + tail[tail.find("\n") + 1 :]
