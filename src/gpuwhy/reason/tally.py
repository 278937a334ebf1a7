"""Tally: what the messages of a text say together, as odds for each cause, and how sure that makes us.

Each clue adds its log-odds to its cause. The first error counts in full and later ones less; what an earlier message
explains counts nothing; a second message for the same cause counts half, a third a quarter. The confidences are the
softmax over all causes and "nothing", so that two causes that explain a text equally well share it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from gpuwhy.model.origin import Origin
from gpuwhy.model.symptom import Clue, Reading, Symptom

TEMPERATURE = 1.15
"""Divides the scores; set so that on labelled logs the confidence is the share of right answers (docs/explain.md)."""
LATER, LEAST = 0.85, 0.5
"""A later error counts this much of the one before it, and never less than the second number."""
AGAIN = 0.5
"""What a further message adds to a cause that has one already."""
ECHO = 0.3
"""What a message that only repeats that something failed counts beside a real error."""
BESIDE = ("remark",)
"""Speakers that are no part of the order in which things failed: a person who tells of it."""
ASIDE = ("title", "packages", "python", *BESIDE)
"""Speakers whose messages do not make a later error a later one."""


WITHOUT = "no part of the GPU stack speaks in it"
"""What stands for the words of a text that is like none about the stack."""


class Point(msgspec.Struct, frozen=True):
    """One clue that holds: for which symptom, and how much it counted."""

    clue: Clue
    symptom: Symptom
    counted: float


class Score(msgspec.Struct, frozen=True):
    """One cause: its log-odds, its share, and the clues behind it, strongest first."""

    cause: str
    odds: float
    confidence: float
    points: tuple[Point, ...]
    words: tuple[str, ...] = ()  # where no clue speaks: the words that liken the text to others of this cause
    origin: Origin | None = None  # where no clue speaks: the program that printed the message, and its label


Index = Mapping[str, Sequence[Clue]]


def index(clues: Iterable[Clue]) -> Index:
    """Clues by signature; those for a whole family (ending in . or _) under their prefix."""
    out: dict[str, list[Clue]] = defaultdict(list)
    for clue in clues:
        out[clue.signature].append(clue)
    return out


class Odds(msgspec.Struct, frozen=True):
    """Log-odds of each cause: those of the text, with the clues behind them, and what others add to them.

    Each voice (facts, answers, any further opinion) adds its own with `plus`; nobody counts the text twice.
    """

    points: Mapping[str, Sequence[Point]]
    whole: Mapping[str, float]

    def plus(self, more: Mapping[str, float]) -> Odds:
        """The same with one more voice."""
        added = {cause: self.whole.get(cause, 0.0) + value for cause, value in more.items()}
        return Odds(self.points, {**self.whole, **added})

    def heard(self, more: Mapping[str, Point]) -> Odds:
        """The same with a further clue for some causes: in full where a cause has none, else as a further message."""
        points = {cause: (*self.points.get(cause, ()), point) for cause, point in more.items()}
        added = {c: point.counted * (AGAIN if c in self.points else 1.0) for c, point in more.items()}
        return Odds({**self.points, **points}, self.whole).plus(added)

    def speaks_for(self) -> frozenset[str]:
        """The causes that more speaks for than against; beside an error, what only a harmless note says is no word."""
        told = frozenset(cause for cause, value in self.whole.items() if value > 0)
        roles = {cause: {p.symptom.role for p in self.points.get(cause, ()) if p.counted > 0} for cause in told}
        if not any("error" in one for one in roles.values()):
            return told
        return frozenset(cause for cause, one in roles.items() if one != {"harmless"})

    def scores(self) -> tuple[Score, ...]:
        """Every cause that something speaks for, best first, with its share."""
        share = _softmax(self.whole)
        scores = [Score(name, odds, share[name], tuple(self.points.get(name, ()))) for name, odds in self.whole.items()]
        return tuple(sorted(scores, key=lambda s: (-s.odds, s.cause)))


def weigh(clues: Index, reading: Reading) -> Odds:
    """The odds by the text alone."""
    points = _points(clues, reading)
    return Odds(points, {cause: _sum(found) for cause, found in points.items()})


def tally(clues: Index, reading: Reading) -> tuple[Score, ...]:
    """Every cause that a text speaks for, best first."""
    return weigh(clues, reading).scores()


def _points(clues: Index, reading: Reading) -> dict[str, list[Point]]:
    best: dict[tuple[str, str], Point] = {}
    for symptom, factor in _factors(reading):
        for clue in _about(clues, symptom.signature):
            if not clue.when(symptom, reading):
                continue
            counted = clue.weight * factor if clue.weight > 0 else clue.weight
            key = (clue.cause, symptom.signature)
            if key not in best or counted > best[key].counted:
                best[key] = Point(clue, symptom, counted)
    out: dict[str, list[Point]] = {}
    for point in sorted(best.values(), key=lambda p: -p.counted):
        out.setdefault(point.clue.cause, []).append(point)
    return out


def _about(clues: Index, signature: str) -> Iterable[Clue]:
    yield from clues.get(signature, ())
    for place, letter in enumerate(signature):
        if letter in "._":
            yield from clues.get(signature[: place + 1], ())


def _factors(reading: Reading) -> Iterable[tuple[Symptom, float]]:
    """How much each symptom counts."""
    places: dict[str, int] = {}  # in which place a message came
    decided = bool(reading.errors)
    troubled = any(s.role in ("error", "echo") for s in reading.symptoms)  # else what was told explains nothing
    for symptom in reading.symptoms:
        if symptom.follows >= 0 or symptom.role == "aside":
            continue
        if symptom.role == "echo":
            yield symptom, ECHO if decided else 1.0
        elif symptom.role == "error" and symptom.speaker in BESIDE:
            yield symptom, 1.0
        elif symptom.role == "error":
            if symptom.speaker not in ASIDE:
                places.setdefault(symptom.signature, len(places))
            yield symptom, max(LEAST, LATER ** places.get(symptom.signature, len(places)))
        elif symptom.role == "harmless" or (troubled and not (reading.ending.own and symptom.role == "told")):
            yield symptom, 1.0


def _sum(points: Sequence[Point]) -> float:
    for_it = sorted((p.counted for p in points if p.counted > 0), reverse=True)
    against = sum(p.counted for p in points if p.counted <= 0)
    return sum(value * AGAIN**place for place, value in enumerate(for_it)) + against


def _softmax(odds: Mapping[str, float]) -> dict[str, float]:
    raised = {cause: math.exp(min(60.0, value / TEMPERATURE)) for cause, value in odds.items()}
    whole = 1.0 + sum(raised.values())
    return {cause: value / whole for cause, value in raised.items()}
