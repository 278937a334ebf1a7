"""Gather: files and streams of a job to one log a rank, Xids, the launcher's words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain, islice

from gpuwhy.fleet.answer import expression
from gpuwhy.fleet.ranks import launcher
from gpuwhy.fleet.ranks.job import Xid
from gpuwhy.fleet.ranks.log import Log

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
        self._driver = launcher.RayDriver()

    @property
    def said(self) -> launcher.Said:
        """What the launcher tells."""
        return launcher.read("\n".join(self._words))

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
        style = launcher.style_of(head)
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
        who, rest = launcher.split(line, style or ("torch" if own else ""))
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
        number = launcher.split(rest, "torch")[0]
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
        number = launcher.number_of(who)
        return self.log(f"rank {number}" if who.isdigit() else who, number)

    def _xid(self, line: str) -> None:
        found = _XID.search(line)
        if found and len(self.xids) < MOST_XIDS:
            host = _KERNEL.match(line)
            text = f"Xid {found['number']}{found['rest']}".strip()[:200]
            name = (host["host"] or host["iso"]) if host else ""
            self.xids.append(Xid(int(found["number"]), name, found["pci"], text))
