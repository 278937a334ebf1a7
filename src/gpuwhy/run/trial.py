"""One trial: a program run once more under our control, and ended with all that it started."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from gpuwhy.machine.process import CHILDREN
from gpuwhy.run.child import Ended
from gpuwhy.run.ring import Ring
from gpuwhy.run.sampler import Sampler, Samples

PIECE = 1 << 16
OVERLAP = 4096
"""Bytes of what came before in which a wanted text may have begun."""
IDLE = 0.02
"""Seconds of CPU per second below which a silent program does nothing."""
LOOKS, LONG = 5, 2.0
"""Samples, and seconds of a run, without which nobody can say that it never opened a GPU."""
GRACE, KILLED = 2.0, 15.0
"""Seconds for the last output after a program's end, and for the end of everything it started."""


class Orders(NamedTuple):
    """How one trial is to be run; paths and variables are the real ones."""

    argv: tuple[str, ...]
    executable: str
    environ: Mapping[str, str]
    folder: str
    limits: Mapping[int, tuple[int, int]] = {}
    input: str = ""
    seconds: float = 0.0  # how long it may run; 0: as long as it takes
    quiet: float = 0.0  # seconds without output or work after which it hangs; 0: never
    ok: str = ""  # the text that is a success, as an expression
    sampled: bool = False


class Ran(NamedTuple):
    """What came of a trial."""

    ended: Ended
    stopped: str = ""  # why we ended it: "time", "hangs", "ok"; "" where it ended by itself
    busy: bool = True  # it was working or printing when it was stopped
    left: tuple[str, ...] = ()  # processes that outlived it, and were ended
    cannot: str = ""  # it could not be started

    @property
    def output(self) -> str:
        """Everything that it printed, as far as it was kept."""
        return self.ended.ring.text().decode("utf-8", "replace")

    @classmethod
    def of(cls, code: int, signal: int, seconds: float, output: str, **more: Any) -> Ran:
        """One that is reported: it was recorded, or could not be started."""
        ring = Ring()
        ring.add(output.encode(), 0.0)
        return cls(Ended(code, signal, seconds, 0.0, 0.0, ring, Samples(), 0), **more)


def run_once(orders: Orders) -> Ran:
    """Run to the end, or until it is decided; on an interruption everything is ended first."""
    trial = _Trial(orders)
    try:
        return trial.watched()
    finally:
        trial.close()


class _Trial:
    """The keeper is the program's parent: when its orders are closed, by our word or by our
    death, it ends every process below it.
    """

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._ring = Ring()
        self._tail, self._found = b"", False
        self._said: dict[str, Any] = {}
        self._words = b""
        self._started, self._began = time.clock_gettime(time.CLOCK_BOOTTIME), time.monotonic()
        self._cpu, self._worked = 0.0, self._began
        self._sampler: Sampler | None = None
        self._output, theirs = os.pipe()
        ordered, self._order = os.pipe()
        self._says, said = os.pipe()
        keeper = [sys.executable or "python3", "-I", "-S", f"{CHILDREN}/keeper.py"]
        self._keeper = subprocess.Popen(
            [*keeper, str(ordered), str(said)],
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
            pass_fds=(ordered, said),
            start_new_session=True,
            env={"PATH": os.environ.get("PATH", os.defpath)},
        )
        for number in (theirs, ordered, said):
            os.close(number)
        threading.Thread(target=self._tell, daemon=True).start()

    def _tell(self) -> None:
        """The orders, in a thread: an environment may be longer than a pipe holds."""
        wanted = self._orders
        told = {name: getattr(wanted, name) for name in ("argv", "executable", "folder", "input")}
        told |= {"environ": dict(wanted.environ), "limits": dict(wanted.limits)}
        with contextlib.suppress(OSError):
            data = (json.dumps(told) + "\n").encode()
            while data:
                data = data[os.write(self._order, data) :]

    def watched(self) -> Ran:
        """Read until the end or a decision."""
        stopped = ""
        while not stopped and not self._said.keys() & {"code", "cannot", "gone"}:
            self._read(0.2)
            stopped = self._decided()
        seconds = time.monotonic() - self._began
        busy = time.monotonic() - self._worked < max(3.0, self._orders.quiet / 2)
        if stopped:
            self._stop()
        until = time.monotonic() + GRACE
        while (self._output >= 0 or self._says >= 0) and time.monotonic() < until:
            self._read(0.05)
        said = self._said
        samples = self._sampler.end() if self._sampler else Samples()
        code, number, peak = (said.get(name, 0) for name in ("code", "signal", "peak"))
        times = (round(seconds, 3), self._started, self._began)
        ended = Ended(code, number, *times, self._ring, samples, peak)
        why = "ok" if self._found else stopped
        return Ran(ended, why, busy, tuple(said.get("left", ())), said.get("cannot", ""))

    def _decided(self) -> str:
        """Why there is nothing more to wait for; "" where there is."""
        now, orders = time.monotonic(), self._orders
        if self._found:
            return "ok"
        if orders.quiet and now - max(self._worked, self._ring.last) > orders.quiet:
            return "hangs"
        return "time" if orders.seconds and now - self._began > orders.seconds else ""

    def _read(self, seconds: float) -> None:
        """What came on either stream."""
        wanted = [number for number in (self._output, self._says) if number >= 0]
        ready = select.select(wanted, [], [], seconds)[0]
        if self._output in ready:
            self._take(os.read(self._output, PIECE))
        if self._says in ready:
            self._hear(os.read(self._says, PIECE))

    def _take(self, piece: bytes) -> None:
        if not piece:
            os.close(self._output)
            self._output = -1
            return
        self._ring.add(memoryview(piece), time.monotonic())
        if self._orders.ok and not self._found:
            text = self._tail + piece
            self._found = re.search(self._orders.ok.encode(), text) is not None
            self._tail = text[-OVERLAP:]

    def _hear(self, piece: bytes) -> None:
        """The keeper's lines."""
        if not piece:
            os.close(self._says)
            self._says = -1
            self._said.setdefault("gone", True)
        *lines, self._words = (self._words + piece).split(b"\n")
        for line in lines:
            said = json.loads(line)
            self._said.update(said)
            if "pid" in said and self._orders.sampled:
                self._sampler = Sampler(said["pid"])
            if "cpu" in said:
                if said["cpu"] - self._cpu > IDLE:
                    self._worked = time.monotonic()
                self._cpu = said["cpu"]

    def _stop(self) -> None:
        """Let the keeper end everything."""
        if self._order >= 0:
            with contextlib.suppress(OSError):
                os.close(self._order)
            self._order = -1

    def close(self) -> None:
        """End everything that is still there, and wait for it."""
        self._stop()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._keeper.wait(KILLED)
        if self._keeper.poll() is None:  # it hangs in the kernel
            self._keeper.kill()
        for number in (self._output, self._says):
            if number >= 0:
                os.close(number)
        self._output = self._says = -1


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """While it holds, the signals that end us interrupt us instead, so that trials are ended."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = {one: signal.signal(one, interrupt) for one in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def touched_gpu(ran: Ran) -> bool | None:
    """Whether one of its processes opened a GPU; None where they were not looked at enough."""
    ended, points = ran.ended, ran.ended.samples.points
    if any(seen.get("touched") for seen in ended.samples.seen.values()):
        return True
    looked = len(points) >= LOOKS and ended.began + ended.seconds - points[-1]["t"] < 1.0
    return False if looked and ended.seconds >= LONG else None


def end_process(pid: int, seconds: float = 10.0) -> bool:
    """Ask one process to end, and wait; whether it is gone. Nothing stronger is sent."""
    try:
        os.kill(pid, signal.SIGTERM)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    until = time.monotonic() + seconds
    while os.path.exists(f"/proc/{pid}") and time.monotonic() < until:
        time.sleep(0.1)
    return not os.path.exists(f"/proc/{pid}")
