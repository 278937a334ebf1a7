"""Log: one rank's lines in one pass: when it spoke, how far it came, how it ended."""

from __future__ import annotations

import calendar
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import cached_property
from statistics import median

from gpuwhy.causes.load import catalogue
from gpuwhy.fleet.answer import expression, table
from gpuwhy.fleet.ranks.job import Ended
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
_QUIET = ("none", "exit")


class Log:
    """What one rank said: fed line by line, then asked."""

    def __init__(self, name: str, number: int, year: int) -> None:
        self.name, self.number = name, number
        self.shared: dict[str, float] = {}  # what it said and when, to be held against other ranks
        self.step: int | None = None
        self.last: float | None = None
        self.lines = 0
        self.order = -1  # the place of its first error in a stream of several ranks
        self.code: int | None = None  # by its launcher: negative = a signal
        self.gone = ""  # how Ray says that its process died
        self.offset = 0.0  # seconds by which its clock is ahead of the others
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

    def feed(self, line: str) -> None:
        """One line, without who said it."""
        self.lines += 1
        self._reader.feed(line.encode("utf-8", "replace") + b"\n")
        time = moment(line, self._year)
        if time is not None:
            self._timed(line, time)
        if _RAISED.match(line):
            self._raised, self._raised_line = line[:2000], self.lines
        if "is running collective" in line:
            self.prints.update({int(rank): text for rank, text in _RUNNING.findall(line[:4000])})
        if found := _ENQUEUED.search(line[:4000]) if "enqueued" in line else None:
            self.enqueued = int(found[1])
        if found := _WORK.search(line[:4000]) if "SeqNum" in line else None:
            elements = f" of {found[3]} elements" if found[3] else ""
            self.works[int(found[1])] = f"{found[2]}{elements}"
        if found := _STEP.search(line[:400]):
            self.step = int(found[1])

    def _timed(self, line: str, time: float) -> None:
        self.last = time
        self._times.append((self.lines, time))
        if len(self._times) > 2 * MOST_TIMES:
            del self._times[:MOST_TIMES]
        if len(self.shared) < MOST_SHARED:
            self.shared.setdefault(without(line)[:LONGEST], time)

    # Once everything was fed

    @cached_property
    def reading(self) -> Reading:
        """What the reader made of it."""
        return self._reader.log()

    @cached_property
    def errors(self) -> tuple[Message, ...]:
        """The errors that no earlier one explains."""
        return tuple(m for m in self.reading.messages if m.role == "error" and m.explained_by < 0)

    @property
    def tells_a_failure(self) -> bool:
        """Whether it has a word of failure."""
        return self.reading.lines > 0 and (self.reading.ending.kind != "none" or bool(self.errors))

    def _spoke_before(self, line: int) -> int:
        """How many of its lines up to one have a time."""
        return bisect_right(self._times, (line, float("inf")))

    @cached_property
    def _outlived(self) -> bool:
        """Whether what reads as its end was only noted: it went on, and raised another later."""
        line, raised = self.reading.ending.line, self._raised_line
        spoke = self._spoke_before(raised - 1) - self._spoke_before(line)
        return 0 < line < raised and spoke > 1

    @property
    def time(self) -> float | None:
        """When its last error was said: the time of that line, or of the last one before it."""
        ending, at = self.reading.ending, self.last
        line = self._raised_line if self._outlived else ending.first or ending.line
        if line and self._times:
            at = self._times[max(self._spoke_before(line) - 1, 0)][1]
        return None if at is None else at - self.offset

    @property
    def _died(self) -> bool:
        """Whether Ray says that its process died, and it told no reason itself."""
        return bool(self.gone) and self.reading.ending.kind in _QUIET

    @cached_property
    def words(self) -> str:
        """The last error, or the first line that decides, in one line."""
        if self._outlived:
            return self._raised[:300]
        if self._died:
            return ""
        if self.reading.ending.kind not in _QUIET:
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
    def parted(self) -> bool:
        """Whether it says itself that another rank ran a different collective."""
        return bool(_PARTED.search(f"{self._said} {self.words}"))

    @property
    def place(self) -> tuple[str, int, str]:
        """Where in the user's code it stood at its end: the file, the line and the call."""
        frame = self.reading.ending.user_frame
        if frame is None:
            return "", 0, ""
        return frame.file.replace("\\", "/").rsplit("/", 1)[-1], frame.line, frame.code

    @cached_property
    def ended(self) -> Ended:
        """How it ended, by its own words and its launcher's."""
        if self.code in (-15, -2):
            return "stopped"
        if self._died:
            return "killed"
        if self.reading.ending.kind in _QUIET and not self.errors:
            if self.code:
                return "killed"
            last = next(reversed(self.shared), "").lower()
            well = self.code == 0 or self.reading.ending.well or _DONE.search(last)
            return "well" if well else "silent"
        if _STOPPED.search(self._all_words):
            return "stopped"
        return "waited" if self._reports_absence() else "failed"

    @property
    def late(self) -> bool:
        """Whether it waited for another one, and ran into a time limit."""
        return self.ended == "waited" and bool(_LATE.search(self._all_words))

    def _reports_absence(self) -> bool:
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


_SHAPES = tuple(re.compile(shape, re.ASCII) for shape in table("times"))
_MONTHS = {name: n for n, name in enumerate(calendar.month_abbr) if name}
LOOKED = 160  # how much of a line is looked at for a time
LEAST_SHARED, LEAST_OFFSET = 3, 1.0
"""How many lines two logs must share, and how far their clocks must be apart to be set right."""


def moment(line: str, year: int) -> float | None:
    """Unix time of a line, as if in UTC where no zone is told; None where it tells no time."""
    head = line[:LOOKED]
    found = next(filter(None, (shape.search(head) for shape in _SHAPES)), None)
    if not found:
        return None
    told = found.groupdict()
    clock = int(told["h"]), int(told["m"]), int(told["s"])
    part = float(f"0.{told['part']}") if told.get("part") else 0.0
    if "day" not in told:
        return clock[0] * 3600 + clock[1] * 60 + clock[2] + part
    month = _MONTHS[told["name"]] if "name" in told else int(told["month"])
    date = int(told.get("year", year)), month, int(told["day"])
    if not (1 <= month <= 12 and 1 <= date[2] <= 31):
        return part
    zone = (told.get("zone") or "Z").replace(":", "")
    ahead = 0 if zone == "Z" else int(zone[:3]) * 3600 + int(zone[0] + zone[3:]) * 60
    return calendar.timegm((*date, *clock, 0, 0, 0)) + part - ahead


def without(line: str) -> str:
    """The line without its time."""
    for shape in _SHAPES:
        line, changed = shape.subn("", line, count=1)
        if changed:
            break
    return line.strip()


def offsets(said: Sequence[Mapping[str, float]]) -> list[float]:
    """How far each log's clock is ahead of the middle one, by lines that several say in step.

    Ranks that train together say "step 7" at the same moment; a constant difference is the clock's.
    """
    if not said:
        return []
    reference = max(said, key=lambda own: sum(len(own.keys() & other.keys()) for other in said))
    apart = [_apart(lines, reference) for lines in said]
    middle = median(apart)
    return [one - middle if abs(one - middle) >= LEAST_OFFSET else 0.0 for one in apart]


def _apart(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    shared = [one[line] - other[line] for line in one.keys() & other.keys()]
    if len(shared) < LEAST_SHARED:
        return 0.0
    middle = median(shared)
    spread = median(abs(value - middle) for value in shared)
    return middle if abs(middle) > 3 * spread else 0.0
