"""Runs a launcher that asks many nodes; gives each line with its moment; never waits for ever."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import IO, NamedTuple

from gpuwhy.machine.process import kill_group

_PDEATHSIG = 1  # prctl(2)


class Line(NamedTuple):
    """A line of a launcher: when it came, and its bytes; None where it was too long."""

    time: float
    data: bytes | None


class Launched:
    """A launcher and what it prints, both streams together, until it ends or its time is up."""

    def __init__(self, argv: Sequence[str], seconds: float, most: int) -> None:
        self.out_of_time = False
        self.code: int | None = None
        self._until = time.monotonic() + seconds
        self._most = most
        self._said: queue.Queue[Line | None] = queue.Queue(maxsize=10_000)
        self._child = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=_dies_with_us(),
        )
        for stream in (self._child.stdout, self._child.stderr):
            assert stream
            threading.Thread(target=self._follow, args=(stream,), daemon=True).start()

    def lines(self) -> Iterator[Line]:
        """Everything that it prints; whoever stops listening ends it."""
        open_streams = 2
        try:
            while open_streams:
                try:
                    line = self._said.get(timeout=max(0.0, self._until - time.monotonic()))
                except queue.Empty:
                    self.out_of_time = True
                    return
                if line is None:
                    open_streams -= 1
                else:
                    yield line
        finally:
            self._end()

    def _end(self) -> None:
        """Wait for it as long as there is time; then its whole group goes."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            if not self.out_of_time:
                self._child.wait(min(5.0, max(0.0, self._until - time.monotonic())))
        if self._child.poll() is None:
            kill_group(self._child.pid)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._child.wait(1.0)
        self.code = self._child.returncode

    def _follow(self, stream: IO[bytes]) -> None:
        """Lines as they come; of one that is too long nothing is kept."""
        held, too_long = b"", False
        with contextlib.suppress(OSError, ValueError):
            while piece := os.read(stream.fileno(), 1 << 16):
                *ended, held = (held + piece).split(b"\n")
                for line in ended:
                    self._said.put(
                        Line(time.time(), None if too_long or len(line) > self._most else line)
                    )
                    too_long = False
                if len(held) > self._most:
                    held, too_long = b"", True
        if held or too_long:
            self._said.put(Line(time.time(), None if too_long else held))
        self._said.put(None)


def _dies_with_us() -> Callable[[], None] | None:
    """What a child does before it becomes its program: the kernel ends it when we end (prctl(2)).

    Nothing is imported and no lock is taken between fork and exec.
    """
    if not sys.platform.startswith("linux"):
        return None
    import concurrent.futures.thread  # noqa: F401  its hooks around a fork must not come later
    import ctypes

    try:
        prctl = ctypes.CDLL(None).prctl
    except (OSError, AttributeError):
        return None
    parent, getppid, leave, number = os.getpid(), os.getppid, os._exit, int(signal.SIGKILL)

    def ask() -> None:
        prctl(_PDEATHSIG, number, 0, 0, 0)
        if getppid() != parent:
            leave(1)

    return ask
