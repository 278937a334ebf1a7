"""Gather: files and streams of a job to one log a rank, as each launcher names and ends them."""

from __future__ import annotations

import re
import signal
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain, islice

import msgspec

from gpuwhy.fleet.answer import expression, table
from gpuwhy.fleet.ranks.log import Log

SNIFFED = 200
MOST_LOGS, MOST_WORDS, MOST_XIDS, MOST_TASKS = 20_000, 1 << 20, 200, 100_000
_SIGNALS: dict[str, int] = table("signals")
_IN_PATH = tuple(map(re.compile, table("expressions")["in_path"]))
_MASTER = re.compile(r"(?:^|[^a-z])(?:master|launcher|chief|head)[-_.]?0?(?!\d)", re.IGNORECASE)
_WORKER = re.compile(r"worker[-_.]?\d", re.IGNORECASE)
_ATTEMPT = re.compile(r"^(?P<run>.*?)/?attempt_(?P<n>\d{1,6})/")
_PREFIXES = {name: re.compile(one) for name, one in table("prefixes").items()}
_ALWAYS = ("torch", "torchrun", "mpi", "pod", "ray")
"""Prefixes that nothing else looks like; the others count where most lines have one."""
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}m")
_SPEAKER_PID = re.compile(r"pid=(\d{1,9})")
_FAILS = re.compile(r"Traceback|Error\b|error:|Fatal|fault|abort")
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
    found = {path: _ATTEMPT.match(path) for path in paths}
    last: dict[str, int] = {}
    for one in filter(None, found.values()):
        last[one["run"]] = max(last.get(one["run"], 0), int(one["n"]))
    return [path for path, one in found.items() if not one or int(one["n"]) == last[one["run"]]]


def labels(paths: Sequence[str]) -> dict[str, tuple[str, int]]:
    """Path → (name, rank); the same rank in several folders is named by what differs."""
    base = {path: path.rsplit("/", 1)[-1] for path in paths}
    numbers = {path: _in_path(path) for path in paths} if len(paths) > 1 else {paths[0]: -1}
    masters = {path for path in paths if _MASTER.search(base[path])}
    workers = {path for path in paths if _WORKER.search(base[path])}
    if masters and workers and not workers & masters:  # the first worker is rank 1
        numbers |= {path: numbers[path] + 1 for path in workers} | dict.fromkeys(masters, 0)
    if len(set(numbers.values())) == 1:
        return {path: (base[path], number) for path, number in numbers.items()}
    groups = {}  # what is left of a path without rank and stream: the node's folder, the run
    for path in paths:
        plain = re.sub(r"\d+", "#", re.sub(r"\.(?:out|err|log|txt|stdout|stderr)\b", "", path))
        found = _ATTEMPT.match(path)
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
    return 0 if _MASTER.search(path.rsplit("/", 1)[-1]) else -1


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
        rows = (_COLOUR.sub("", line) if "\x1b" in line else line for line in lines)
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
            pid = _SPEAKER_PID.search(who)
            number = int(who) if who.isdigit() else -1 if pid else _in_path(who)
            log = self.log(pid[0] if pid else f"rank {number}" if who.isdigit() else who, number)
            if log.order < 0 and _FAILS.search(rest):
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
