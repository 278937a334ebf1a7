"""Times: the moment that a log line tells, and how far the clocks of two logs are apart."""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping, Sequence
from statistics import median

_TIME = r"(?P<h>\d{2}):(?P<m>\d{2}):(?P<s>\d{2})"
_SHAPES = tuple(
    re.compile(shape, re.ASCII)
    for shape in (
        r"(?P<year>\d{4})[-/](?P<month>\d{2})[-/](?P<day>\d{2})[T ]"
        rf"{_TIME}(?:[.,](?P<part>\d{{1,9}}))?\s?(?P<zone>Z|[+-]\d{{2}}:?\d{{2}})?",
        rf"\b[IWEF](?P<month>\d{{2}})(?P<day>\d{{2}}) {_TIME}\.(?P<part>\d{{3,9}})",
        r"\b(?P<name>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) {1,2}"
        rf"(?P<day>\d{{1,2}}) {_TIME}\b",
        rf"(?<![\d:.]){_TIME}[.,](?P<part>\d{{3,6}})(?![\d:])",
    )
)
"""ISO 8601, glog's, syslog's, and a clock without a date."""
_MONTHS = {name: n for n, name in enumerate(calendar.month_abbr) if name}
LOOKED = 160
"""How much of a line is looked at for a time."""
LEAST_SHARED, LEAST_OFFSET = 3, 1.0
"""How many lines two logs must share, and how far their clocks must be apart to be set right."""


def moment(line: str, year: int) -> float | None:
    """Unix time of a line, as if in UTC where no zone is told; None where it tells no time."""
    head = line[:LOOKED]
    found = next(filter(None, (shape.search(head) for shape in _SHAPES)), None)
    if not found:
        return None
    told = found.groupdict()
    clock = int(told["h"]), int(told["m"]), int(told["s"])
    part = float(f"0.{told['part']}") if told.get("part") else 0.0
    if "day" not in told:
        return clock[0] * 3600 + clock[1] * 60 + clock[2] + part
    month = _MONTHS[told["name"]] if "name" in told else int(told["month"])
    date = int(told.get("year", year)), month, int(told["day"])
    if not (1 <= month <= 12 and 1 <= date[2] <= 31):
        return part
    zone = (told.get("zone") or "Z").replace(":", "")
    ahead = 0 if zone == "Z" else int(zone[:3]) * 3600 + int(zone[0] + zone[3:]) * 60
    return calendar.timegm((*date, *clock, 0, 0, 0)) + part - ahead


def without(line: str) -> str:
    """The line without its time."""
    for shape in _SHAPES:
        line, changed = shape.subn("", line, count=1)
        if changed:
            break
    return line.strip()


def offsets(said: Sequence[Mapping[str, float]]) -> list[float]:
    """How far each log's clock is ahead of the middle one, by lines that several say in step.

    Ranks that train together say "step 7" at the same moment; a constant difference is the clock's.
    """
    if not said:
        return []
    reference = max(said, key=lambda own: sum(len(own.keys() & other.keys()) for other in said))
    apart = [_apart(lines, reference) for lines in said]
    middle = median(apart)
    return [one - middle if abs(one - middle) >= LEAST_OFFSET else 0.0 for one in apart]


def _apart(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    shared = [one[line] - other[line] for line in one.keys() & other.keys()]
    if len(shared) < LEAST_SHARED:
        return 0.0
    middle = median(shared)
    spread = median(abs(value - middle) for value in shared)
    return middle if abs(middle) > 3 * spread else 0.0
