"""One trial: a program run once more under our control, and ended with all that it started."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from gpuwhy.machine.process import Child, Limits, keeper
from gpuwhy.machine.reading import Splitter
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
GRACE, FOREVER = 2.0, 1e8
"""Seconds for the sampler's last words, and of a trial without a limit."""


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
    told = {name: getattr(orders, name) for name in ("argv", "executable", "folder", "input")}
    told |= {"environ": dict(orders.environ), "limits": dict(orders.limits)}
    started, began = time.clock_gettime(time.CLOCK_BOOTTIME), time.monotonic()
    child = Child(
        keeper(),
        Limits(orders.seconds or FOREVER),
        (trial.hear, trial.take),
        environ={"PATH": os.environ.get("PATH", os.defpath)},
        given=(json.dumps(told) + "\n").encode(),
        orders=True,
    )
    child.wait()
    trial.done.wait(GRACE)
    stopped = "time" if child.late else child.why
    seconds = trial.decided - began if trial.decided else orders.seconds
    busy = began + seconds - trial.worked < max(3.0, orders.quiet / 2)
    said = {**trial.said, "code": 0, "signal": 0} if stopped else trial.said
    code, number, peak = (said.get(name, 0) for name in ("code", "signal", "peak"))
    times = (round(seconds, 3), started, began)
    ended = Ended(code, number, *times, trial.ring, trial.samples, peak)
    return Ran(ended, stopped, busy, tuple(said.get("left", ())), said.get("cannot", ""))


class _Trial:
    """What the keeper says, and what the program prints: whoever takes it may end the trial."""

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._sampler: Sampler | None = None
        self.ring, self.samples, self.done = Ring(), Samples(), threading.Event()
        self.said: dict[str, Any] = {}
        self._lines, self._tail, self._cpu = Splitter(PIECE), b"", 0.0
        self.worked, self.decided = time.monotonic(), 0.0

    def take(self, piece: bytes) -> str:
        """What it prints; "ok" where the wanted text is in it."""
        if piece:
            self.ring.add(piece, time.monotonic())
        text = self._tail + piece
        self._tail = text[-OVERLAP:]
        if not self._orders.ok or not re.search(self._orders.ok.encode(), text):
            return ""
        self.decided = time.monotonic()
        return "ok"

    def hear(self, piece: bytes) -> str:
        """The keeper's lines; "hangs" where the program neither works nor prints."""
        now = time.monotonic()
        for line in self._lines.take(piece):
            said = json.loads(line or b"{}")
            self.said.update(said)
            if "pid" in said and self._orders.sampled:
                self._sampler = Sampler(said["pid"])
            if said.get("cpu", 0.0) - self._cpu > IDLE:
                self.worked = now
            self._cpu = said.get("cpu", self._cpu)
            if said.keys() & {"code", "cannot"}:
                self.decided = now
        if not piece:
            self.samples = self._sampler.end() if self._sampler else self.samples
            self.done.set()
        quiet = self._orders.quiet
        if not piece or not quiet or now - max(self.worked, self.ring.last) <= quiet:
            return ""
        self.decided = now
        return "hangs"


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
