"""Child: the one way to ask another program; bounded in time, memory and words, and gone when we are."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_PIECE = 1 << 16
OUT_OF_TIME = "ran out of time"
KEPT_ERRORS = 1 << 19
"""How much of standard error is kept, half of its beginning and half of its end."""


class Limits(NamedTuple):
    """How long a child may run, how much memory it may hold (0 = whatever it takes) and how much it may print."""

    seconds: float
    memory: int = 0
    keeps_errors: bool = False  # what it prints to standard error is part of its answer
    output: int = 16 << 20
    errors: int = 64 << 20


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


class _Kept:
    """The bytes of one stream: whole where it is the answer, else its beginning and its end."""

    def __init__(self, most: int, kept: int = 0) -> None:
        self.total = 0
        self._most, self._half = most, kept // 2
        self._head, self._tail = bytearray(), bytearray()

    def take(self, piece: bytes) -> bool:
        """Keep a piece; whether the stream is still within its limit."""
        self.total += len(piece)
        room = (self._half or self._most) - len(self._head)
        self._head += piece[:room]
        if self._half:
            self._tail = (self._tail + piece[max(room, 0) :])[-self._half :]
        return self.total <= self._most

    def text(self) -> str:
        cut = b"\n[\xe2\x80\xa6]\n" if self._half and self.total > len(self._head) + len(self._tail) else b""
        return bytes(self._head + cut + self._tail).decode("utf-8", "replace")


def collect(argv: Sequence[str], limits: Limits, environ: Mapping[str, str]) -> End:
    """Run a command in a session of its own; a group that outlasts its limits is killed whole."""
    child = subprocess.Popen(
        list(argv),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(environ),
        start_new_session=True,
        preexec_fn=dies_with_us(),
    )
    with _LOCK:
        _RUNNING.add(child.pid)
    out, err = _Kept(limits.output), _Kept(limits.errors, KEPT_ERRORS)
    try:
        why = _followed(child, limits, out, err)
    finally:
        _let_go(child)
    return End(None if why else child.returncode, out.text(), err.text(), why)


def _followed(child: subprocess.Popen[bytes], limits: Limits, out: _Kept, err: _Kept) -> str:
    """Read until it ends; "" or the limit that it passed."""
    assert child.stdout
    assert child.stderr
    read = _by_threads if os.name == "nt" else _by_selector
    until = time.monotonic() + limits.seconds
    watch = _Watch(child.pid, limits.memory)
    try:
        why = read({child.stdout.fileno(): out, child.stderr.fileno(): err}, until)
        if why:
            kill_group(child.pid)  # not waited for yet, so the number is still its own
        else:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(max(0.0, until - time.monotonic()))
        return watch.why or why or (OUT_OF_TIME if child.poll() is None else "")
    finally:
        watch.stop()


def _by_selector(streams: Mapping[int, _Kept], until: float) -> str:
    with selectors.DefaultSelector() as ready:
        for fd in streams:
            ready.register(fd, selectors.EVENT_READ)
        while ready.get_map():
            left = until - time.monotonic()
            if left <= 0:
                return OUT_OF_TIME
            for key, _ in ready.select(left):
                piece = os.read(key.fd, _PIECE)
                if not piece:
                    ready.unregister(key.fd)
                elif not streams[key.fd].take(piece):
                    return f"printed more than {streams[key.fd].total >> 20} MiB"
    return ""


def _by_threads(streams: Mapping[int, _Kept], until: float) -> str:
    """Windows has no way to wait for pipes: a thread reads each."""
    said: list[str] = []

    def follow(fd: int, kept: _Kept) -> None:
        with contextlib.suppress(OSError):
            while piece := os.read(fd, _PIECE):
                if not kept.take(piece):
                    said.append(f"printed more than {kept.total >> 20} MiB")
                    return

    threads = [threading.Thread(target=follow, args=one, daemon=True) for one in streams.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive() and not said and time.monotonic() < until:
            thread.join(0.05)
    return said[0] if said else OUT_OF_TIME if any(thread.is_alive() for thread in threads) else ""


def _let_go(child: subprocess.Popen[bytes]) -> None:
    """End what is left of it; one that is stuck in the kernel is left, and what it said stays."""
    if child.returncode is None:  # else its number may be another's by now
        kill_group(child.pid)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(0.5)
    with _LOCK:
        _RUNNING.discard(child.pid)
    if child.returncode is None:
        child.returncode = -9
    for stream in (child.stdout, child.stderr):
        if stream and os.name != "nt":  # there, a thread may still read from it
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


PR_SET_PDEATHSIG = 1
BIG = 1 << 30


def dies_with_us() -> Callable[[], None] | None:
    """What a child does before it becomes its program: ask the kernel to end it when the thread that waits for it ends.

    See prctl(2). Nothing is imported and no lock is taken between fork and exec. Not from a process of gigabytes, a
    user's own: to copy its page tables takes long, and may be refused.
    """
    if not sys.platform.startswith("linux") or _resident("self") > BIG:
        return None
    import concurrent.futures.thread  # noqa: F401  its hooks around a fork must not come while another thread forks
    import ctypes

    try:
        prctl = ctypes.CDLL(None).prctl
    except (OSError, AttributeError):
        return None
    parent, getppid, leave, number = os.getpid(), os.getppid, os._exit, int(signal.SIGKILL)

    def ask() -> None:
        prctl(PR_SET_PDEATHSIG, number, 0, 0, 0)
        if getppid() != parent:
            leave(1)

    return ask


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
            if _resident(self._pid) > self._memory:
                self.why = f"took more than {self._memory >> 30} GiB of memory"
                kill_group(self._pid)
                return


def _resident(pid: int | str) -> int:
    """The resident memory of a process in bytes; 0 where nobody tells."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * _PAGE
    except (OSError, IndexError, ValueError):
        return 0
