"""Kernels of notebooks: a note by which the next kernel knows that this one died, and how."""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import json
import os
import re
import sys
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from gpuwhy.machine import reading, writing

if TYPE_CHECKING:
    from gpuwhy.answer.answer import Answer

AGAIN = (
    "a new kernel runs now: what the old one held is gone, so run the cells again from the first"
)
EVENTS = "/sys/fs/cgroup/memory.events"
MOST = 256 << 10
_SIGNALS = {
    "Segmentation fault": "SIGSEGV",
    "Bus error": "SIGBUS",
    "Floating point exception": "SIGFPE",
    "Floating-point exception": "SIGFPE",
    "Illegal instruction": "SIGILL",
}
_FATAL = re.compile(r"^Fatal Python error: ([A-Za-z -]+)", re.MULTILINE)
_KILLS = re.compile(r"^oom_kill (\d+)$", re.MULTILINE)


class Died(NamedTuple):
    """A kernel that ended while a cell ran."""

    pid: int
    cell: int
    signal: str
    dump: str  # what Python's fault handler could still write: the stack, innermost first
    killed: int  # processes that the system killed for memory meanwhile


class Note:
    """What is known of one kernel while it lives; gone when it ends as it should."""

    def __init__(self, connection: str) -> None:
        base = connection.removesuffix(".json")
        self._path, self._dump = f"{base}.gpuwhy", f"{base}.gpuwhy-fault"
        self._file: BinaryIO | None = None
        kills = _KILLS.search(_read(EVENTS))
        self._kills = int(kills[1]) if kills else 0

    def earlier(self) -> Died | None:
        """The kernel of the same notebook that died before this one; its note is taken away."""
        noted, dump = _read(self._path), _read(self._dump)
        self._forget()
        try:
            found = json.loads(noted)
            pid, cell, kills = int(found["pid"]), int(found["cell"]), int(found["kills"])
        except (ValueError, TypeError, KeyError):
            return None
        # one that has ended and that nobody has asked for does not run
        state = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
        if pid == os.getpid() or cell <= 0 or (state and state[0] not in "ZX"):
            return None
        named = _FATAL.search(dump)
        signal = _SIGNALS.get(named[1].strip(), "SIGABRT") if named else "SIGKILL"
        return Died(pid, cell, signal, dump, self._kills - kills)

    def start(self) -> None:
        """Have Python's fault handler write beside the note, and clean up at an orderly end."""
        with contextlib.suppress(OSError):
            self._file = writing.begin(self._dump)
            faulthandler.enable(self._file)
        atexit.register(self.stop)

    def cell(self, number: int) -> None:
        """Which cell runs; 0: none."""
        with contextlib.suppress(OSError):
            noted = {"pid": os.getpid(), "cell": number, "kills": self._kills}
            writing.keep(self._path, json.dumps(noted).encode())

    def stop(self) -> None:
        """The orderly end."""
        atexit.unregister(self.stop)
        if self._file is not None:
            faulthandler.disable()
            with contextlib.suppress(Exception):
                faulthandler.enable(sys.__stderr__ or sys.stderr)
            self._file.close()
            self._file = None
        self._forget()

    def _forget(self) -> None:
        for path in (self._path, self._dump):
            with contextlib.suppress(OSError):
                os.unlink(path)


def connection_of(shell: Any) -> str:
    """The connection file of a notebook's kernel, which outlives its restart; "" elsewhere."""
    with contextlib.suppress(Exception):
        path = sys.modules["ipykernel"].get_connection_file() if hasattr(shell, "kernel") else ""
        return path if os.path.isabs(path) else ""
    return ""


def _read(path: str) -> str:
    with contextlib.suppress(OSError, ValueError):
        return reading.read(path, MOST).decode("utf-8", "replace")
    return ""


def answer_on_death(died: Died, seconds: float = 5.0) -> Answer:
    """Why a kernel died, from what its fault handler wrote and this machine's facts."""
    from msgspec.structs import replace

    from gpuwhy.answer.answer import Noticed
    from gpuwhy.api.note import look
    from gpuwhy.api.text import explain

    answer = explain(died.dump, look(seconds), signal=died.signal)
    how = f"The kernel (process {died.pid}) was ended by {died.signal} while cell [{died.cell}] ran"
    if answer.first:
        why = answer.headline
    elif died.signal != "SIGKILL":
        why = "a crash in compiled code"
    elif died.killed > 0:
        why = "the system killed a process of this container for memory meanwhile"
    else:
        why = "the cause is not known: out of memory, or somebody ended or restarted it"
    more = (Noticed(None, AGAIN), *answer.noticed)
    return replace(answer, headline=f"{how}: {why[:1].lower()}{why[1:]}", noticed=more)
