"""Weighing: what this machine's facts and the answers to questions add to the odds of a text, each on its own."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from gpuwhy.model.expect import gpu_present
from gpuwhy.model.fact import Absent
from gpuwhy.model.facts import Facts
from gpuwhy.model.report import Verdict
from gpuwhy.model.symptom import Question
from gpuwhy.model.threshold import FOUND, GUESS
from gpuwhy.reason.tally import Odds, Score

FROM_FACTS = {"proof": 5.0, "strong": 4.0, "weak": 1.0, "against": -5.0}
"""Log-odds that the machine's facts add to a cause that the text speaks for: they can overrule the text."""
UNTOLD = 0.4
"""The part of them that counts for a cause which the text says nothing of."""
ANSWERED = 5.0
HINTED, BESIDE = 3.5, 0.1
"""What an answer adds where causes that its question does not ask about have so much of the whole: they stay open."""
KEPT, BEHIND = 0.2, 0.1
"""What a clear text's own cause keeps, and how far behind it one stays that only the machine speaks for."""


def ties(verdict: Verdict) -> bool:
    """Whether a sign of it names what the ending names."""
    return any(f.linked for f in verdict.findings)


def proven(verdict: Verdict) -> bool:
    """Whether facts leave no other reading, and name what the ending names: then no text has to speak for it."""
    return verdict.state == "shown" and any(f.linked and f.weight == "proof" for f in verdict.findings)


def from_facts(
    odds: Odds, verdicts: Sequence[Verdict], spoken: Collection[str], failed: bool = False
) -> dict[str, float]:
    """What the verdicts on this machine add; the text's odds are `odds`, its causes `spoken`."""
    if not verdicts:
        return {}
    hidden = {low for v in verdicts if v.state == "shown" for low in v.cause.hides}
    out: dict[str, float] = {}
    for verdict in verdicts:
        more = _of(verdict, hidden, spoken)
        if more:
            out[verdict.cause.id] = max(out.get(verdict.cause.id, -99.0), more)
    told = odds.scores()
    spoken = {*spoken, *(v.cause.id for v in verdicts if proven(v))}
    out = {**out, **_left(told, out)} if failed else out
    return {**out, **_held(told, out, spoken)} if told and told[0].confidence >= FOUND else out


def _left(told: Sequence[Score], facts: Mapping[str, float]) -> dict[str, float]:
    """Where facts speak against all that a text says, and for nothing: its own cause stays, and is doubtful."""
    if not told or told[0].confidence < GUESS or told[0].odds <= KEPT:
        return {}
    whole = {s.cause: s.odds for s in told}
    if any(whole.get(cause, 0.0) + facts.get(cause, 0.0) > 0 for cause in (*whole, *facts)):
        return {}
    return {told[0].cause: KEPT - told[0].odds}


def _of(verdict: Verdict, hidden: Collection[str], spoken: Collection[str]) -> float:
    """Log-odds by the strongest finding of one verdict."""
    weight = max((FROM_FACTS[f.weight] for f in verdict.findings), default=0.0)
    if verdict.state == "ruled_out" or verdict.cause.id in hidden:
        weight = min(weight, 0.0)
    near = verdict.cause.id in spoken or ties(verdict)
    return weight if near else max(0.0, weight * UNTOLD)


def _held(told: Sequence[Score], facts: Mapping[str, float], spoken: Collection[str]) -> dict[str, float]:
    """Hold what only the machine speaks for behind the cause of a clear text: it may be broken, and not by this."""
    best = max(told, key=lambda s: s.odds + facts.get(s.cause, 0.0))
    most = max(best.odds + facts.get(best.cause, 0.0), KEPT)
    above = [cause for cause, more in facts.items() if cause not in spoken and more > most - BEHIND]
    return {best.cause: most - best.odds, **dict.fromkeys(above, most - BEHIND)} if above else {}


def from_answers(odds: Odds, questions: Mapping[str, Question], answers: Mapping[str, str]) -> dict[str, float]:
    """What answers add; `odds` are those of text and facts before them."""
    before = odds.scores() if answers else ()
    out: dict[str, float] = {}
    for name, answer in answers.items():
        question = questions[name]
        beside = sum(s.confidence for s in before if s.cause not in question.answers.values())
        for outcome, cause in question.answers.items():
            more = ANSWERED if beside < BESIDE else HINTED
            out[cause] = out.get(cause, 0.0) + (more if outcome == answer else -ANSWERED)
    return out


DRIVEN = ("driver.too_old", "driver.library_mismatch", "cuda.version_mismatch")
"""Causes of a refused call that a loaded driver has a part in."""


def without_driver(odds: Odds, facts: Facts | None) -> dict[str, float]:
    """What it adds that a machine without a GPU has no driver: none is too old where a missing one is spoken of."""
    if (
        facts is None
        or not isinstance(gpu_present(facts), Absent)
        or not isinstance(facts.driver.module_version, Absent)
    ):
        return {}
    if odds.whole.get("driver.missing", 0.0) <= 0:
        return {}
    none = {cause: FROM_FACTS["against"] for cause in DRIVEN if cause in odds.whole}
    return {**none, "driver.missing": FROM_FACTS["strong"]}
