"""The sampler's side in our process: starts it, takes what it says, keeps so many samples."""

import contextlib
import json
import os
import signal
import threading
import time
from typing import Any

from gpuwhy.machine.live import binding, permitted
from gpuwhy.machine.process import child_command

MOST = 600
ENDING = 0.5
"""Seconds that it has for its last words."""


class Samples:
    """What the sampler said: `points` in time, the processes `seen`, its first and last words."""

    def __init__(self) -> None:
        self.points: list[dict[str, Any]] = []
        self.seen: dict[int, dict[str, Any]] = {}
        self.start: dict[str, Any] = {}
        self.end: dict[str, Any] = {}

    def take(self, said: dict[str, Any]) -> None:
        """One line of it."""
        if "t" in said:
            self.points.append(said)
            if len(self.points) > MOST:
                self.points = thinned(self.points)
        elif "seen" in said:
            self.seen[said["seen"]] = {**said, "environ": permitted(said.get("environ") or {})}
        elif "start" in said:
            self.start = said
        elif "end" in said:
            self.end = said


def thinned(points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Half the points: of each pair the one with more memory, so that peaks stay."""

    def height(point: dict[str, Any]) -> tuple[int, int]:
        return sum(gpu[3] + gpu[4] for gpu in point.get("gpus", ())), point.get("rss", 0)

    pairs = zip(points[::2], points[1::2], strict=False)
    return [max(pair, key=height) for pair in pairs] + points[len(points) // 2 * 2 :]


BUSY = 1.0
"""Seconds that it may need, on a loaded machine, to say which signal it got."""


class Sampler(threading.Thread):
    """The process that looks at memory, and the thread that reads what it says.

    It blocks every signal and reports those it gets. It is in our process group: what reaches it
    too was meant for the whole group, and the child has it already.
    """

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._samples = Samples()
        self._signals: list[tuple[float, int]] = []
        self._said = threading.Condition()
        self._source, theirs = os.pipe()
        self._process = _start(pid, theirs)
        os.close(theirs)
        self.start()

    def run(self) -> None:
        """Read until it ends."""
        with os.fdopen(self._source, "rb") as lines:
            for line in lines:
                with contextlib.suppress(ValueError, KeyError, TypeError):
                    said = json.loads(line)
                    if "signal" not in said:
                        self._samples.take(said)
                        continue
                    with self._said:
                        now = time.monotonic()
                        self._signals = [*self._signals[-20:], (now, said["signal"])]
                        self._said.notify_all()

    def got(self, number: int, seconds: float) -> bool:
        """Whether it gets the same signal at about the same time: it says so, or the kernel keeps
        it until it runs.
        """

        def just_now() -> bool:
            return any(
                one == number and time.monotonic() - when < 4 * seconds
                for when, one in self._signals
            )

        limit = time.monotonic() + BUSY
        while self.is_alive() and time.monotonic() < limit:
            with self._said:
                if self._said.wait_for(just_now, seconds):
                    return True
            state, pending = self._state()
            if pending >> (number - 1) & 1:
                return True
            if state == "S":  # it sleeps and has nothing to say
                return False
        return False

    def _state(self) -> tuple[str, int]:
        """What the kernel says of it: its state, and the signals that wait for it."""
        try:
            with open(f"/proc/{self._process}/status", encoding="ascii", errors="replace") as file:
                said = dict(line.split(":", 1) for line in file if ":" in line)
        except OSError:
            return "", 0
        pending = int(said.get("SigPnd", "0"), 16) | int(said.get("ShdPnd", "0"), 16)
        return said.get("State", "").strip()[:1], pending

    def end(self, seconds: float = ENDING) -> Samples:
        """Ask for its last words, wait for them so long, and let it go."""
        for number, wait in ((signal.SIGRTMIN, seconds), (signal.SIGKILL, 0.0)):
            if self._process:
                with contextlib.suppress(OSError):
                    os.kill(self._process, number)
            self.join(wait)
        return self._samples


def _start(pid: int, theirs: int) -> int:
    """Start it with every signal blocked; 0 where that fails."""
    null = os.open(os.devnull, os.O_RDWR)
    argv = child_command("sampler", str(pid), binding())
    swap = [(os.POSIX_SPAWN_DUP2, old, new) for new, old in enumerate((null, theirs, null))]
    try:
        return os.posix_spawn(
            argv[0], argv, os.environ, file_actions=swap, setsigmask=signal.valid_signals()
        )
    except OSError:
        return 0
    finally:
        os.close(null)
