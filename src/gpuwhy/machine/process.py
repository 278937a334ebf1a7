"""The one way to run another program: bounded in time, memory and words, and gone when we are."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from gpuwhy.machine.reading import Splitter

if TYPE_CHECKING:
    import queue

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_PIECE = 1 << 16
_GRACE = 5.0  # seconds to end what was started
CHILDREN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "children")
KEPT_ERRORS = 1 << 19
"""How much of standard error is kept, half of its beginning and half of its end."""
SYSTEM_FOLDERS = ("/usr/bin", "/bin", "/usr/sbin", "/sbin", "/run/current-system/sw/bin")
"""Where only the system's administrator writes; the last is NixOS's."""
Take = Callable[[bytes], str]
"""Takes a piece of a stream, b"" at its end; says why the program is to be ended, or ""."""


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


class Kept:
    """The bytes of one stream: whole where it is the answer, else its beginning and its end."""

    def __init__(self, most: int, kept: int = 0) -> None:
        self.total = 0
        self._most, self._half = most, kept // 2
        self.head, self._tail = bytearray(), bytearray()

    def take(self, piece: bytes) -> str:
        """Keep a piece; "" or the limit that the stream passed."""
        self.total += len(piece)
        room = (self._half or self._most) - len(self.head)
        self.head += piece[:room]
        if self._half:
            self._tail = (self._tail + piece[max(room, 0) :])[-self._half :]
        return f"printed more than {self._most >> 20} MiB" if self.total > self._most else ""

    def text(self) -> str:
        """What was kept; a mark stands for what was not."""
        parted = self._half and self.total > len(self.head) + len(self._tail)
        cut = b"\n[\xe2\x80\xa6]\n" if parted else b""
        return bytes(self.head + cut + self._tail).decode("utf-8", "replace")


class Child:
    """A program in a session of its own; whoever passes its limits is killed with its group.

    One that gets orders ends itself, and all that it started, when its standard input ends.
    """

    def __init__(
        self,
        argv: Sequence[str],
        limits: Limits,
        takers: tuple[Take, Take],
        *,
        environ: Mapping[str, str] | None = None,
        folder: str | None = None,
        given: bytes = b"",
        orders: bool = False,
    ) -> None:
        self.why, self.late = "", False
        self._limits, self._orders = limits, orders
        self._until = time.monotonic() + limits.seconds
        self._over, self._gone = threading.Event(), threading.Event()
        self._lock, self._open = threading.Lock(), 2
        self._process = process = subprocess.Popen(
            list(argv),
            stdin=subprocess.PIPE if given or orders else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=None if environ is None else dict(environ),
            cwd=folder,
            start_new_session=True,
        )
        if not orders:
            _RUNNING.add(process.pid)
        self._begin(self._follow, process.stdout, takers[0])
        self._begin(self._follow, process.stderr, takers[1])
        if process.stdin:
            self._begin(self._feed, process.stdin, given)

    def _begin(self, work: Callable[..., None], *args: Any) -> None:
        threading.Thread(target=work, args=args, daemon=True).start()

    @property
    def left(self) -> float:
        """The seconds that it still has."""
        return max(0.0, self._until - time.monotonic())

    def _follow(self, stream: IO[bytes], take: Take) -> None:
        """Pass a stream on to its end; the thread that reads it is the one that closes it."""
        with stream, contextlib.suppress(OSError, ValueError):
            while piece := os.read(stream.fileno(), _PIECE):
                if why := take(piece):
                    self.end(why)
                    self._gone.wait()  # until then it shall not learn that nobody reads
                    break
        take(b"")
        with self._lock:
            self._open -= 1
            if not self._open:
                self._over.set()

    def _feed(self, stream: IO[bytes], data: bytes) -> None:
        with contextlib.suppress(OSError, ValueError):
            stream.write(data)
            stream.flush()
            if not self._orders:
                stream.close()

    def end(self, why: str, late: bool = False) -> None:
        """End it with all that it started, from any thread; nothing where it has ended."""
        with self._lock:
            if self._process.returncode is None and not self.why:
                self.why, self.late = why, late
        self._over.set()

    def wait(self) -> int | None:
        """How it ended: its code, None where we ended it; nothing of it is left running."""
        memory, process = self._limits.memory, self._process
        try:
            while not self.why and process.returncode is None:
                seconds = min(0.1, self.left) if memory else self.left
                if self._over.wait(seconds) and not self.why:  # its output came to an end
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(seconds)
                if self.why or process.returncode is not None:
                    break
                if not self.left:
                    self.end("ran out of time", late=True)
                elif memory and _resident(process.pid) > memory:
                    self.end(f"took more than {memory >> 30} GiB of memory")
        finally:
            self._let_go()
        return None if self.why else process.returncode

    def _let_go(self) -> None:
        """One that is stuck in the kernel is left; what has ended is not killed by its number."""
        process = self._process
        if process.stdin and self._orders:
            with contextlib.suppress(OSError, ValueError, subprocess.TimeoutExpired):
                process.stdin.close()
                process.wait(_GRACE)
        if process.returncode is None:
            kill_group(process.pid)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.5)
        _RUNNING.discard(process.pid)
        self._gone.set()
        if process.returncode is None:
            process.returncode = -9


def collect(
    argv: Sequence[str], limits: Limits, environ: Mapping[str, str], orders: bytes = b""
) -> End:
    """Run a command to its end, or to a limit; raises OSError where it cannot be started."""
    out, err = Kept(limits.output), Kept(limits.errors, KEPT_ERRORS)
    takers = (out.take, err.take)
    child = Child(argv, limits, takers, environ=environ, given=orders, orders=bool(orders))
    code = child.wait()
    return End(code, out.text(), err.text(), child.why, child.late)


class Line(NamedTuple):
    """A line of a launcher: when it came, and its bytes; None where it was too long."""

    time: float
    data: bytes | None


class Launched:
    """A launcher that asks many nodes, and what it prints until it ends or its time is up."""

    def __init__(self, argv: Sequence[str], seconds: float, most: int) -> None:
        import shutil  # `check` needs neither
        from queue import Queue

        if shutil.which(argv[0]) is None:
            raise FileNotFoundError(2, "no such program", argv[0])
        self.out_of_time = False
        self.code: int | None = None
        self._most = most
        self._said: queue.Queue[Line | None] = Queue(maxsize=10_000)
        command, takers = child_command("become", *argv), (self._taker(), self._taker())
        self._child = Child(command, Limits(seconds), takers)

    def _taker(self) -> Take:
        """Puts the lines of one stream into the queue, and None at its end."""
        lines = Splitter(self._most)

        def take(piece: bytes) -> str:
            for line in lines.take(piece):
                self._said.put(Line(time.time(), line))
            if not piece:
                self._said.put(None)
            return ""

        return take

    def lines(self) -> Iterator[Line]:
        """Everything that it prints; whoever stops listening ends it."""
        from queue import Empty

        open_streams = 2
        try:
            while open_streams:
                try:
                    line = self._said.get(timeout=self._child.left)
                except Empty:
                    self.out_of_time = True
                    return
                if line is None:
                    open_streams -= 1
                else:
                    yield line
        finally:
            if open_streams:
                self._child.end("nobody listens")
            self.code = self._child.wait()


_RUNNING: set[int] = set()


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


def _resident(pid: int) -> int:
    """The resident memory of a process in bytes; 0 where nobody tells. CUDA reserves all address
    space, so that a limit on that would say nothing.
    """
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * _PAGE
    except (OSError, IndexError, ValueError):
        return 0


def system_program(name: str) -> str:
    """The path of a tool of the system, whatever PATH says; raises FileNotFoundError."""
    for folder in SYSTEM_FOLDERS:
        path = f"{folder}/{name}"
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    raise FileNotFoundError(2, "no such program of the system", name)


def child_command(script: str, *args: str) -> list[str]:
    """The command line of one of machine/children in our own Python, which dies with us.

    "become" is none of them: it becomes the program that the arguments name.
    """
    python, parent = sys.executable or "python3", str(os.getpid())
    script = script if script == "become" else f"{CHILDREN}/{script}.py"
    return [python, "-I", "-S", f"{CHILDREN}/start.py", parent, script, *args]


def keeper(says: bool = True) -> list[str]:
    """The command line of the process that keeps another with all that it starts: see keeper.py."""
    return [sys.executable or "python3", "-I", "-S", f"{CHILDREN}/keeper.py", str(int(says))]
