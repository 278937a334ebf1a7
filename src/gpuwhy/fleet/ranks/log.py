"""Log: one rank's lines in one pass: when it spoke, how far it came, how it ended."""

from __future__ import annotations

import calendar
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Literal

from gpuwhy.causes.load import catalogue
from gpuwhy.fleet.answer import expression, table
from gpuwhy.log.read import Reader

Ended = Literal["failed", "killed", "waited", "silent", "well", "stopped"]
"""failed: for a reason of its own. killed: by a signal, without a word. waited: it reports that
another one is gone or late. silent: its log just ends. well: it came to its end. stopped: told to
end, by its launcher or scheduler."""
MOST_SHARED, MOST_TIMES, LONGEST = 4000, 4000, 200
LOOKED = 160  # how much of a line is looked at for a time
LEAST_SHARED, LEAST_OFFSET = 3, 1.0
"""How many lines two logs must share, and how far their clocks must be apart to be set right."""
_PEERS = tuple(table("peers"))
_SHAPES = tuple(re.compile(shape, re.ASCII) for shape in table("times"))
_MONTHS = {name: n for n, name in enumerate(calendar.month_abbr) if name}


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
        self.offset = 0.0  # seconds by which its clock is ahead of the others
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
        if told := moment(line, self._year):
            self.last, rest = told
            self._times.append((self.lines, self.last))
            if len(self._times) > 2 * MOST_TIMES:
                del self._times[:MOST_TIMES]
            if len(self.shared) < MOST_SHARED:
                self.shared.setdefault(rest[:LONGEST], self.last)
        if expression("raised").match(line):
            self._raised, self._raised_line = line[:2000], self.lines
        if "is running collective" in line:
            running = expression("running").findall(line[:4000])
            self.prints.update({int(rank): text for rank, text in running})
        if found := expression("enqueued").search(line[:4000]) if "enqueued" in line else None:
            self.enqueued = int(found[1])
        if found := expression("work").search(line[:4000]) if "SeqNum" in line else None:
            elements = f" of {found[3]} elements" if found[3] else ""
            self.works[int(found[1])] = f"{found[2]}{elements}"
        if found := expression("step").search(line[:400]):
            self.step = int(found[1])

    def end(self) -> None:
        """Once everything was fed: its last words, when they were said, and how it ended."""
        self.reading = self._reader.log()
        ending = self.reading.ending
        errors = [m for m in self.reading.messages if m.role == "error" and m.explained_by < 0]
        quiet = ending.kind in ("none", "exit")
        said = ": ".join(filter(None, (ending.type, ending.message)))
        self.words = errors[-1].text[:300] if errors else ""  # its last error in one line
        if not quiet:
            self.words = said.split("\n", 1)[0][:300]
        whole = f"{said} {self.words}"
        line, raised = ending.line, self._raised_line
        spoke = self._spoke_before(raised - 1) - self._spoke_before(line)
        outlived = 0 < line < raised and spoke > 1  # only noted: it went on, and raised another
        if outlived:
            whole = self.words = self._raised[:300]
        # the time of that line, or of the last one before it
        line = raised if outlived else ending.first or line
        self.at = self.last
        if line and self._times:
            self.at = self._times[max(self._spoke_before(line) - 1, 0)][1]
        self.tells_a_failure = self.reading.lines > 0 and (ending.kind != "none" or bool(errors))
        self.parted = bool(expression("parted").search(f"{said} {self.words}"))
        held = [m for m in self.reading.messages if ending.holds(m.line) or ending.holds(m.last)]
        peers = not outlived and any(one.id.startswith(_PEERS) for one in held or errors[-1:])
        well = self.code == 0 or ending.well
        last = next(reversed(self.shared), "").lower()
        self.ended: Ended = "failed"
        if self.code in (-15, -2):
            self.ended = "stopped"
        elif quiet and not errors:
            well = well or bool(expression("done").search(last))
            self.ended = "killed" if self.code else "well" if well else "silent"
        elif expression("stopped").search(whole):
            self.ended = "stopped"
        elif not expression("at_home").search(whole):  # its own port, its address, its names
            absent = expression("absence").search(whole)
            self.ended = "waited" if absent or self.parted or peers else "failed"
        # it waited for another one, and ran into a time limit
        self.late = self.ended == "waited" and bool(expression("late").search(whole))

    def _spoke_before(self, line: int) -> int:
        """How many of its lines up to one have a time."""
        return bisect_right(self._times, (line, float("inf")))

    @property
    def time(self) -> float | None:
        """When its last error was said, by the clock of the others."""
        return None if self.at is None else self.at - self.offset

    @property
    def place(self) -> tuple[str, int, str]:
        """Where in the user's code it stood at its end: the file, the line and the call."""
        frame = self.reading.ending.user_frame
        if frame is None:
            return "", 0, ""
        return frame.file.replace("\\", "/").rsplit("/", 1)[-1], frame.line, frame.code


def moment(line: str, year: int) -> tuple[float, str] | None:
    """Unix time of a line, as if in UTC where no zone is told, and the line without its time."""
    found = next(filter(None, (shape.search(line, 0, LOOKED) for shape in _SHAPES)), None)
    if not found:
        return None
    told, rest = found.groupdict(), (line[: found.start()] + line[found.end() :]).strip()
    clock = int(told["h"]) * 3600 + int(told["m"]) * 60 + int(told["s"])
    time = clock + float(f"0.{told.get('part') or 0}")
    if "day" not in told:
        return time, rest
    month, day = _MONTHS[told["name"]] if "name" in told else int(told["month"]), int(told["day"])
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    zone = (told.get("zone") or "+0000").replace("Z", "+0000").replace(":", "")
    time -= int(zone[:3]) * 3600 + int(zone[0] + zone[3:]) * 60
    return calendar.timegm((int(told.get("year", year)), month, day, 0, 0, 0)) + time, rest


def offsets(said: Sequence[Mapping[str, float]]) -> list[float]:
    """How far each log's clock is ahead of the middle one, by lines that several say in step.

    Ranks that train together say "step 7" at the same moment; a constant difference is the clock's.
    """
    if not said:
        return []
    reference = max(said, key=lambda own: sum(len(own.keys() & other.keys()) for other in said))
    apart = []
    for lines in said:
        shared = [lines[one] - reference[one] for one in lines.keys() & reference.keys()]
        middle = median(shared) if len(shared) >= LEAST_SHARED else 0.0
        spread = median(abs(one - middle) for one in shared) if middle else 0.0
        apart.append(middle if abs(middle) > 3 * spread else 0.0)
    middle = median(apart)
    return [one - middle if abs(one - middle) >= LEAST_OFFSET else 0.0 for one in apart]
