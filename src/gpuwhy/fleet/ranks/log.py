"""Log: one rank's lines in one pass: when it spoke, how far it came, how it ended."""

from __future__ import annotations

from bisect import bisect_right

from gpuwhy.causes.load import catalogue
from gpuwhy.fleet.ranks.job import Ended
from gpuwhy.fleet.ranks.times import moment, without
from gpuwhy.fleet.tables import expression, table
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
_DONE = expression("done")
_PEERS = tuple(table("peers"))


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
        self.prints: dict[int, str] = {}  # which collective each rank ran, by PyTorch's debug mode
        self.enqueued: int | None = None  # the last collective it began, as NCCL's watchdog tells
        self.works: dict[int, str] = {}  # by its number, which one ran out of time
        self._raised = ""  # the last exception's line
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
            elements = f" of {found[3]} elements" if found[3] else ""
            self.works[int(found[1])] = f"{found[2]}{elements}"

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

    def _spoke_before(self, line: int, *, with_line: bool = True) -> int:
        """How many of its lines up to one have a time."""
        return bisect_right(self._times, (line, float("inf") if with_line else 0.0))

    @property
    def _outlived(self) -> bool:
        """Whether what reads as its end was only noted: it went on, and raised another later."""
        line, raised = self.reading.ending.line, self._raised_line
        spoke = self._spoke_before(raised, with_line=False) - self._spoke_before(line)
        return 0 < line < raised and spoke > 1

    @property
    def ending_time(self) -> float | None:
        """When its last error was said: the time of that line, or of the last one before it."""
        ending = self.reading.ending
        line = self._raised_line if self._outlived else ending.first or ending.line
        if not line or not self._times:
            return self.last
        return self._times[max(self._spoke_before(line) - 1, 0)][1]

    @property
    def words(self) -> str:
        """The last error, or the first line that decides, in one line."""
        if self._outlived:
            return self._raised[:300]
        if self._died:
            return ""
        if self.reading.ending.kind not in ("none", "exit"):
            return self._said.split("\n", 1)[0][:300]
        return self.errors[-1].text[:300] if self.errors else ""

    @property
    def _said(self) -> str:
        """Its ending in its own words."""
        ending = self.reading.ending
        return ": ".join(filter(None, (ending.type, ending.message)))

    @property
    def _all_words(self) -> str:
        return self.words if self._outlived else f"{self._said} {self.words}"

    @property
    def _died(self) -> bool:
        """Whether Ray says that its process died, and it told no reason itself."""
        return bool(self.gone) and self.reading.ending.kind in ("none", "exit")

    @property
    def parted(self) -> bool:
        """Whether it says itself that another rank ran a different collective."""
        return bool(_PARTED.search(f"{self._said} {self.words}"))

    @property
    def late(self) -> bool:
        """Whether it ran into a time limit."""
        return bool(_LATE.search(self._all_words))

    @property
    def place(self) -> tuple[str, int, str]:
        """Where in the user's code it stood at its end: the file, the line and the call."""
        frame = self.reading.ending.user_frame
        if frame is None:
            return "", 0, ""
        return frame.file.replace("\\", "/").rsplit("/", 1)[-1], frame.line, frame.code

    def ended(self) -> Ended:
        """How it ended, by its own words and its launcher's."""
        if self.code in (-15, -2):
            return "stopped"
        if self._died:
            return "killed"
        if self.reading.ending.kind in ("none", "exit") and not self.errors:
            return self._ended_quietly()
        if _STOPPED.search(self._all_words):
            return "stopped"
        return "waited" if self._absence() else "failed"

    def _ended_quietly(self) -> Ended:
        """Where its own words tell of no error."""
        if self.code:
            return "killed"
        last = next(reversed(self.shared), "").lower()
        well = self.code == 0 or self.reading.ending.well or _DONE.search(last)
        return "well" if well else "silent"

    def _absence(self) -> bool:
        """Whether its last error only says that another one is not there, or did something else."""
        words, ending = self._all_words, self.reading.ending
        if _AT_HOME.search(words):
            return False
        if _ABSENCE.search(words) or _PARTED.search(words):
            return True
        if self._outlived:
            return False
        held = [m for m in self.reading.messages if ending.holds(m.line) or ending.holds(m.last)]
        return any(one.id.startswith(_PEERS) for one in held or self.errors[-1:])
