"""Precedents: that others whose program said the same had this cause is a clue where no message of it is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gpuwhy.model.precedent import Alike
from gpuwhy.model.symptom import Clue, Reading, Symptom
from gpuwhy.model.threshold import FOUND
from gpuwhy.reason.settle import PRECEDENT
from gpuwhy.reason.tally import Odds, Point

WEIGHT = 1.5
"""Log-odds of the cause that the closest precedents had."""
ENOUGH = 40
"""Characters of a phrase by which its line is found."""


def with_precedents(odds: Odds, alike: Callable[[str], Sequence[Alike]], reading: Reading) -> Odds:
    """The odds, and what precedents add to them where the messages themselves find no cause."""
    if any(score.confidence >= FOUND for score in odds.scores()):
        return odds
    known = [" ".join(one.text.lower().split()) for one in reading.symptoms]
    points: dict[str, Point] = {}
    for one in alike(reading.excerpt):
        if not any(_start(one) in line for line in known):
            points.setdefault(one.row.cause, _point(one, reading))
    return odds.heard(points) if points else odds


def _start(one: Alike) -> str:
    """The words by which the first phrase of a precedent is found."""
    plain = one.filled(one.row.says[0]).split("*")[0]
    return " ".join(plain.lower().split())[:ENOUGH]


def _point(one: Alike, reading: Reading) -> Point:
    source = f" ({one.row.source})" if one.row.source else ""
    clue = Clue(one.row.cause, PRECEDENT, WEIGHT, f"others whose program said this had it{source}")
    return Point(clue, _said(one, reading), WEIGHT)


def _said(one: Alike, reading: Reading) -> Symptom:
    """The line that the precedent knows, as a message."""
    lines = reading.excerpt.splitlines()
    line = next((n for n, text in enumerate(lines, 1) if _start(one) in text.lower()), len(lines))
    return Symptom(PRECEDENT, line, lines[line - 1][:400] if lines else "")
