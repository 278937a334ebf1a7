"""One trial: a program run once more under our control, kept with everything it starts, and ended with us."""

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
from gpuwhy.run.ring import Ring, merged
from gpuwhy.run.sampler import Sampler, Samples

PIECE = 1 << 16
OVERLAP = 4096
"""Bytes of what came before in which a wanted text may have begun."""
IDLE = 0.02
"""Seconds of CPU per second below which a silent program does nothing."""
LOOKS, LONG = 5, 2.0
"""Samples, and seconds of a run, without which nobody can say that it never opened a GPU."""
GRACE = 2.0
"""Seconds for the last output and the last word after a program's end."""


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

    code: int
    signal: int
    seconds: float
    output: str
    stopped: str = ""  # why we ended it: "time", "hangs", "ok"; "" where it ended by itself
    busy: bool = True  # it was working or printing when it was stopped
    left: tuple[str, ...] = ()  # processes that outlived it, and were ended
    cannot: str = ""  # it could not be started
    peak: int = 0
    started: float = 0.0
    began: float = 0.0
    samples: Samples = Samples()
    rings: tuple[Ring, ...] = ()


def run_once(orders: Orders) -> Ran:
    """Run to the end, or until it is decided; on an interruption everything is ended first."""
    trial = _Trial(orders)
    try:
        return trial.watched()
    finally:
        trial.close()


class _Trial:
    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._ring = Ring()
        self._ok = re.compile(orders.ok.encode()) if orders.ok else None
        self._tail = b""
        self._found = False
        self._said: dict[str, Any] = {}
        self._cpu, self._worked = 0.0, time.monotonic()
        self._words = b""
        self.started, self.began = time.clock_gettime(time.CLOCK_BOOTTIME), time.monotonic()
        self._output, theirs = os.pipe()
        ordered, self._order = os.pipe()
        self._says, said = os.pipe()
        script = os.path.join(CHILDREN, "keeper.py")
        argv = [sys.executable or "python3", "-I", "-S", script, str(ordered), str(said)]
        self._keeper = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, pass_fds=(ordered, said),
            start_new_session=True, env={"PATH": os.environ.get("PATH", os.defpath)},
        )  # fmt: skip
        for number in (theirs, ordered, said):
            os.close(number)
        self._sampler: Sampler | None = None
        threading.Thread(target=self._tell, daemon=True).start()

    def _tell(self) -> None:
        """The orders; an environment may be longer than a pipe holds."""
        orders = self._orders
        told = {
            "argv": orders.argv, "executable": orders.executable, "environ": dict(orders.environ),
            "folder": orders.folder, "input": orders.input,
            "limits": {str(number): list(pair) for number, pair in orders.limits.items()},
        }  # fmt: skip
        with contextlib.suppress(OSError):
            _write(self._order, (json.dumps(told) + "\n").encode())

    def watched(self) -> Ran:
        """Read until the end or a decision."""
        stopped = ""
        while not stopped and not self._ended():
            self._read(0.2)
            stopped = self._decided()
        seconds = time.monotonic() - self.began
        busy = time.monotonic() - self._worked < max(3.0, self._orders.quiet / 2)
        if stopped:
            self._stop()
        self._rest()
        samples = self._sampler.end() if self._sampler else Samples()
        said = self._said
        return Ran(
            code=said.get("code", 0),
            signal=said.get("signal", 0),
            seconds=round(seconds, 3),
            output=merged((self._ring,)).decode("utf-8", "replace"),
            stopped="ok" if self._found else stopped,
            busy=busy,
            left=tuple(said.get("left", ())),
            cannot=said.get("cannot", ""),
            peak=said.get("peak", 0),
            started=self.started,
            began=self.began,
            samples=samples,
            rings=(self._ring,),
        )

    def _ended(self) -> bool:
        return "code" in self._said or "cannot" in self._said or "gone" in self._said

    def _decided(self) -> str:
        """Why there is nothing more to wait for; "" where there is."""
        now, orders = time.monotonic(), self._orders
        if self._found:
            return "ok"
        if orders.quiet and now - max(self._worked, self._ring.last) > orders.quiet:
            return "hangs"
        return "time" if orders.seconds and now - self.began > orders.seconds else ""

    def _read(self, seconds: float) -> bool:
        """What came on either stream; whether there was something."""
        wanted = [number for number in (self._output, self._says) if number >= 0]
        ready = select.select(wanted, [], [], seconds)[0] if wanted else []
        if self._output in ready:
            self._take(os.read(self._output, PIECE))
        if self._says in ready:
            self._hear(os.read(self._says, PIECE))
        return bool(ready)

    def _take(self, piece: bytes) -> None:
        if not piece:
            os.close(self._output)
            self._output = -1
            return
        self._ring.add(memoryview(piece), time.monotonic())
        if self._ok and not self._found:
            text = self._tail + piece
            self._found = self._ok.search(text) is not None
            self._tail = text[-OVERLAP:]

    def _hear(self, piece: bytes) -> None:
        if not piece:
            os.close(self._says)
            self._says = -1
            self._said.setdefault("gone", True)
            return
        *lines, self._words = (self._words + piece).split(b"\n")
        for line in lines:
            with contextlib.suppress(ValueError):
                self._understand(json.loads(line))

    def _understand(self, said: dict[str, Any]) -> None:
        self._said.update(said)
        if "pid" in said and self._orders.sampled:
            self._sampler = Sampler(said["pid"])
        if "cpu" in said:
            if said["cpu"] - self._cpu > IDLE:
                self._worked = time.monotonic()
            self._cpu = said["cpu"]

    def _stop(self) -> None:
        """Let the keeper end everything."""
        with contextlib.suppress(OSError):
            os.close(self._order)
        self._order = -1

    def _rest(self) -> None:
        """What is still in the pipes."""
        until = time.monotonic() + GRACE
        while (self._output >= 0 or self._says >= 0) and time.monotonic() < until:
            if not self._read(0.05) and self._ended() and self._output < 0:
                return

    def close(self) -> None:
        """End everything that is still there, and wait for it."""
        if self._order >= 0:
            self._stop()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._keeper.wait(15)
        if self._keeper.poll() is None:  # it hangs in the kernel
            self._keeper.kill()
        for number in (self._output, self._says):
            if number >= 0:
                with contextlib.suppress(OSError):
                    os.close(number)
        self._output = self._says = -1


def _write(target: int, data: bytes) -> None:
    while data:
        data = data[os.write(target, data) :]


ENDING = (signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """While it holds, the signals that end us interrupt us instead, so that trials are ended and told of."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def touched_gpu(ran: Ran) -> bool | None:
    """Whether one of its processes opened a GPU; None where they were not looked at long enough."""
    if any(seen.get("touched") for seen in ran.samples.seen.values()):
        return True
    points = ran.samples.points
    looked = len(points) >= LOOKS and ran.began + ran.seconds - points[-1]["t"] < 1.0
    return False if looked and ran.seconds >= LONG else None


def end_process(pid: int, seconds: float = 10.0) -> bool:
    """Ask one process to end, and wait; whether it is gone. Nothing stronger is sent."""
    with contextlib.suppress(ProcessLookupError):
        try:
            os.kill(pid, signal.SIGTERM)
        except PermissionError:
            return False
    until = time.monotonic() + seconds
    while os.path.exists(f"/proc/{pid}"):
        if time.monotonic() > until:
            return False
        time.sleep(0.1)
    return True
