"""Tone: whether a line calls itself a warning, tells of another time, or says that all is well."""

from __future__ import annotations

from gpuwhy.log.expressions import Expressions

_E = TONE = Expressions("tone")


def is_warning(line: str) -> bool:
    """Whether the program goes on after such a line: by its level, or by what it says."""
    return bool(_E.warning.search(line) or _E.goes_on.search(line))


def complains(line: str) -> bool:
    """Whether a line calls itself an error, and does not say that the program goes on."""
    return len(line) < TRY_WIDTH and bool(_E.complains.search(line)) and not is_warning(line)


def denies(line: str) -> bool:
    """Whether a row of a listing says that something is not so ("Reset Required   : No")."""
    return bool(_E.denies.search(line))


WORDY = 300
"""Characters of a line that tells of work."""


def at_work(line: str) -> bool:
    """Whether a line tells of work that goes on."""
    return len(line) < WORDY and bool(_E.works.search(line))


TRY_WIDTH = 400


def series_ended_well(lines: list[str]) -> int:
    """The place (from 1) at which a series of tries that lost one says that it went on; 0 if none.

    A sweep, a search or a batch finder outlives what fails before that line.
    """
    broke = following = well = -1
    for at, line in enumerate(lines):
        if len(line) > TRY_WIDTH:
            broke = at if _E.broke.search(line) else broke
        elif _E.summed.search(line):
            well = at
        elif _E.broke.search(line):
            broke = at
        elif _E.next.search(line) and not _E.went.search(line):
            following = at
        elif _E.went.search(line) or (following > broke and at_work(line)):
            well = at
    return well + 1 if well > broke >= 0 else 0
