"""Log: one rank's lines in one pass: when it spoke, how far it came, how it ended."""

from __future__ import annotations

import re
from bisect import bisect_right

from gpuwhy.causes.load import catalogue
from gpuwhy.fleet.ranks.job import Ended
from gpuwhy.fleet.ranks.times import moment, without
from gpuwhy.fleet.tables import expression
from gpuwhy.log.ending import Ending
from gpuwhy.log.log import Log as Reading
from gpuwhy.log.message import Message
from gpuwhy.log.read import Reader

MOST_SHARED, MOST_TIMES, LONGEST = 4000, 4000, 200
_STEP = expression("step")
_ABSENCE = expression("absence")
_AT_HOME = expression("at_home")
"""Network errors that are the rank's own: its port, its address, its names."""
_LATE = expression("late")
_STOPPED = expression("stopped")
_PARTED = expression("parted")
"""Not the reason but its first sign: this rank met another one's different collective."""
_RUNNING = expression("running")
_ENQUEUED = expression("enqueued")
_WORK = expression("work")
_RAISED = expression("raised")
_PEERS = (
    "peer.absent",
    "peer.late",
    "peer.gone",
    "peer.unreachable",
    "nccl.timeout",
    "nccl.remote_error",
    "nccl.down",
)


def _said(ending: Ending) -> str:
    """An ending in its own words."""
    return ": ".join(filter(None, (ending.type, ending.message)))


class Log:
    """What one rank said; fed line by line."""

    def __init__(self, name: str, number: int, year: int) -> None:
        self.name, self.number = name, number
        self.shared: dict[str, float] = {}  # what it said and when, to be held against other ranks
        self.step: int | None = None
        self.first: float | None = None
        self.last: float | None = None
        self.lines = 0
        self.order = -1  # the place of its first error in a stream of several ranks
        self.code: int | None = None  # by its launcher: negative = a signal
        self.gone = ""  # how Ray says that its process died
        self.over = False  # Ray has told its error or its death
        self.written: float | None = None  # when its file was last written
        self.prints: dict[
            int, str
        ] = {}  # which collective each rank ran, as PyTorch's debug mode tells
        self.enqueued: int | None = None  # the last collective it began, as NCCL's watchdog tells
        self.works: dict[int, str] = {}  # by its number, which one ran out of time
        self._raised = (
            ""  # the last exception's line, and whether the program spoke again before it
        )
        self._raised_line = 0
        self._year = year
        self._reader = Reader(catalogue())
        self._times: list[tuple[int, float]] = []
        self._reading: Reading | None = None

    def feed(self, line: str) -> None:
        """One line, without who said it."""
        self.lines += 1
        self._reading = None
        self._reader.feed(line.encode("utf-8", "replace") + b"\n")
        time = moment(line, self._year)
        if time is not None:
            self._timed(line, time)
        if _RAISED.match(line):
            self._raised, self._raised_line = line[:2000], self.lines
        if "is running collective" in line:
            self.prints.update({int(rank): text for rank, text in _RUNNING.findall(line[:4000])})
        if "enqueued" in line or "SeqNum" in line:
            self._watchdog(line[:4000])
        found = _STEP.search(line[:400])
        if found:
            self.step = int(found[1])

    def _watchdog(self, line: str) -> None:
        """What NCCL's watchdog says of this rank's place in the order of collectives."""
        if found := _ENQUEUED.search(line):
            self.enqueued = int(found[1])
        if found := _WORK.search(line):
            self.works[int(found[1])] = f"{found[2]}" + (
                f" of {found[3]} elements" if found[3] else ""
            )

    def _timed(self, line: str, time: float) -> None:
        self.first = time if self.first is None else self.first
        self.last = time
        self._times.append((self.lines, time))
        if len(self._times) > 2 * MOST_TIMES:
            del self._times[:MOST_TIMES]
        text = without(line)[:LONGEST]
        if len(self.shared) < MOST_SHARED:
            self.shared.setdefault(text, time)

    @property
    def errors(self) -> tuple[Message, ...]:
        """The errors that no earlier one explains."""
        return tuple(m for m in self.reading.messages if m.role == "error" and m.explained_by < 0)

    @property
    def reading(self) -> Reading:
        """What the reader made of it."""
        if self._reading is None:
            self._reading = self._reader.log()
        return self._reading

    @property
    def _outlived(self) -> bool:
        """Whether what reads as its end was only noted: it went on, and raised another later."""
        line = self.reading.ending.line
        spoke = bisect_right(self._times, (self._raised_line, 0.0)) - bisect_right(
            self._times, (line, float("inf"))
        )
        return 0 < line < self._raised_line and spoke > 1

    @property
    def ending_time(self) -> float | None:
        """When its last error was said: the time of that line, or of the last one before it."""
        line = (
            self._raised_line
            if self._outlived
            else self.reading.ending.first or self.reading.ending.line
        )
        if not line or not self._times:
            return self.last
        place = bisect_right(self._times, (line, float("inf"))) - 1
        return self._times[max(place, 0)][1]

    @property
    def words(self) -> str:
        """The last error, or the first line that decides, in one line."""
        if self._outlived:
            return self._raised[:300]
        ending = self.reading.ending
        if self._died:
            return ""
        if ending.kind not in ("none", "exit"):
            return _said(ending).split("\n", 1)[0][:300]
        errors = self.errors
        return errors[-1].text[:300] if errors else ""

    @property
    def _died(self) -> bool:
        """Whether Ray says that its process died, and it told no reason itself."""
        return bool(self.gone) and self.reading.ending.kind in ("none", "exit")

    @property
    def parted(self) -> bool:
        """Whether it says itself that another rank ran a different collective."""
        return bool(_PARTED.search(f"{_said(self.reading.ending)} {self.words}"))

    @property
    def place(self) -> tuple[str, int, str]:
        """Where in the user's code it stood at its end: the file, the line and the call."""
        for frame in reversed(self.reading.ending.stack):
            if frame.owner == "user":
                return frame.file.replace("\\", "/").rsplit("/", 1)[-1], frame.line, frame.code
        return "", 0, ""

    def ended(self) -> Ended:
        """How it ended, by its own words and its launcher's."""
        if self.code in (-15, -2):
            return "stopped"
        if self._died:
            return "killed"
        ending = self.reading.ending
        if ending.kind in ("none", "exit") and not self.errors:
            return self._ended_quietly()
        text = self.words if self._outlived else f"{_said(ending)} {self.words}"
        if _STOPPED.search(text):
            return "stopped"
        return "waited" if self._absence(text) else "failed"

    def _ended_quietly(self) -> Ended:
        """Where its own words tell of no error."""
        if self.code:
            return "killed"
        return "well" if self.code == 0 or self._came_to_its_end() else "silent"

    def _absence(self, text: str) -> bool:
        """Whether its last error only says that another one is not there, or did something else."""
        if _AT_HOME.search(text):
            return False
        if _ABSENCE.search(text) or _PARTED.search(text):
            return True
        if self._outlived:
            return False
        ending = self.reading.ending
        inside = [
            one for one in self.reading.messages if ending.holds(one.line) or ending.holds(one.last)
        ] or list(self.errors[-1:])
        return any(one.id.startswith(_PEERS) for one in inside)

    @property
    def late(self) -> bool:
        """Whether it ran into a time limit."""
        return bool(
            _LATE.search(
                self.words if self._outlived else f"{_said(self.reading.ending)} {self.words}"
            )
        )

    def _came_to_its_end(self) -> bool:
        return self.reading.ending.well or bool(
            re.search(r"\b(?:done|finished|completed|max steps reached)\b", self.tail)
        )

    @property
    def tail(self) -> str:
        """Its last timed line's words."""
        return next(reversed(self.shared), "").lower()
