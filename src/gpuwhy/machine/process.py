"""The one way to run another program: bounded in time, memory and words, and gone when we are."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_PIECE = 1 << 16
_GRACE = 5.0  # seconds to end what was started
CHILDREN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "children")
KEPT_ERRORS = 1 << 19
"""How much of standard error is kept, half of its beginning and half of its end."""
SYSTEM_FOLDERS = ("/usr/bin", "/bin", "/usr/sbin", "/sbin", "/run/current-system/sw/bin")
"""Where only the system's administrator writes; the last is NixOS's."""


class Limits(NamedTuple):
    """How long a child may run, how much memory it may hold (0 = any) and print."""

    seconds: float
    memory: int = 0
    keeps_errors: bool = False  # what it prints to standard error is part of its answer
    output: int = 16 << 20
    errors: int = 64 << 20


class End(NamedTuple):
    """How a process ended, and what it printed."""

    code: int | None  # negative = a signal; None = we ended it
    out: str
    err: str
    why: str = ""  # we ended it: why
    late: bool = False  # we ended it: its time was up

    @property
    def words(self) -> str:
        """The end, as a reason says it."""
        if self.code is None:
            return self.why
        return f"died by signal {-self.code}" if self.code < 0 else f"ended with code {self.code}"

    def line(self, name: str, last: str) -> dict[str, Any]:
        """The last line of a child that did not end well, for people and for those who decide."""
        words = f"{name} {self.words}{f': {last}' if last else ''}"
        why = "" if self.late else self.why
        how = {"code": self.code, "late": self.late, "why": why, "last": last}
        return {"ended": words, "how": how}


class _Kept:
    """The bytes of one stream: whole where it is the answer, else its beginning and its end."""

    def __init__(self, most: int, kept: int = 0) -> None:
        self.total = 0
        self._most, self._half = most, kept // 2
        self._head, self._tail = bytearray(), bytearray()

    def take(self, piece: bytes) -> str:
        """Keep a piece; "" or the limit that the stream passed."""
        self.total += len(piece)
        room = (self._half or self._most) - len(self._head)
        self._head += piece[:room]
        if self._half:
            self._tail = (self._tail + piece[max(room, 0) :])[-self._half :]
        return f"printed more than {self._most >> 20} MiB" if self.total > self._most else ""

    def text(self) -> str:
        parted = self._half and self.total > len(self._head) + len(self._tail)
        cut = b"\n[\xe2\x80\xa6]\n" if parted else b""
        return bytes(self._head + cut + self._tail).decode("utf-8", "replace")


def system_program(name: str) -> str:
    """The path of a tool of the system, whatever PATH says; raises FileNotFoundError."""
    for folder in SYSTEM_FOLDERS:
        path = f"{folder}/{name}"
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    raise FileNotFoundError(2, "no such program of the system", name)


def collect(
    argv: Sequence[str], limits: Limits, environ: Mapping[str, str], orders: bytes = b""
) -> End:
    """Run a command in a session of its own; a group that passes its limits is killed whole.

    One that gets orders ends itself, and all that it started, when its standard input ends.
    """
    child = subprocess.Popen(
        list(argv),
        stdin=subprocess.PIPE if orders else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(environ),
        start_new_session=True,
    )
    if not orders:
        with _LOCK:
            _RUNNING.add(child.pid)
    out, err = _Kept(limits.output), _Kept(limits.errors, KEPT_ERRORS)
    try:
        if child.stdin:
            with contextlib.suppress(OSError):
                os.write(child.stdin.fileno(), orders)
        why, late = _followed(child, limits, out, err)
    finally:
        _let_go(child)
    code = None if why or late else child.returncode
    return End(code, out.text(), err.text(), why or ("ran out of time" if late else ""), late)


def _followed(
    child: subprocess.Popen[bytes], limits: Limits, out: _Kept, err: _Kept
) -> tuple[str, bool]:
    """Read until it ends: the limit that it passed, and whether its time was up."""
    assert child.stdout
    assert child.stderr
    read = _by_threads if os.name == "nt" else _by_selector
    until = time.monotonic() + limits.seconds
    watch = _Watch(child.pid, limits.memory)
    try:
        why = read({child.stdout.fileno(): out, child.stderr.fileno(): err}, until)
        if why is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(max(0.0, until - time.monotonic()))
            late = child.poll() is None
        else:
            _stop(child)
            late = not why
        return watch.why or why or "", late and not watch.why
    finally:
        watch.stop()


def _by_selector(streams: Mapping[int, _Kept], until: float) -> str | None:
    """None where all streams ended, "" where the time was up, else the limit that one passed."""
    with selectors.DefaultSelector() as ready:
        for fd in streams:
            ready.register(fd, selectors.EVENT_READ)
        while ready.get_map():
            left = until - time.monotonic()
            if left <= 0:
                return ""
            for key, _ in ready.select(left):
                piece = os.read(key.fd, _PIECE)
                if not piece:
                    ready.unregister(key.fd)
                elif why := streams[key.fd].take(piece):
                    return why
    return None


def _by_threads(streams: Mapping[int, _Kept], until: float) -> str | None:
    """Windows has no way to wait for pipes: a thread reads each."""
    passed: list[str] = []

    def follow(fd: int, kept: _Kept) -> None:
        with contextlib.suppress(OSError):
            while piece := os.read(fd, _PIECE):
                if why := kept.take(piece):
                    passed.append(why)
                    return

    threads = [threading.Thread(target=follow, args=one, daemon=True) for one in streams.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive() and not passed and time.monotonic() < until:
            thread.join(0.05)
    if passed:
        return passed[0]
    return "" if any(thread.is_alive() for thread in threads) else None


def _stop(child: subprocess.Popen[bytes]) -> None:
    """By the end of its orders, where it has any; it is not waited for yet, so it is itself."""
    if child.stdin:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            child.stdin.close()
            child.wait(_GRACE)
            return
    kill_group(child.pid)


def _let_go(child: subprocess.Popen[bytes]) -> None:
    """End what is left of it; one that is stuck in the kernel is left, and what it said stays."""
    if child.returncode is None:  # else its number may be another's by now
        _stop(child)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(0.5)
    with _LOCK:
        _RUNNING.discard(child.pid)
    if child.returncode is None:
        child.returncode = -9
    for stream in (child.stdin, child.stdout, child.stderr):
        if stream and os.name != "nt":  # there, a thread may still read from it
            with contextlib.suppress(OSError):
                stream.close()


_RUNNING: set[int] = set()
_LOCK = threading.Lock()


def end_all() -> None:
    """End every child that still runs, with its own children: we are leaving."""
    for pid in tuple(_RUNNING):
        kill_group(pid)


def kill_group(pid: int) -> None:
    """End a process that leads its group, and the group."""
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(pid, signal.SIGKILL)
        else:  # Windows: ends the process at once, whatever the signal
            os.kill(pid, signal.SIGTERM)


class _Watch:
    """Ends a process whose resident memory passes a limit; CUDA reserves all address space."""

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
            if _resident(self._pid) > self._memory:
                self.why = f"took more than {self._memory >> 30} GiB of memory"
                kill_group(self._pid)
                return


def _resident(pid: int) -> int:
    """The resident memory of a process in bytes; 0 where nobody tells."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * _PAGE
    except (OSError, IndexError, ValueError):
        return 0


def child_command(script: str, *args: str) -> list[str]:
    """The command line of one of machine/children in our own Python, which dies with us."""
    python, parent = sys.executable or "python3", str(os.getpid())
    return [python, "-I", "-S", f"{CHILDREN}/start.py", parent, f"{CHILDREN}/{script}.py", *args]
