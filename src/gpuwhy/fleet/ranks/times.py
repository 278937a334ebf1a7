"""Times: the moment that a log line tells, and how far the clocks of two logs are apart."""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping
from statistics import median

_ISO = re.compile(
    r"(\d{4})[-/](\d{2})[-/](\d{2})[T ](\d{2}):(\d{2}):(\d{2})"
    r"(?:[.,](\d{1,9}))?\s?(Z|[+-]\d{2}:?\d{2})?",
    re.ASCII,
)
_GLOG = re.compile(r"\b[IWEF](\d{2})(\d{2}) (\d{2}):(\d{2}):(\d{2})\.(\d{3,9})", re.ASCII)
_SYSLOG = re.compile(
    r"\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) {1,2}(\d{1,2}) (\d{2}):(\d{2}):(\d{2})\b",
    re.ASCII,
)
_CLOCK = re.compile(r"(?<![\d:.])(\d{2}):(\d{2}):(\d{2})[.,](\d{3,6})(?![\d:])", re.ASCII)
_MONTHS = {name: n for n, name in enumerate(calendar.month_abbr) if name}
LOOKED = 160
"""How much of a line is looked at for a time."""
LEAST_SHARED, LEAST_OFFSET = 3, 1.0
"""How many lines two logs must share, and how far their clocks must be apart to be set right."""


def moment(line: str, year: int) -> float | None:
    """Unix time of a line, as if in UTC where no zone is told; None where it tells no time."""
    head = line[:LOOKED]
    if found := _ISO.search(head):
        return (
            _unix(*(int(one) for one in found.groups()[:6])) + _fraction(found[7]) - _zone(found[8])
        )
    if found := _GLOG.search(head):
        month, day, hour, minute, second = (int(one) for one in found.groups()[:5])
        return _unix(year, month, day, hour, minute, second) + _fraction(found[6])
    if found := _SYSLOG.search(head):
        return _unix(year, _MONTHS[found[1]], *(int(one) for one in found.groups()[1:]))
    if found := _CLOCK.search(head):
        hour, minute, second = (int(one) for one in found.groups()[:3])
        return hour * 3600 + minute * 60 + second + _fraction(found[4])
    return None


def without(line: str) -> str:
    """The line without its time."""
    for shape in (_ISO, _GLOG, _SYSLOG, _CLOCK):
        line, changed = shape.subn("", line, count=1)
        if changed:
            break
    return line.strip()


def _unix(year: int, month: int, day: int, hour: int, minute: int, second: int) -> float:
    if not (1 <= month <= 12 and 1 <= day <= 31 and hour < 25 and minute < 61 and second < 62):
        return 0.0
    return float(calendar.timegm((year, month, day, hour, minute, second, 0, 0, 0)))


def _fraction(digits: str | None) -> float:
    return float(f"0.{digits}") if digits else 0.0


def _zone(text: str | None) -> float:
    if not text or text == "Z":
        return 0.0
    hours, minutes = int(text[1:3]), int(text[-2:])
    return (hours * 3600 + minutes * 60) * (-1.0 if text[0] == "-" else 1.0)


def offsets(said: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """How far each log's clock is ahead of the middle one, by lines that several say in step.

    Ranks that train together say "step 7" at the same moment; a constant difference is the clock's.
    """
    if len(said) < 2:
        return dict.fromkeys(said, 0.0)
    reference = max(
        said, key=lambda name: sum(len(said[name].keys() & other.keys()) for other in said.values())
    )
    apart = {name: _apart(said[name], said[reference]) for name in said}
    middle = median(value for value in apart.values())
    out = {name: value - middle for name, value in apart.items()}
    return {name: value if abs(value) >= LEAST_OFFSET else 0.0 for name, value in out.items()}


def _apart(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    shared = [one[line] - other[line] for line in one.keys() & other.keys()]
    if len(shared) < LEAST_SHARED:
        return 0.0
    middle = median(shared)
    spread = median(abs(value - middle) for value in shared)
    return middle if abs(middle) > 3 * spread else 0.0
