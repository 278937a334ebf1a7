"""Explain: the messages of a text and, where they are used, the facts of this machine, put into one report."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence

import msgspec

from gpuwhy._version import __version__
from gpuwhy.model.cause import Case, Cause, Evidence, Finding, Fix, Weight
from gpuwhy.model.fact import Known, Source
from gpuwhy.model.facts import Facts
from gpuwhy.model.report import Open, Report, RuledOut, Shown, Status, Verdict, certainty
from gpuwhy.model.symptom import Question, Reading, Symptom
from gpuwhy.reason.judge import judge
from gpuwhy.reason.picture import picture, unseen
from gpuwhy.reason.probed import staircase, tempered
from gpuwhy.reason.rank import crashed, ruled_out
from gpuwhy.reason.tally import Index, Point, Score, tally

TOLD_AT_LEAST = 0.05
MOST = 5
FOUND = 0.5
GUESS = 0.2
FROM_FACTS = {"proof": 5.0, "strong": 4.0, "weak": 1.0, "against": -5.0}
"""Log-odds that the machine's facts add to a cause that the text speaks for: they can overrule the text."""
UNTOLD = 0.4
"""The part of them that counts for a cause which the text says nothing of."""
ANSWERED = 5.0
UNSUPPORTED = 0.9
"""The most that answers alone make of a cause which neither the text nor the machine speaks for."""
INNOCENT = "other.not_gpu"
SHORT = 64
_ORIGIN = re.compile(r"(?:\w )?\S+\.\w+:\d+\] *|\[\w:[^\]]*\] *")
"""Where in a program's source a line was written: not worth a place in a short quote."""


class Rules(msgspec.Struct, frozen=True):
    """What explain needs besides the text: clues, causes, remedies and questions."""

    clues: Index
    causes: Mapping[str, Cause]
    remedies: Callable[[str, Sequence[Fix], Sequence[Symptom], Reading], tuple[Fix, ...]]
    question_for: Callable[[str, str], Question | None]
    questions: Mapping[str, Question]
    admitted: Callable[[Sequence[Symptom]], frozenset[str]]


def explain(
    rules: Rules, reading: Reading, facts: Facts | None, answers: Mapping[str, str], took: float, where: str
) -> Report:
    """The report on a text; `facts` are this machine's, `answers` those to earlier questions."""
    watched = facts is not None and isinstance(facts.run.seconds, Known)
    asked = tuple(c for c in rules.causes.values() if watched or not c.needs_log)
    verdicts = tempered(judge(asked, facts, reading.symptoms), facts) if facts is not None else ()
    scores = _held(tally(rules.clues, reading, _extra(rules, reading, verdicts, answers)), verdicts)
    status = status_of(scores, reading)
    shown = tuple(_shown(rules, s, reading, verdicts, where, facts) for s in _told(scores, status))
    strange = "" if watched else _strange(tally(rules.clues, reading), scores, verdicts)
    return Report(
        status=status,
        headline=strange or _headline(status, shown, scores, reading),
        causes=shown,
        ruled_out=_not(verdicts, shown),
        undetermined=_open(rules, scores, reading),
        crashed=crashed(verdicts),
        layers=picture(facts, shown) if facts is not None else (),
        unseen=unseen(facts) if facts is not None else (),
        facts=msgspec.to_builtins(facts) if facts is not None else {},
        gpuwhy=__version__,
        took=round(took, 3),
        stairs=staircase(facts) if facts is not None else (),
        symptoms=reading.symptoms,
        question=_question(rules, scores, reading) if shown else None,
    )


def status_of(scores: Sequence[Score], reading: Reading) -> Status:
    """Broken where one cause stands out; unknown where several do or an error says too little; else healthy.

    A failure of which the GPU stack is innocent leaves that healthy.
    """
    if scores and scores[0].confidence >= FOUND:
        return "healthy" if scores[0].cause == INNOCENT else "broken"
    if any(s.role in ("error", "echo") for s in reading.symptoms):
        return "unknown"
    return "healthy"


def _told(scores: Sequence[Score], status: Status) -> list[Score]:
    """The scores to tell: none where nothing failed."""
    if status == "healthy" and not (scores and scores[0].cause == INNOCENT and scores[0].confidence >= FOUND):
        return []
    return [s for s in scores if s.confidence >= TOLD_AT_LEAST and (s.points or s.odds > 0)][:MOST]


def _held(scores: Sequence[Score], verdicts: Sequence[Verdict]) -> tuple[Score, ...]:
    """Scores that rest on an answer alone, held below certainty."""
    seen = {v.cause.id for v in verdicts if v.state in ("shown", "possible")}
    return tuple(
        s
        if s.cause in seen or any(p.counted > 0 for p in s.points)
        else msgspec.structs.replace(s, confidence=min(s.confidence, UNSUPPORTED))
        for s in scores
    )


def _not(verdicts: Sequence[Verdict], shown: Sequence[Shown]) -> tuple[RuledOut, ...]:
    """What an observation excludes; never what the report tells as a cause."""
    told = {one.id for one in shown}
    return tuple(r for r in ruled_out(verdicts) if r.because != "nothing speaks for it" and r.id not in told)


def _extra(rules: Rules, reading: Reading, verdicts: Sequence[Verdict], answers: Mapping[str, str]) -> dict[str, float]:
    """Log-odds from this machine's facts and from answers."""
    out: dict[str, float] = {}
    spoken = {s.cause for s in tally(rules.clues, reading) if s.odds > 0} | rules.admitted(reading.symptoms)
    hidden = {low for v in verdicts if v.state == "shown" for low in v.cause.hides}
    for verdict in verdicts:
        weight = max((FROM_FACTS[f.weight] for f in verdict.findings), default=0.0)
        if verdict.state == "ruled_out" or verdict.cause.id in hidden:
            weight = min(weight, 0.0)
        more = weight if verdict.cause.id in spoken else max(0.0, weight * UNTOLD)
        if more:
            out[verdict.cause.id] = max(out.get(verdict.cause.id, -99.0), more)
    for name, answer in answers.items():
        question = rules.questions[name]
        for outcome, cause in question.answers.items():
            out[cause] = out.get(cause, 0.0) + (ANSWERED if outcome == answer else -ANSWERED)
    return out


def _shown(
    rules: Rules, score: Score, reading: Reading, verdicts: Sequence[Verdict], where: str, facts: Facts | None
) -> Shown:
    cause = rules.causes[score.cause]
    mine = [v for v in verdicts if v.cause.id == cause.id and v.state in ("shown", "possible")]
    told = _findings(score, where)
    fixes = (mine[0].fixes if mine and not cause.needs_log else ()) or _remedies(rules, score, reading, facts)
    return Shown(
        id=cause.id,
        title=cause.title,
        confidence=round(score.confidence, 2),
        subject=", ".join(v.subject for v in mine if v.subject),
        because=(*(f for v in mine[:1] for f in v.findings), *told),
        explains=_explains(score, reading),
        fixes=fixes,
        stops=cause.stops,
    )


def _remedies(rules: Rules, score: Score, reading: Reading, facts: Facts | None) -> tuple[Fix, ...]:
    behind = [p.symptom for p in score.points if p.counted > 0]
    own: tuple[Fix, ...] = ()
    if rules.causes[score.cause].needs_log:
        own = rules.causes[score.cause].fixes(Case(facts or Facts(), symptoms=reading.symptoms, told=reading.told))
    return rules.remedies(score.cause, own, behind, reading)


def _findings(score: Score, where: str) -> tuple[Finding, ...]:
    """The strongest clue of each line; the same sentence once."""
    out: dict[str, Finding] = {}
    lines: set[int] = set()
    for point in score.points:
        finding = _finding(point, where)
        if point.counted > 0 and point.symptom.line not in lines:
            lines.add(point.symptom.line)
            out.setdefault(finding.text, finding)
    return tuple(out.values())[:4]


def _finding(point: Point, where: str) -> Finding:
    one = point.symptom
    weight: Weight = "strong" if point.counted >= 3 else "weak"
    source = Source("log", where, f"line {one.line}" + (f", {one.times} times" if one.times > 1 else ""))
    return Finding(weight, filled(point.clue.text, one.fields), (Evidence("told", one.text, source),))


def filled(text: str, fields: Mapping[str, str]) -> str:
    """A sentence with its fields; what the message did not say is an ellipsis."""
    return text.format_map(_Fields(fields))


class _Fields(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return "…"


def _explains(score: Score, reading: Reading) -> tuple[str, ...]:
    firsts = {p.symptom.order for p in score.points if p.counted > 0}
    lines = {p.symptom.line for p in score.points}
    found = (s for s in reading.symptoms if s.follows in firsts and s.line not in lines)
    return tuple(dict.fromkeys(f"line {s.line} “{_short(s.text)}”" for s in found))[:6]


def _short(text: str) -> str:
    return textwrap.shorten(_ORIGIN.sub("", text, count=1), SHORT, placeholder=" …")


def _open(rules: Rules, scores: Sequence[Score], reading: Reading) -> tuple[Open, ...]:
    """The causes beside the first that are still likely, and what would decide."""
    out = []
    for score in scores[1:MOST]:
        question = _asking(rules, scores[0].cause, score.cause, reading)
        if score.confidence >= GUESS and question is not None:
            out.append(Open(score.cause, question.text, question.command))
    return tuple(out)


def _asking(rules: Rules, first: str, second: str, reading: Reading) -> Question | None:
    """The question between two causes, with the command of the system that speaks."""
    question = rules.question_for(first, second)
    if question is not None and question.windows and reading.told.os == "windows":
        return msgspec.structs.replace(question, command=question.windows)
    return question


def _question(rules: Rules, scores: Sequence[Score], reading: Reading) -> Question | None:
    if not scores or scores[0].confidence >= 0.9:
        return None
    likely = [s for s in scores[1:3] if s.confidence >= 0.15]
    return next((q for s in likely if (q := _asking(rules, scores[0].cause, s.cause, reading))), None)


def _strange(told: Sequence[Score], scores: Sequence[Score], verdicts: Sequence[Verdict]) -> str:
    """Where this machine contradicts what the text makes likely, the text may be another machine's."""
    if not told or told[0].confidence < FOUND or (scores and scores[0].confidence >= FOUND):
        return ""
    against = [
        v.findings[0].text for v in verdicts if v.cause.id == told[0].cause and v.state == "ruled_out" and v.findings
    ]
    if not against:
        return ""
    return f"The text says {told[0].cause}, this machine does not ({against[0]}): is it from elsewhere? Use --log-only"


def _innocent(shown: Shown, score: Score) -> str:
    """The failure that is none of the GPU stack, in its own words where it is an exception."""
    error = next((p.symptom for p in score.points if p.counted > 0), None)
    what = f"{error.get('name')}: {error.get('what')}" if error and error.get("name") and error.get("what") else ""
    what = what or (shown.because[0].text if shown.because else shown.title)
    sure = "Not a GPU problem" if certainty(shown.confidence) != "possible" else "Perhaps not a GPU problem"
    return f"{sure}: {textwrap.shorten(what, 2 * SHORT, placeholder=' …')}"


def _headline(status: Status, shown: Sequence[Shown], scores: Sequence[Score], reading: Reading) -> str:
    if shown and status == "healthy":
        return _innocent(shown[0], scores[0])
    if shown and status == "broken":
        title = shown[0].title
        if certainty(shown[0].confidence) == "possible":
            return f"Perhaps: {title}"
        return title if title.startswith("cuDNN") else title[:1].upper() + title[1:]
    if status == "healthy":
        lines = f"{reading.lines} line{'s' * (reading.lines != 1)}"
        return f"No known failure in {lines}" + (": what looks like errors is harmless" if reading.symptoms else "")
    if len(shown) > 1:
        return f"Cannot tell for certain: {shown[0].id} fits best, then {shown[1].id}"
    if shown:
        return f"Cannot tell for certain: {shown[0].id} fits best"
    return "There is an error, but none that gpuwhy knows the cause of"
