"""Kernels: a note beside a notebook's connection file, by which the next kernel knows that this one died, and how."""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import json
import os
import re
import sys
from typing import Any, BinaryIO, NamedTuple

from gpuwhy.border import reading, writing

EVENTS = "/sys/fs/cgroup/memory.events"
MOST = 256 << 10
SIGNALS = {
    "Segmentation fault": "SIGSEGV",
    "Aborted": "SIGABRT",
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
    killed: int  # processes that the kernel of the system killed for memory meanwhile; -1 = not known


class Note:
    """What is known of one kernel while it lives; gone when it ends as it should."""

    def __init__(self, connection: str) -> None:
        base = connection.removesuffix(".json")
        self.path, self.dump = f"{base}.gpuwhy", f"{base}.gpuwhy-fault"
        self._file: BinaryIO | None = None
        self._kills = _kills()

    def earlier(self) -> Died | None:
        """The kernel of the same notebook that died before this one; its note is taken away."""
        noted, dump = _read(self.path), _read(self.dump)
        self._forget()
        try:
            found = json.loads(noted)
            pid, cell, kills = int(found["pid"]), int(found["cell"]), int(found["kills"])
        except (ValueError, TypeError, KeyError):
            return None
        if pid == os.getpid() or cell <= 0 or _alive(pid):
            return None
        named = _FATAL.search(dump)
        signal = SIGNALS.get(named[1].strip(), "SIGABRT") if named else "SIGKILL"
        killed = self._kills - kills if min(self._kills, kills) >= 0 else -1
        return Died(pid, cell, signal, dump, killed)

    def start(self) -> None:
        """Have Python's fault handler write beside the note, and take everything away at an orderly end."""
        with contextlib.suppress(OSError):
            self._file = writing.begin(self.dump)
            faulthandler.enable(self._file)
        atexit.register(self.stop)

    def cell(self, number: int) -> None:
        """Which cell runs; 0: none."""
        with contextlib.suppress(OSError):
            noted = {"pid": os.getpid(), "cell": number, "kills": self._kills}
            writing.keep(self.path, json.dumps(noted).encode())

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
        for path in (self.path, self.dump):
            with contextlib.suppress(OSError):
                os.unlink(path)


def connection_of(shell: Any) -> str:
    """The connection file of a notebook's kernel, which keeps its name when the kernel starts anew; "" elsewhere."""
    module = sys.modules.get("ipykernel")
    if module is None or not hasattr(shell, "kernel"):
        return ""
    try:
        path = module.get_connection_file()
    except Exception:
        return ""
    return path if isinstance(path, str) and os.path.isabs(path) else ""


def _alive(pid: int) -> bool:
    """Whether it still runs: one that has ended and that nobody has asked for does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    state = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return not state or state[0] not in "ZX"


def _read(path: str) -> str:
    with contextlib.suppress(OSError, ValueError):
        return reading.read(path, MOST).decode("utf-8", "replace")
    return ""


def _kills() -> int:
    found = _KILLS.search(_read(EVENTS))
    return int(found[1]) if found else -1
