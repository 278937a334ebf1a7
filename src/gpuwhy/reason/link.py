"""Blame needs a link: which verdicts of the machine concern the program that ended, and which are only noticed."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from gpuwhy.model.fact import Known, value_or
from gpuwhy.model.facts import Facts
from gpuwhy.model.report import Noticed, Verdict
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.model.threshold import FOUND
from gpuwhy.reason.settle import VALUES
from gpuwhy.reason.tally import Index, tally
from gpuwhy.reason.whose import frameworks_of

MOST = 3


def used(reading: Reading, facts: Facts) -> frozenset[str] | None:
    """The frameworks of the program: seen in its processes, speaking, or in its traceback; None where nobody knows."""
    seen = facts.run.frameworks
    mapped: tuple[str, ...] = value_or(seen, ())
    names = frameworks_of(reading).union(mapped)
    return names if names or isinstance(seen, Known) else None


def concerned(verdicts: Sequence[Verdict], reading: Reading, facts: Facts, spoken: Collection[str]) -> list[Verdict]:
    """The verdicts that are linked to the ending.

    One about a framework that the program does not use says nothing of it, for or against. Beside an ending of its own
    only a cause that its words speak for, or a sign that names what the ending names, counts.
    """
    mine = used(reading, facts)
    return [v for v in verdicts if _concerns(v, reading, mine, spoken)]


def _concerns(verdict: Verdict, reading: Reading, mine: frozenset[str] | None, spoken: Collection[str]) -> bool:
    if any(f.linked for f in verdict.findings):
        return True
    if verdict.about and mine is not None and verdict.about not in mine:
        return False
    return not reading.ending.own or verdict.cause.id in spoken


def noticed(
    clues: Index, reading: Reading, verdicts: Sequence[Verdict], linked: Sequence[Verdict]
) -> tuple[Noticed, ...]:
    """What is true and unlinked: failures that the program outlived, and what is wrong with the machine beside it."""
    outlived = [_noticed(clues, reading)] if any(s.role == "aside" for s in reading.symptoms) else []
    near = {id(v) for v in linked}
    found = [v for v in verdicts if id(v) not in near and v.state == "shown" and v.confidence >= FOUND]
    beside = [Noticed(v.cause.id, v.findings[0].text) for v in found if v.findings]
    unique = {one.text: one for one in (*filter(None, outlived), *beside)}
    return tuple(unique.values())[:MOST]


def _noticed(clues: Index, reading: Reading) -> Noticed | None:
    """The failure that was set aside, by the line that speaks loudest in it."""
    said = [one for one in reading.symptoms if not (one.role == "aside" and _unheard(one))]
    back = tuple(_as_error(one) for one in said if not one.signature.startswith("ending."))
    scores = tally(clues, msgspec.structs.replace(reading, symptoms=back))
    for score in scores:
        line = next((p.symptom for p in score.points if p.counted > 0 and p.symptom.order in _asides(reading)), None)
        if line is not None and score.odds > 0:
            return Noticed(score.cause, f"line {line.line}, which the program outlived: {line.text[:160]}")
    return None


def _unheard(one: Symptom) -> bool:
    """Whether it tells of no failure of the program: a value, or quoted words."""
    return one.borrowed or one.signature in VALUES


def _as_error(one: Symptom) -> Symptom:
    return msgspec.structs.replace(one, role="error") if one.role == "aside" else one


def _asides(reading: Reading) -> frozenset[int]:
    return frozenset(s.order for s in reading.symptoms if s.role == "aside")
