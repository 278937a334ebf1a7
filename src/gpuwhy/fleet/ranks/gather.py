"""Gather: files and streams of a job to one log a rank, as each launcher names and ends them."""

from __future__ import annotations

import re
import signal
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain, islice

import msgspec

from gpuwhy.fleet.answer import expression, table
from gpuwhy.fleet.ranks.job import Xid
from gpuwhy.fleet.ranks.log import Log

_SIGNALS: dict[str, int] = table("signals")
_MOST_TASKS = 100_000


class Said(msgspec.Struct):
    """Exit codes and hosts by rank, and the rank that the launcher saw fail first."""

    codes: dict[int, int] = {}
    hosts: dict[int, str] = {}
    root: int = -1

    def ended(self, rank: int, code: int) -> None:
        """A rank ended so; the first one that was not told to stop is the root."""
        self.codes.setdefault(rank, code)
        if self.root < 0 and self.codes[rank] != -signal.SIGTERM:
            self.root = rank


def said_in(text: str) -> Said:
    """What a launcher's own lines tell."""
    said, block = Said(), expression("block")
    for found in block.finditer(text):
        said.codes[int(found["rank"])] = int(found["code"])
    for found in expression("host").finditer(text):
        said.hosts[int(found["rank"])] = found["host"]
    root = expression("root").search(text)
    if first := block.search(root["rest"]) if root else None:
        said.root = int(first["rank"])
    for name, sign in (("failed", 1), ("mpi", -1), ("mpi_code", 1)):
        for found in expression(name).finditer(text):
            said.ended(int(found["rank"]), sign * int(found["code"]))
    for found in expression("srun").finditer(text):
        for rank in _tasks(found["rank"]):
            said.hosts.setdefault(rank, found["host"])
            said.ended(rank, _code_of(found["how"]))
    return said


def _tasks(text: str) -> list[int]:
    out: list[int] = []
    for part in text.split(",")[:1000]:
        first, _, last = part.partition("-")
        if first.isdigit():
            out += range(int(first), min(int(last or first), int(first) + _MOST_TASKS) + 1)
    return out


def _code_of(words: str) -> int:
    if found := re.search(r"exit code (\d{1,3})", words):
        return int(found[1])
    return next((-number for word, number in _SIGNALS.items() if word in words.lower()), 1)


def named(code: int) -> str:
    """An exit code in words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


# Ray


_ERROR, _DEATH, _PID, _DIED, _OWN = map(re.compile, table("ray"))
_START = "Traceback (most recent call last):"
"""Ray leaves this line out of what it prints of a task."""


class RayDriver:
    """Follows the lines that no speaker stands before: Ray prints a task's error and an actor's
    death under its pid.
    """

    def __init__(self) -> None:
        self._pid = ""  # whose error is being printed
        self._died = ""  # the actor whose death is being told; "?" before its pid came

    def take(self, line: str) -> tuple[str, str, str]:
        """The pid that a line belongs to ("" for none), what to read there, and how it died."""
        if found := _ERROR.search(line):
            self._pid, self._died = found["pid"], ""
            return self._pid, _START, ""
        if _DEATH.match(line):
            self._pid, self._died = "", "?"
        elif self._died and (found := _PID.match(line)):
            self._died = found[1]
        elif self._died and self._died != "?" and _DIED.match(line):
            pid, self._died = self._died, ""
            return pid, "", line[:300]
        elif not self._died:
            self._pid = "" if _OWN.match(line) else self._pid
            return self._pid, line, ""
        return "", "", ""

    def spoken(self) -> None:
        """A line with a speaker came: whatever was being printed is over."""
        self._pid = self._died = ""


_IN_PATH = tuple(map(re.compile, table("expressions")["in_path"]))
_MASTER = re.compile(r"(?:^|[^a-z])(?:master|launcher|chief|head)[-_.]?0?(?!\d)", re.IGNORECASE)
_WORKER = re.compile(r"worker[-_.]?\d", re.IGNORECASE)
_ATTEMPT = re.compile(r"^(?P<run>.*?)/?attempt_(?P<n>\d{1,6})/")
_PREFIXES = {name: re.compile(one) for name, one in table("prefixes").items()}
_ALWAYS = ("torch", "torchrun", "mpi", "pod", "ray")
"""Prefixes that nothing else looks like; the others count where most lines have one."""


def last_attempts(paths: Sequence[str]) -> list[str]:
    """Without the files of attempts that torchrun made before the last one of the same run."""
    found = {path: _ATTEMPT.match(path) for path in paths}
    last: dict[str, int] = {}
    for one in filter(None, found.values()):
        last[one["run"]] = max(last.get(one["run"], 0), int(one["n"]))
    return [path for path, one in found.items() if not one or int(one["n"]) == last[one["run"]]]


def labels(paths: Sequence[str]) -> dict[str, tuple[str, int]]:
    """Path → (name, rank); the same rank in several folders is named by what differs."""
    numbers = {paths[0]: -1} if len(paths) == 1 else _numbers_of(paths)
    if len(set(numbers.values())) == 1:
        return {path: (path.rsplit("/", 1)[-1], number) for path, number in numbers.items()}
    groups = {path: _group(path) for path in paths}
    ranks = {(number, groups[path]) for path, number in numbers.items() if number >= 0}
    alone = len({number for number, _ in ranks}) == len(ranks)
    out = {}
    for path, number in numbers.items():
        name = f"rank {number}" if alone else f"{groups[path]}/rank {number}"
        out[path] = (name if number >= 0 else path, number)
    return out


def _numbers_of(paths: Sequence[str]) -> dict[str, int]:
    """Rank by path; with a master beside workers, the first worker is rank 1."""
    base = {path: path.rsplit("/", 1)[-1] for path in paths}
    masters = {path for path in paths if _MASTER.search(base[path])}
    workers = {path for path in paths if _WORKER.search(base[path])}
    out = {path: _in_path(path) for path in paths}
    if masters and workers and not workers & masters:
        out.update({path: out[path] + 1 for path in workers}, **dict.fromkeys(masters, 0))
    return out


def _in_path(path: str) -> int:
    """The rank that a file's path names; -1 for none."""
    for shape in _IN_PATH:
        if found := shape.findall(path):
            return int(found[-1])
    return 0 if _MASTER.search(path.rsplit("/", 1)[-1]) else -1


def _group(path: str) -> str:
    """What is left of a path without the rank and the stream: the node's folder, the run."""
    if found := _ATTEMPT.match(path):
        return found["run"]
    return re.sub(r"\d+", "#", re.sub(r"\.(?:out|err|log|txt|stdout|stderr)\b", "", path))


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


def number_of(who: str) -> int:
    """The rank in a speaker's name: "3", "llm-worker-2"; -1 where it is none."""
    return int(who) if who.isdigit() else _in_path(who)


SNIFFED = 200
MOST_LOGS, MOST_WORDS, MOST_XIDS = 20_000, 1 << 20, 200
_XID = expression("xid")
_KERNEL = expression("kernel")
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}m")
_SPEAKER_PID = re.compile(r"pid=(\d{1,9})")
_WORLD = expression("world")
_FAILS = re.compile(r"Traceback|Error\b|error:|Fatal|fault|abort")


class Gathered:
    """Everything of one job."""

    def __init__(self, year: int) -> None:
        self.logs: dict[str, Log] = {}
        self.xids: list[Xid] = []
        self.notes: list[str] = []
        self.world = 0
        self._year = year
        self._words: list[str] = []
        self._size = 0
        self._order = 0
        self._driver = RayDriver()

    @property
    def said(self) -> Said:
        """What the launcher tells."""
        return said_in("\n".join(self._words))

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
        if self.world == 0 and (found := _WORLD.search(line)):
            self.world = int(found[1] or found[2])
        who, rest = split(line, style or ("torch" if own else ""))
        log = own or (self._speaker(who) if who else None)
        if log is None:
            self._unsigned(line)
            return
        if style == "ray":
            self._actor(log, who, rest)
            if log.over:
                return  # Ray prints some lines late
        if not own:
            if log.order < 0 and _FAILS.search(rest):
                log.order = self._order
        elif style in ("torch", "torchrun") and who.isdigit():
            own.number = int(who)  # its own word: the rank among all nodes
        log.feed(rest if who else line)

    def _unsigned(self, line: str) -> None:
        """A line that nobody stands before: the launcher's, or one that Ray prints for an actor."""
        self._words.append(line[:2000])
        self._size += len(self._words[-1])
        while self._size > MOST_WORDS and len(self._words) > 1:
            self._size -= len(self._words.pop(0))
        pid, words, died = self._driver.take(line)
        if pid:
            log = self._speaker(f"pid={pid}")
            log.gone, log.over = died or log.gone, True
            if not died:
                log.feed(words)

    def _actor(self, log: Log, who: str, rest: str) -> None:
        """An actor of Ray by its pid; its rank is known once it tells it."""
        self._driver.spoken()
        log.name = who if log.number < 0 else log.name
        number = split(rest, "torch")[0]
        if log.number < 0 and number.isdigit():
            log.number, log.name = int(number), f"rank {number} ({who})"

    def whole(self) -> None:
        """Where no rank is named anywhere: what was printed is read as one process."""
        if self.logs or not self._words:
            return
        log = self.log("the log", -1)
        for line in self._words:
            log.feed(line)
        self.notes.append("no rank is named in what was given: it is read as one process")

    def _speaker(self, who: str) -> Log:
        if found := _SPEAKER_PID.search(who):
            return self.log(found[0], -1)
        number = number_of(who)
        return self.log(f"rank {number}" if who.isdigit() else who, number)

    def _xid(self, line: str) -> None:
        found = _XID.search(line)
        if found and len(self.xids) < MOST_XIDS:
            host = _KERNEL.match(line)
            text = f"Xid {found['number']}{found['rest']}".strip()[:200]
            name = (host["host"] or host["iso"]) if host else ""
            self.xids.append(Xid(int(found["number"]), name, found["pci"], text))
