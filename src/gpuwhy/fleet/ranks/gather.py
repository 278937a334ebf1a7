"""Gather: files and streams of a job to one log a rank, and what each log tells."""

from __future__ import annotations

import calendar
import re
import signal
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from statistics import median
from typing import Literal

import msgspec

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
SNIFFED = 200
MOST_LOGS, MOST_WORDS, MOST_XIDS, MOST_TASKS = 20_000, 1 << 20, 200, 100_000
_SIGNALS: dict[str, int] = table("signals")
_IN_PATH = tuple(map(re.compile, table("expressions")["in_path"]))
_PREFIXES = {name: re.compile(one) for name, one in table("prefixes").items()}
_ALWAYS = ("torch", "torchrun", "mpi", "pod", "ray")
"""Prefixes that nothing else looks like; the others count where most lines have one."""
_ENDED = (("failed", 1), ("mpi", -1), ("mpi_code", 1))
"""What tells a rank's end, and the sign of its code: a signal is negative."""


class Xid(msgspec.Struct, frozen=True, rename={"number": "xid"}):
    """A driver error in a kernel log among the files."""

    number: int
    host: str  # "" where the line names none
    pci: str
    text: str


class Said:
    """What a launcher's own lines tell: exit codes and hosts by rank, and who failed first."""

    def __init__(self, text: str) -> None:
        self.codes: dict[int, int] = {}
        self.hosts: dict[int, str] = {}
        self.root = -1
        block = expression("block")
        for found in block.finditer(text):
            self.codes[int(found["rank"])] = int(found["code"])
        for found in expression("host").finditer(text):
            self.hosts[int(found["rank"])] = found["host"]
        root = expression("root").search(text)
        if first := block.search(root["rest"]) if root else None:
            self.root = int(first["rank"])
        for name, sign in _ENDED:
            for found in expression(name).finditer(text):
                self._ended(int(found["rank"]), sign * int(found["code"]))
        for found in expression("srun").finditer(text):
            how = found["how"].lower()
            code = next((-number for word, number in _SIGNALS.items() if word in how), 1)
            if told := re.search(r"exit code (\d{1,3})", how):
                code = int(told[1])
            for first, last in re.findall(r"(\d{1,6})(?:-(\d{1,6}))?", found["rank"]):
                most = min(int(last or first), int(first) + MOST_TASKS)
                for rank in range(int(first), most + 1):
                    self.hosts.setdefault(rank, found["host"])
                    self._ended(rank, code)

    def _ended(self, rank: int, code: int) -> None:
        """A rank ended so; the first one that was not told to stop is the root."""
        self.codes.setdefault(rank, code)
        if self.root < 0 and self.codes[rank] != -signal.SIGTERM:
            self.root = rank


def last_attempts(paths: Sequence[str]) -> list[str]:
    """Without the files of attempts that torchrun made before the last one of the same run."""
    found = {path: expression("attempt").match(path) for path in paths}
    last: dict[str, int] = {}
    for one in filter(None, found.values()):
        last[one["run"]] = max(last.get(one["run"], 0), int(one["n"]))
    return [path for path, one in found.items() if not one or int(one["n"]) == last[one["run"]]]


def labels(paths: Sequence[str]) -> dict[str, tuple[str, int]]:
    """Path → (name, rank); the same rank in several folders is named by what differs."""
    base = {path: path.rsplit("/", 1)[-1] for path in paths}
    numbers = {path: _in_path(path) for path in paths} if len(paths) > 1 else {paths[0]: -1}
    if len(set(numbers.values())) == 1:
        return {path: (base[path], number) for path, number in numbers.items()}
    groups = {}  # what is left of a path without rank and stream: the node's folder, the run
    for path in paths:
        plain = re.sub(r"\d+", "#", re.sub(r"\.(?:out|err|log|txt|stdout|stderr)\b", "", path))
        found = expression("attempt").match(path)
        groups[path] = found["run"] if found else plain
    ranks = {(number, groups[path]) for path, number in numbers.items() if number >= 0}
    alone = len({number for number, _ in ranks}) == len(ranks)
    out = {}
    for path, number in numbers.items():
        name = f"rank {number}" if alone else f"{groups[path]}/rank {number}"
        out[path] = (name if number >= 0 else path, number)
    return out


def _in_path(path: str) -> int:
    """The rank that a file's path, or a pod's name, tells; -1 for none."""
    for shape in _IN_PATH:
        if found := shape.findall(path):
            return int(found[-1])
    return 0 if expression("master").search(path.rsplit("/", 1)[-1]) else -1


def style_of(lines: Sequence[str]) -> str:
    """How the lines of a stream name their rank; "" where they do not."""
    styles = (next((n for n, shape in _PREFIXES.items() if shape.match(x)), "") for x in lines)
    count = Counter(filter(None, styles))
    for name in _ALWAYS:
        if count[name]:
            return name
    name, times = count.most_common(1)[0] if count else ("", 0)
    return name if times >= 0.6 * len(lines) else ""


def split(line: str, style: str) -> tuple[str, str]:
    """Who says a line ("" = nobody is named), and what it says."""
    for name in ("torch", "torchrun") if style == "torchrun" else filter(None, (style,)):
        if found := _PREFIXES[name].match(line):
            return found[1], line[found.end() :]
    return "", line


class Gathered:
    """Everything of one job."""

    def __init__(self, year: int) -> None:
        self.logs: dict[str, Log] = {}
        self.xids: list[Xid] = []
        self.notes: list[str] = []
        self.world = 0
        self.words: list[str] = []  # lines that nobody stands before: the launcher's
        self._year = year
        self._size = self._order = 0

    def log(self, name: str, number: int) -> Log:
        """One rank's log, made when it first speaks."""
        if name not in self.logs and len(self.logs) < MOST_LOGS:
            self.logs[name] = Log(name, number, self._year)
        return self.logs.get(name) or next(iter(self.logs.values()))

    def file(
        self, name: str, number: int, lines: Iterable[str], written: float | None = None
    ) -> None:
        """A file of one rank, or a stream of several with who says each line before it."""
        rows = (expression("colour").sub("", line) if "\x1b" in line else line for line in lines)
        head = list(islice(rows, SNIFFED))
        style = style_of(head)
        own = None if number < 0 else self.log(name, number)
        if own is not None and written is not None:
            own.written = max(written, own.written or written)
        for line in chain(head, rows):
            self._line(line.rstrip("\r"), style, own)

    def _line(self, line: str, style: str, own: Log | None) -> None:
        self._order += 1
        if "Xid" in line:
            self._xid(line)
        if self.world == 0 and (found := expression("world").search(line)):
            self.world = int(found[1] or found[2])
        who, rest = split(line, style or ("torch" if own else ""))
        if own is not None:
            if style in ("torch", "torchrun") and who.isdigit():
                own.number = int(who)  # its own word: the rank among all nodes
            own.feed(rest if who else line)
        elif who:
            pid = expression("speaker_pid").search(who)
            number = int(who) if who.isdigit() else -1 if pid else _in_path(who)
            log = self.log(pid[0] if pid else f"rank {number}" if who.isdigit() else who, number)
            log.name = who if pid else log.name  # as Ray names an actor
            if log.order < 0 and expression("fails").search(rest):
                log.order = self._order
            log.feed(rest)
        else:
            self.words.append(line[:2000])
            self._size += len(self.words[-1])
            while self._size > MOST_WORDS and len(self.words) > 1:
                self._size -= len(self.words.pop(0))

    def whole(self) -> None:
        """Where no rank is named anywhere: what was printed is read as one process."""
        if self.logs or not self.words:
            return
        log = self.log("the log", -1)
        for line in self.words:
            log.feed(line)
        self.notes.append("no rank is named in what was given: it is read as one process")

    def _xid(self, line: str) -> None:
        found, host = expression("xid").search(line), expression("kernel").match(line)
        if found and len(self.xids) < MOST_XIDS:
            text = f"Xid {found['number']}{found['rest']}".strip()[:200]
            name = (host["host"] or host["iso"]) if host else ""
            self.xids.append(Xid(int(found["number"]), name, found["pci"], text))


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
