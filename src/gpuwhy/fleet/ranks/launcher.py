"""Launcher: what torchrun, srun and mpirun say of the ranks they started, and Ray of its actors."""

from __future__ import annotations

import re
import signal

import msgspec

from gpuwhy.fleet.kinds import expression

_BLOCK = expression("block")
_HOST = expression("host")
_ROOT = expression("root")
_FAILED = expression("failed")
_SRUN = expression("srun")
_MPI = expression("mpi")
_MPI_CODE = expression("mpi_code")
_WORDS = {
    "segmentation fault": -11,
    "aborted": -6,
    "killed": -9,
    "out of memory": -9,
    "bus error": -7,
    "terminated": -15,
}
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


def read(text: str) -> Said:
    """What a launcher's own lines tell."""
    said = Said()
    for found in _BLOCK.finditer(text):
        said.codes[int(found["rank"])] = int(found["code"])
    for found in _HOST.finditer(text):
        said.hosts[int(found["rank"])] = found["host"]
    if (root := _ROOT.search(text)) and (block := _BLOCK.search(root["rest"])):
        said.root = int(block["rank"])
    for found in _FAILED.finditer(text):
        said.ended(int(found["rank"]), int(found["code"]))
    for found in _SRUN.finditer(text):
        for rank in _tasks(found["rank"]):
            said.hosts.setdefault(rank, found["host"])
            said.ended(rank, _code_of(found["how"]))
    for found in _MPI.finditer(text):
        said.ended(int(found["rank"]), -int(found["n"]))
    for found in _MPI_CODE.finditer(text):
        said.ended(int(found["rank"]), int(found["code"]))
    return said


def _tasks(text: str) -> list[int]:
    out: list[int] = []
    for part in text.split(",")[:1000]:
        first, _, last = part.partition("-")
        if first.isdigit():
            end = int(last or first)
            out += range(int(first), min(end, int(first) + _MOST_TASKS) + 1)
    return out


def _code_of(words: str) -> int:
    found = re.search(r"exit code (\d{1,3})", words)
    if found:
        return int(found[1])
    return next((code for word, code in _WORDS.items() if word in words.lower()), 1)


def named(code: int) -> str:
    """An exit code in words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


# Ray


_ERROR = re.compile(r"ray::[\w.<>-]{1,120}\(\) {0,3}\(pid=(?P<pid>\d{1,9})")
_DEATH = re.compile(r"(?:ray\.exceptions\.)?Actor(?:Died|Unavailable)Error\b")
_PID = re.compile(r"\s+pid: (\d{1,9})\s*$")
_DIED = re.compile(r"The actor (?:is dead because|died because)|Worker exit type:")
_OWN = re.compile(
    r"Traceback \(most recent call last\)|\d{4}-\d\d-\d\d \d\d:\d\d|\(raylet\b|Error executing job"
)
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
