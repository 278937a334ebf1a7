"""Ray's driver: whose words a line without a speaker is.

Ray prints a task's error and an actor's death under its pid.
"""

from __future__ import annotations

import re

_ERROR = re.compile(r"ray::[\w.<>-]{1,120}\(\) {0,3}\(pid=(?P<pid>\d{1,9})")
_DEATH = re.compile(r"(?:ray\.exceptions\.)?Actor(?:Died|Unavailable)Error\b")
_PID = re.compile(r"\s+pid: (\d{1,9})\s*$")
_DIED = re.compile(r"The actor (?:is dead because|died because)|Worker exit type:")
_OWN = re.compile(
    r"Traceback \(most recent call last\)|\d{4}-\d\d-\d\d \d\d:\d\d|\(raylet\b|Error executing job"
)
START = "Traceback (most recent call last):"
"""Ray leaves this line out of what it prints of a task."""


class Driver:
    """Follows the lines of one stream that no speaker stands before."""

    def __init__(self) -> None:
        self._pid = ""  # whose error is being printed
        self._died = ""  # the actor whose death is being told; "?" before its pid came

    def take(self, line: str) -> tuple[str, list[str], str]:
        """The pid that a line belongs to ("" for none), what to read there, and how it died."""
        if found := _ERROR.search(line):
            self._pid, self._died = found["pid"], ""
            return self._pid, [START], ""
        if _DEATH.match(line):
            self._pid, self._died = "", "?"
            return "", [], ""
        if self._died:
            return self._death(line)
        if _OWN.match(line):
            self._pid = ""
        return (self._pid, [line], "") if self._pid else ("", [], "")

    def spoken(self) -> None:
        """A line with a speaker came: whatever was being printed is over."""
        self._pid = self._died = ""

    def _death(self, line: str) -> tuple[str, list[str], str]:
        if found := _PID.match(line):
            self._died = found[1]
        elif _DIED.match(line) and self._died != "?":
            pid, self._died = self._died, ""
            return pid, [], line[:300]
        return "", [], ""
