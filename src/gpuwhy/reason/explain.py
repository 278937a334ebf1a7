"""Explain: the messages of a text and, where they are used, the facts of this machine, put into one report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from gpuwhy._version import __version__
from gpuwhy.model.cause import Case, Cause, Evidence, Finding, Fix, Weight
from gpuwhy.model.fact import Source
from gpuwhy.model.facts import Facts
from gpuwhy.model.report import Open, Report, Shown, Status, Verdict
from gpuwhy.model.symptom import Question, Reading
from gpuwhy.reason.judge import judge
from gpuwhy.reason.picture import picture, unseen
from gpuwhy.reason.rank import crashed, ruled_out
from gpuwhy.reason.tally import Index, Point, Score, tally

TOLD_AT_LEAST = 0.05
MOST = 5
FOUND = 0.5
GUESS = 0.2
FROM_FACTS = {"proof": 5.0, "strong": 3.0, "weak": 1.0, "against": -5.0}
"""Log-odds that the machine's facts add to a cause that the text speaks for: they can overrule the text."""
UNTOLD = 0.4
"""The part of them that counts for a cause which the text says nothing of."""
ANSWERED = 5.0


class Rules(msgspec.Struct, frozen=True):
    """What explain needs besides the text: clues, causes, remedies and questions."""

    clues: Index
    causes: Mapping[str, Cause]
    remedies: Mapping[str, tuple[Fix, ...]]
    question_for: Callable[[str, str], Question | None]
    questions: Mapping[str, Question]


def explain(
    rules: Rules, reading: Reading, facts: Facts | None, answers: Mapping[str, str], took: float, where: str
) -> Report:
    """The report on a text; `facts` are this machine's, `answers` those to earlier questions."""
    verdicts = judge(tuple(c for c in rules.causes.values() if not c.needs_log), facts) if facts is not None else ()
    scores = tally(rules.clues, reading, _extra(rules, reading, verdicts, answers))
    told = [s for s in scores if s.confidence >= TOLD_AT_LEAST and (s.points or s.odds > 0)][:MOST]
    shown = tuple(_shown(rules, s, reading, verdicts, where) for s in told)
    status = status_of(scores, reading)
    strange = _strange(tally(rules.clues, reading), scores, verdicts)
    return Report(
        status=status,
        headline=strange or _headline(status, shown, reading),
        causes=shown,
        ruled_out=tuple(r for r in ruled_out(verdicts) if r.because != "nothing speaks for it"),
        undetermined=_open(rules, scores),
        crashed=crashed(verdicts),
        layers=picture(facts, shown) if facts is not None else (),
        unseen=unseen(facts) if facts is not None else (),
        facts=msgspec.to_builtins(facts) if facts is not None else {},
        gpuwhy=__version__,
        took=round(took, 3),
        symptoms=reading.symptoms,
        question=_question(rules, scores),
    )


def status_of(scores: Sequence[Score], reading: Reading) -> Status:
    """Broken where one cause stands out; unknown where several do or an error says too little; else healthy."""
    if scores and scores[0].confidence >= FOUND:
        return "broken"
    if any(s.role in ("error", "echo") for s in reading.symptoms):
        return "unknown"
    return "healthy"


def _extra(rules: Rules, reading: Reading, verdicts: Sequence[Verdict], answers: Mapping[str, str]) -> dict[str, float]:
    """Log-odds from this machine's facts and from answers."""
    out: dict[str, float] = {}
    spoken = {s.cause for s in tally(rules.clues, reading) if s.odds > 0}
    for verdict in verdicts:
        weight = max((FROM_FACTS[f.weight] for f in verdict.findings), default=0.0)
        if verdict.state == "ruled_out":
            weight = min(weight, 0.0)
        more = weight if verdict.cause.id in spoken else max(0.0, weight * UNTOLD)
        if more:
            out[verdict.cause.id] = max(out.get(verdict.cause.id, -99.0), more)
    for name, answer in answers.items():
        question = rules.questions[name]
        for outcome, cause in question.answers.items():
            out[cause] = out.get(cause, 0.0) + (ANSWERED if outcome == answer else -ANSWERED)
    return out


def _shown(rules: Rules, score: Score, reading: Reading, verdicts: Sequence[Verdict], where: str) -> Shown:
    cause = rules.causes[score.cause]
    mine = [v for v in verdicts if v.cause.id == cause.id and v.state in ("shown", "possible")]
    told = tuple(_finding(p, where) for p in score.points if p.counted > 0)[:4]
    fixes = mine[0].fixes if mine else _remedies(rules, cause, reading)
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


def _remedies(rules: Rules, cause: Cause, reading: Reading) -> tuple[Fix, ...]:
    if cause.id in rules.remedies:
        return rules.remedies[cause.id]
    return cause.fixes(Case(Facts(), symptoms=reading.symptoms, told=reading.told))


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
    return tuple(
        dict.fromkeys(
            f"line {s.line}: {s.signature}" for s in reading.symptoms if s.follows in firsts and s.line not in lines
        )
    )[:6]


def _open(rules: Rules, scores: Sequence[Score]) -> tuple[Open, ...]:
    """The causes beside the first that are still likely, and what would decide."""
    out = []
    for score in scores[1:MOST]:
        question = rules.question_for(scores[0].cause, score.cause)
        if score.confidence >= GUESS and question is not None:
            out.append(Open(score.cause, question.text, question.command))
    return tuple(out)


def _question(rules: Rules, scores: Sequence[Score]) -> Question | None:
    if not scores or scores[0].confidence >= 0.9:
        return None
    likely = [s for s in scores[1:3] if s.confidence >= 0.15]
    return next((q for s in likely if (q := rules.question_for(scores[0].cause, s.cause))), None)


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


def _headline(status: Status, shown: Sequence[Shown], reading: Reading) -> str:
    if shown and status == "broken":
        title = shown[0].title
        return title if title.startswith("cuDNN") else title[:1].upper() + title[1:]
    if status == "healthy":
        lines = f"{reading.lines} line{'s' * (reading.lines != 1)}"
        return f"No known failure in {lines}" + (": what looks like errors is harmless" if reading.symptoms else "")
    if len(shown) > 1:
        return f"Cannot tell for certain: {shown[0].id} fits best, then {shown[1].id}"
    if shown:
        return f"Cannot tell for certain: {shown[0].id} fits best"
    return "There is an error, but none that gpuwhy knows the cause of"
