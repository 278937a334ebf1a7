"""Tone: whether a line calls itself a warning, tells of another time, or says that all is well."""

from __future__ import annotations

from gpuwhy.log.expressions import Expression

_LEVEL = r"^[^\w\n]{0,3}(?:\d[\d:., TZ-]{7,40}[^\w\n]{0,3})?"
_WARNING = Expression("tone.warning")
_INFORMS = Expression("tone.informs")
_GOES_ON = Expression("tone.goes_on")
_OTHER_TIME = Expression("tone.other_time")
_NOW = Expression("tone.now")
_DENIES = Expression("tone.denies")


def is_warning(line: str) -> bool:
    """Whether the program goes on after such a line: by its level, or by what it says."""
    return bool(_WARNING.search(line) or _GOES_ON.search(line))


def is_reminder(line: str) -> bool:
    """Whether a line that only informs speaks of a failure of another time."""
    return bool(_INFORMS.search(line) and _OTHER_TIME.search(line) and not _NOW.search(line))


def denies(line: str) -> bool:
    """Whether a row of a listing says that something is not so ("Reset Required   : No")."""
    return bool(_DENIES.search(line))


WELL = Expression("tone.well")
SUCCEEDED = Expression("tone.succeeded")
_WORKS = Expression("tone.works")
WORDY = 300
"""Characters of a line that tells of work."""


def at_work(line: str) -> bool:
    """Whether a line tells of work that goes on."""
    return len(line) < WORDY and bool(_WORKS.search(line))


_BROKE = Expression("tone.broke")
_SUMMED = Expression("tone.summed")
_WENT = Expression("tone.went")
_NEXT = Expression("tone.next")
TRY_WIDTH = 400


def series_ended_well(lines: list[str]) -> int:
    """The place (from 1) at which a series of tries that lost one says that it went on; 0 if none.

    A sweep, a search or a batch finder outlives what fails before that line.
    """
    broke = following = well = -1
    for at, line in enumerate(lines):
        if len(line) > TRY_WIDTH:
            broke = at if _BROKE.search(line) else broke
        elif _SUMMED.search(line):
            well = at
        elif _BROKE.search(line):
            broke = at
        elif _NEXT.search(line) and not _WENT.search(line):
            following = at
        elif _WENT.search(line) or (following > broke and at_work(line)):
            well = at
    return well + 1 if well > broke >= 0 else 0
