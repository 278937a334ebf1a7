"""Explain: the messages of a text and, where they are used, the facts of this machine, put into one report."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Collection, Mapping, Sequence

import msgspec

from gpuwhy._version import __version__
from gpuwhy.model.cause import Case, Cause, Evidence, Finding, Fix, Weight
from gpuwhy.model.fact import Known, Source
from gpuwhy.model.facts import Facts
from gpuwhy.model.origin import Origin
from gpuwhy.model.report import Noticed, Open, Report, RuledOut, Shown, Status, Verdict, certainty
from gpuwhy.model.symptom import QUESTION, SOURCE, Likeness, Question, Reading, Symptom
from gpuwhy.model.threshold import FOUND, GUESS, MOST, SURE, TOLD
from gpuwhy.model.version import dotted
from gpuwhy.reason.judge import judge
from gpuwhy.reason.link import concerned, noticed
from gpuwhy.reason.origins import Tracer, by_origin, traced, vague
from gpuwhy.reason.picture import picture, unseen
from gpuwhy.reason.probed import staircase, tempered
from gpuwhy.reason.rank import crashed, ruled_out
from gpuwhy.reason.settle import settled
from gpuwhy.reason.tally import Index, Point, Score, tally
from gpuwhy.reason.whose import foreign
from gpuwhy.reason.words import complains, likened, unspoken

FROM_FACTS = {"proof": 5.0, "strong": 4.0, "weak": 1.0, "against": -5.0}
"""Log-odds that the machine's facts add to a cause that the text speaks for: they can overrule the text."""
UNTOLD = 0.4
"""The part of them that counts for a cause which the text says nothing of."""
ANSWERED = 5.0
HINTED, BESIDE = 3.5, 0.1
"""What an answer adds where causes that its question does not ask about have so much of the whole: they stay open."""
KEPT, BEHIND = 0.2, 0.1
"""What a clear text's own cause keeps, and how far behind it one stays that only the machine speaks for."""
INNOCENT = "other.not_gpu"
SHORT = 64
_ORIGIN = re.compile(r"(?:\w )?\S+\.\w+:\d+\] *|\[\w:[^\]]*\] *")
"""Where in a program's source a line was written: not worth a place in a short quote."""


class Rules(msgspec.Struct, frozen=True):
    """What explain needs besides the text: clues, causes, remedies and questions."""

    clues: Index
    causes: Mapping[str, Cause]
    remedies: Callable[[str, Sequence[Fix], Sequence[Symptom], Reading, Facts | None], tuple[Fix, ...]]
    question_for: Callable[[str, str], Question | None]
    questions: Mapping[str, Question]
    admitted: Callable[[Sequence[Symptom]], frozenset[str]]
    lexicon: Callable[[], Mapping[str, Likeness]]
    origin: Tracer = lambda line, around: None
    claims: Callable[[str], tuple[str, ...]] = lambda _: ()


def explain(
    rules: Rules, reading: Reading, facts: Facts | None, answers: Mapping[str, str], took: float, where: str
) -> Report:
    """The report on a text; `facts` are this machine's, `answers` those to earlier questions."""
    watched = facts is not None and isinstance(facts.run.seconds, Known)
    probed = facts is not None and isinstance(facts.probe.stages, Known)
    elsewhere = foreign(reading, facts) if facts is not None and not watched and not probed else ""
    facts = None if elsewhere else facts
    asked = tuple(c for c in rules.causes.values() if watched or not c.needs_log)
    verdicts = tempered(judge(asked, facts, reading), facts) if facts is not None else ()
    spoken = _spoken(rules, reading)
    linked = concerned(verdicts, reading, facts, spoken) if facts is not None else []
    scores = _scored(rules, reading, linked, answers, spoken)
    origin = None if _only_notes(reading) else _origin(rules, reading, scores)
    if (
        not answers
        and not _only_notes(reading)
        and SOURCE not in reading.notes
        and not any(v.state in ("shown", "possible") for v in linked)
    ):
        scores = by_origin(origin if origin and (origin.label or unspoken(scores)) else None) or scores
        scores = (_by_words(rules, reading) or scores) if facts is None and unspoken(scores) else scores
    status = status_of(scores, reading)
    shown = tuple(_shown(rules, s, reading, linked, where, facts) for s in _told(scores, status))
    return Report(
        status=status,
        headline=_headline(status, shown, scores, reading),
        causes=shown,
        ruled_out=_not(linked, shown),
        undetermined=_open(rules, scores, reading),
        crashed=crashed(verdicts),
        layers=picture(facts, shown) if facts is not None else (),
        unseen=unseen(facts) if facts is not None else (),
        facts=msgspec.to_builtins(facts) if facts is not None else {},
        gpuwhy=__version__,
        took=round(took, 3),
        stairs=staircase(facts) if facts is not None else (),
        symptoms=reading.symptoms,
        noticed=_noticed(rules, reading, verdicts, linked, elsewhere, shown),
        ending=reading.ending,
        question=_question(rules, scores, reading) if shown else None,
        origin=origin,
    )


def _scored(
    rules: Rules, reading: Reading, linked: Sequence[Verdict], answers: Mapping[str, str], spoken: Collection[str]
) -> tuple[Score, ...]:
    """Every cause with its share, none surer than what it rests on."""
    seen = {v.cause.id for v in linked if v.state == "shown" and (v.cause.id in spoken or _ties(v))}
    extra = _extra(rules, reading, linked, answers, spoken)
    return settled(tally(rules.clues, reading, extra), reading, seen, bool(answers))


def _ties(verdict: Verdict) -> bool:
    return any(f.linked for f in verdict.findings)


def _spoken(rules: Rules, reading: Reading) -> frozenset[str]:
    """The causes that the text speaks for, or that its vague messages admit."""
    told = frozenset(s.cause for s in tally(rules.clues, reading) if s.odds > 0)
    return told | rules.admitted([s for s in reading.symptoms if s.role != "aside"])


def _noticed(
    rules: Rules,
    reading: Reading,
    verdicts: Sequence[Verdict],
    linked: Sequence[Verdict],
    elsewhere: str,
    shown: Sequence[Shown],
) -> tuple[Noticed, ...]:
    """What is true beside the answer, and that this machine was not asked about a text from elsewhere."""
    told = {one.id for one in shown}
    beside = tuple(n for n in noticed(rules.clues, reading, verdicts, linked) if n.id not in told)
    beside = (*(Noticed("", truth) for truth in rules.claims(reading.excerpt)), *beside)
    if not elsewhere:
        return beside
    return (Noticed("", f"the text is not from here ({elsewhere}), so it is read without this machine"), *beside)


def status_of(scores: Sequence[Score], reading: Reading) -> Status:
    """Broken where one cause stands out; unknown where several do or an error says too little; else healthy.

    A failure of which the GPU stack is innocent leaves that healthy.
    """
    if SOURCE in reading.notes:
        return "healthy"
    if scores and scores[0].confidence >= FOUND:
        return "healthy" if scores[0].cause == INNOCENT else "broken"
    if any(s.role in ("error", "echo") for s in reading.symptoms) or (scores and scores[0].words):
        return "unknown"
    return "healthy"


def unclued(rules: Rules, reading: Reading, scores: Sequence[Score]) -> tuple[Score, ...]:
    """Where no clue speaks: by the program that complained last, else by the words."""
    origin = _origin(rules, reading, scores)
    told = by_origin(origin if origin and (origin.label or unspoken(scores)) else None)
    return told or (likened(rules.lexicon(), reading.excerpt) if unspoken(scores) else ()) or tuple(scores)


def _only_notes(reading: Reading) -> bool:
    """Whether a text holds harmless notes, and nothing that failed."""
    roles = {s.role for s in reading.symptoms}
    return "harmless" in roles and not roles & {"error", "echo"}


def _origin(rules: Rules, reading: Reading, scores: Sequence[Score]) -> Origin | None:
    """The program that printed the last complaint, where only the type of an exception speaks."""
    return traced(rules.origin, reading) if vague(scores) else None


def _by_words(rules: Rules, reading: Reading) -> tuple[Score, ...]:
    """What a text that tells of a failure, with no message that is known, is most like; none where that is vague."""
    scores = likened(rules.lexicon(), reading.excerpt)
    return scores if scores and scores[0].confidence >= GUESS and complains(reading.excerpt) else ()


def _told(scores: Sequence[Score], status: Status) -> list[Score]:
    """The scores to tell: none where nothing failed."""
    if status == "healthy" and not (scores and scores[0].cause == INNOCENT and scores[0].confidence >= FOUND):
        return []
    return [s for s in scores if s.confidence >= TOLD and (s.points or s.words or s.odds > 0)][:MOST]


def _not(verdicts: Sequence[Verdict], shown: Sequence[Shown]) -> tuple[RuledOut, ...]:
    """What an observation excludes; never what the report tells as a cause."""
    told = {one.id for one in shown}
    return tuple(r for r in ruled_out(verdicts, observed=True) if r.id not in told)


def _extra(
    rules: Rules, reading: Reading, verdicts: Sequence[Verdict], answers: Mapping[str, str], spoken: Collection[str]
) -> dict[str, float]:
    """Log-odds from this machine's facts and from answers."""
    out: dict[str, float] = {}
    told = tally(rules.clues, reading)
    hidden = {low for v in verdicts if v.state == "shown" for low in v.cause.hides}
    for verdict in verdicts:
        weight = max((FROM_FACTS[f.weight] for f in verdict.findings), default=0.0)
        if verdict.state == "ruled_out" or verdict.cause.id in hidden:
            weight = min(weight, 0.0)
        near = verdict.cause.id in spoken or _ties(verdict)
        more = weight if near else max(0.0, weight * UNTOLD)
        if more:
            out[verdict.cause.id] = max(out.get(verdict.cause.id, -99.0), more)
    if told and told[0].confidence >= FOUND:
        _keep(told, spoken, out)
    before = tally(rules.clues, reading, out) if answers else ()
    for name, answer in answers.items():
        question = rules.questions[name]
        beside = sum(s.confidence for s in before if s.cause not in question.answers.values())
        for outcome, cause in question.answers.items():
            more = ANSWERED if beside < BESIDE else HINTED
            out[cause] = out.get(cause, 0.0) + (more if outcome == answer else -ANSWERED)
    return out


def _keep(told: Sequence[Score], spoken: Collection[str], out: dict[str, float]) -> None:
    """Hold what only the machine speaks for behind the cause of a clear text: it may be broken, and not by this."""
    best = max(told, key=lambda s: s.odds + out.get(s.cause, 0.0))
    most = max(best.odds + out.get(best.cause, 0.0), KEPT)
    above = [cause for cause, more in out.items() if cause not in spoken and more > most - BEHIND]
    if above:
        out[best.cause] = most - best.odds
        out.update(dict.fromkeys(above, most - BEHIND))


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
    return rules.remedies(score.cause, own, behind, reading, facts)


def _findings(score: Score, where: str) -> tuple[Finding, ...]:
    """The strongest clue of each line; the same sentence once. Where no clue speaks, the words."""
    if score.origin is not None:
        return (_of_origin(score.origin),)
    if score.words:
        said = ", ".join(score.words)
        evidence = Evidence("told", said, Source("log", where, "its words"))
        return (Finding("weak", f"words of the text that such failures often have: {said}", (evidence,)),)
    out: dict[str, Finding] = {}
    lines: set[int] = set()
    for point in score.points:
        finding = _finding(point, where)
        if point.counted > 0 and point.symptom.line not in lines:
            lines.add(point.symptom.line)
            out.setdefault(finding.text, finding)
    return tuple(out.values())[:4]


def _of_origin(origin: Origin) -> Finding:
    says = origin.label.says if origin.label else "other messages of the same file mostly have this cause"
    return Finding("weak", says, (Evidence("know", origin.text, Source("know", "message atlas", origin.key)),))


def _finding(point: Point, where: str) -> Finding:
    one = point.symptom
    weight: Weight = "strong" if point.counted >= 3 else "weak"
    source = Source("log", where, f"line {one.line}" + (f", {one.times} times" if one.times > 1 else ""))
    return Finding(weight, filled(point.clue.text, one.fields), (Evidence("told", one.text, source),))


def filled(text: str, fields: Mapping[str, str]) -> str:
    """A sentence with its fields, {name:dotted} for 11040 as 11.4; what the message did not say is an ellipsis."""
    return text.format_map(_Fields({name: _Field(value) for name, value in fields.items()}))


class _Field(str):
    __slots__ = ()

    def __format__(self, how: str) -> str:
        return dotted(self) if how == "dotted" else format(str(self), how)


class _Fields(dict[str, _Field]):
    def __missing__(self, key: str) -> _Field:
        return _Field("…")


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
    return rules.question_for(first, second)


def _question(rules: Rules, scores: Sequence[Score], reading: Reading) -> Question | None:
    if not scores or scores[0].confidence >= SURE:
        return None
    likely = [s for s in scores[1:3] if s.confidence >= 0.15]
    return next((q for s in likely if (q := _asking(rules, scores[0].cause, s.cause, reading))), None)


def _innocent(shown: Shown, score: Score) -> str:
    """The failure that is none of the GPU stack, in its own words where it is an exception."""
    error = next((p.symptom for p in score.points if p.counted > 0), None)
    what = f"{error.get('name')}: {error.get('what')}" if error and error.get("name") and error.get("what") else ""
    what = what or (shown.because[0].text if shown.because else shown.title)
    sure = "Not a GPU problem" if certainty(shown.confidence) != "possible" else "Perhaps not a GPU problem"
    return f"{sure}: {textwrap.shorten(what, 2 * SHORT, placeholder=' …')}"


def _calm(reading: Reading) -> str:
    """What a text without a failure holds instead."""
    if any(s.role == "harmless" for s in reading.symptoms):
        return ": what looks like errors is harmless"
    if reading.has("told.smi_table"):
        driver = reading.told.version("driver")
        return ": a healthy nvidia-smi table" + (f", driver {driver}" if driver else "")
    return ""


def _headline(status: Status, shown: Sequence[Shown], scores: Sequence[Score], reading: Reading) -> str:
    if SOURCE in reading.notes:
        return "This is source code, and holds no failure: run it (`gpuwhy run -- …`), or explain what it printed"
    if QUESTION in reading.notes and shown:
        return f"A question, not a log; failures of which people say so are most often {shown[0].id}"
    if shown and status == "healthy":
        return _innocent(shown[0], scores[0])
    if shown and status == "broken":
        title = shown[0].title
        if certainty(shown[0].confidence) == "possible":
            return f"Perhaps: {title}"
        return title if title.startswith("cuDNN") else title[:1].upper() + title[1:]
    if status == "healthy":
        lines = f"{reading.lines} line{'s' * (reading.lines != 1)}"
        return f"No known failure in {lines}{_calm(reading)}"
    if shown and scores[0].words:
        return f"No message that gpuwhy knows: by its words the text is most like {shown[0].id}"
    if len(shown) > 1:
        return f"Cannot tell for certain: {shown[0].id} fits best, then {shown[1].id}"
    if shown:
        return f"Cannot tell for certain: {shown[0].id} fits best"
    return "There is an error, but none that gpuwhy knows the cause of"
