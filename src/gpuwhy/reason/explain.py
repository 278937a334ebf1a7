"""Explain: a reading and, where they are used, this machine's facts, in one pass: link, weigh, rank, report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from gpuwhy._version import __version__
from gpuwhy.model.fact import Known
from gpuwhy.model.facts import Facts
from gpuwhy.model.origin import Origin
from gpuwhy.model.report import Noticed, Report, Shown, Verdict
from gpuwhy.model.symptom import SOURCE, Reading
from gpuwhy.model.threshold import FOUND, GUESS
from gpuwhy.reason.hedge import hedged
from gpuwhy.reason.judge import judge
from gpuwhy.reason.link import concerned, noticed
from gpuwhy.reason.origins import by_origin, foremost, releases, traces, vague
from gpuwhy.reason.picture import picture, unseen
from gpuwhy.reason.precedents import with_precedents, with_their_cure
from gpuwhy.reason.probed import staircase, tempered
from gpuwhy.reason.rank import crashed
from gpuwhy.reason.rules import Rules
from gpuwhy.reason.settle import settled, survived
from gpuwhy.reason.stranger import STILL, STRANGE, STRANGER, Strange
from gpuwhy.reason.tally import WITHOUT, Odds, Score, weigh
from gpuwhy.reason.telling import (
    INNOCENT,
    excluded,
    headline,
    left_open,
    question_after,
    shown_as,
    status_of,
    worth_telling,
)
from gpuwhy.reason.weighing import from_answers, from_facts, ties, without_driver
from gpuwhy.reason.whose import foreign
from gpuwhy.reason.words import CERTAINTY, blended, complains, likened, unspoken

WEAK = 0.3
"""Below it a cause is a guess."""
TYPED = 120
"""A line up to this long may be what a person typed."""


class Link(NamedTuple):
    """What the text has to do with this machine: its facts, if it can come from here, and the verdicts by them."""

    facts: Facts | None = None
    elsewhere: str = ""  # why it cannot
    verdicts: tuple[Verdict, ...] = ()
    near: Sequence[Verdict] = ()  # those that concern the program that ended
    spoken: frozenset[str] = frozenset()  # the causes that the text speaks for, or that its vague messages admit


class Ranked(NamedTuple):
    """Every cause with its share, best first, and the program that complained last, where that was asked."""

    scores: tuple[Score, ...]
    origin: Origin | None
    origins: Sequence[Origin] = ()  # of every complaint that the atlas knows


def explain(
    rules: Rules, reading: Reading, facts: Facts | None, answers: Mapping[str, str], took: float, where: str
) -> Report:
    """The report on a text; `facts` are this machine's, `answers` those to earlier questions."""
    text = with_precedents(weigh(rules.clues, reading), rules.alike, reading)
    link = linked(rules, reading, facts, text)
    failed = link.facts is not None and link.facts.run.failed  # then something ended it: a guess is better than silence
    odds = text.plus(from_facts(text, link.near, link.spoken, failed)).plus(without_driver(text, link.facts))
    odds = odds.plus(from_answers(odds, rules.questions, answers))
    return _report(rules, reading, link, ranked(rules, reading, odds, link, bool(answers), failed), took, where)


def likely(rules: Rules, reading: Reading) -> tuple[Score, ...]:
    """The causes of a text by the text alone, a guess included where nothing in it complains."""
    return ranked(
        rules, reading, with_precedents(weigh(rules.clues, reading), rules.alike, reading), Link(), guess=True
    ).scores


def linked(rules: Rules, reading: Reading, facts: Facts | None, odds: Odds) -> Link:
    """Judge this machine where the text can come from it, and choose what concerns the program that ended."""
    spoken = odds.speaks_for() | rules.admitted([s for s in reading.symptoms if s.role != "aside"])
    if facts is None:
        return Link(spoken=spoken)
    watched = isinstance(facts.run.seconds, Known)
    elsewhere = "" if watched or isinstance(facts.probe.stages, Known) else foreign(reading, facts)
    if elsewhere:
        return Link(elsewhere=elsewhere, spoken=spoken)
    asked = tuple(c for c in rules.causes.values() if watched or not c.needs_log)
    verdicts = tempered(judge(asked, facts, reading), facts)
    return Link(facts, "", verdicts, concerned(verdicts, reading, facts, spoken), spoken)


def ranked(
    rules: Rules, reading: Reading, odds: Odds, link: Link, answered: bool = False, guess: bool = False
) -> Ranked:
    """The scores, none surer than what it rests on; where no clue speaks, a second opinion on the text."""
    shows = _shows(link)
    scores = odds.scores()
    doubt = bool(scores) and scores[0].confidence >= FOUND and _doubted(rules, reading)
    scores = settled(scores, reading, {v.cause.id for v in shows}, answered, _lone(shows, odds), doubt)
    source = SOURCE in reading.notes
    if source and guess:
        return Ranked(scores, None)
    silent = _only_notes(reading) and not guess
    origins = traces(rules.origin, reading) if vague(scores) and not silent else []
    origin = foremost(origins)
    seen = any(v.state in ("shown", "possible") for v in link.near)
    if answered or silent or seen or source:
        return Ranked(scores, origin, origins)
    scores = _second_opinion(rules, reading, scores, origin, link, guess)
    return Ranked(_as_a_stranger(rules, reading, scores), origin, origins)


def _strange(rules: Rules, reading: Reading) -> Strange:
    """How strange a text is; of a short line, which somebody may have typed, nothing is said."""
    text = reading.excerpt.strip()
    return rules.strange(reading.excerpt) if "\n" in text or len(text) > TYPED else Strange()


def _doubted(rules: Rules, reading: Reading) -> bool:
    """Whether a text reads, by all its words, like no failure of the GPU stack."""
    return _strange(rules, reading).share > (STILL if reading.ending.near else STRANGE)


def _as_a_stranger(rules: Rules, reading: Reading, scores: tuple[Score, ...]) -> tuple[Score, ...]:
    """No failure of the GPU stack, where nothing but a guess says otherwise and all words of the text say so."""
    if (scores and (scores[0].confidence >= WEAK or scores[0].cause == INNOCENT)) or not complains(reading.excerpt):
        return scores
    strange = _strange(rules, reading)
    if strange.share <= STRANGER or not strange.words:
        return scores
    return (Score(INNOCENT, 0.0, CERTAINTY, (), strange.words),)


def _shows(link: Link) -> list[Verdict]:
    """What the machine shows that the text speaks of, or that is tied to it."""
    return [v for v in link.near if v.state == "shown" and (v.cause.id in link.spoken or ties(v))]


def _lone(shows: Sequence[Verdict], odds: Odds) -> set[str]:
    """The causes that one sign of the machine shows, and nothing in the text speaks for."""
    firm = {v.cause.id for v in shows if _firm(v)}
    spoken = {cause for cause, points in odds.points.items() if points}
    return {v.cause.id for v in shows} - firm - spoken


def _firm(verdict: Verdict) -> bool:
    """Whether the machine proves a cause, or shows it by more than one sign."""
    weights = [f.weight for f in verdict.findings]
    return "proof" in weights or weights.count("strong") > 1


def _only_notes(reading: Reading) -> bool:
    """Whether a text holds harmless notes, and nothing that failed."""
    roles = {s.role for s in reading.symptoms}
    return "harmless" in roles and not roles & {"error", "echo"}


def _second_opinion(
    rules: Rules, reading: Reading, scores: tuple[Score, ...], origin: Origin | None, link: Link, guess: bool
) -> tuple[Score, ...]:
    """By the program that complained last, else by the words of a text that tells of a failure."""
    if origin and (origin.label or unspoken(scores)):
        scores = by_origin(origin) or scores
    if link.facts is not None and not link.facts.run.failed:
        return scores
    if not unspoken(scores):
        alone = link.facts is None and not survived(reading)
        return blended(rules.likeness(), reading.excerpt, scores) if alone else scores
    return _by_words(rules, reading, guess) or scores


def _by_words(rules: Rules, reading: Reading, guess: bool) -> tuple[Score, ...]:
    """What the words of a text are like; one in which no part of the stack speaks is like none about it."""
    complaint = complains(reading.excerpt)
    if reading.foreign and (guess or complaint):
        return (Score("other.not_gpu", 0.0, CERTAINTY, (), (WITHOUT,)),)
    alike = likened(rules.likeness(), reading.excerpt)
    clear = bool(alike) and alike[0].confidence >= GUESS and complaint
    return alike if guess or clear else ()


def _report(rules: Rules, reading: Reading, link: Link, rank: Ranked, took: float, where: str) -> Report:
    facts, scores = link.facts, rank.scores
    status = status_of(scores, reading)
    shown = tuple(shown_as(rules, s, reading, link.near, where, facts) for s in worth_telling(scores, status))
    shown = with_their_cure(rules, hedged(shown), reading, facts)
    return Report(
        status=status,
        headline=headline(status, shown, scores, reading),
        causes=shown,
        ruled_out=excluded(link.near, shown),
        undetermined=left_open(rules, scores),
        crashed=crashed(link.verdicts),
        layers=picture(facts, shown) if facts is not None else (),
        unseen=unseen(facts) if facts is not None else (),
        facts=msgspec.to_builtins(facts) if facts is not None else {},
        gpuwhy=__version__,
        took=round(took, 3),
        stairs=staircase(facts) if facts is not None else (),
        symptoms=reading.symptoms,
        noticed=(*_noticed(rules, reading, link, shown), *_dated(rules, reading, rank)),
        ending=reading.ending,
        question=question_after(rules, scores) if shown else None,
        origin=rank.origin,
    )


def _dated(rules: Rules, reading: Reading, rank: Ranked) -> tuple[Noticed, ...]:
    """The releases that a text can come from, where several of its lines bound them."""
    bounds = rules.bounded(rank.origins) if len(rank.origins) > 1 else {}
    return tuple(Noticed("", said) for said in releases(bounds, reading))


def _noticed(rules: Rules, reading: Reading, link: Link, shown: Sequence[Shown]) -> tuple[Noticed, ...]:
    """What is true beside the answer, and that this machine was not asked about a text from elsewhere."""
    told = {one.id for one in shown}
    beside = tuple(n for n in noticed(rules.clues, reading, link.verdicts, link.near) if n.id not in told)
    beside = (*(Noticed("", truth) for truth in rules.claims(reading.excerpt)), *beside)
    if not link.elsewhere:
        return beside
    return (Noticed("", f"the text is not from here ({link.elsewhere}), so it is read without this machine"), *beside)
