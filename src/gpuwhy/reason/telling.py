"""Telling: how scores become the causes, the open questions and the headline of a report on a text."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence

from gpuwhy.model.cause import Evidence, Finding, Fix, Weight
from gpuwhy.model.ending import Ending
from gpuwhy.model.fact import Source
from gpuwhy.model.facts import Facts
from gpuwhy.model.origin import Origin
from gpuwhy.model.report import Open, RuledOut, Shown, Status, Verdict, certainty
from gpuwhy.model.symptom import QUESTION, SOURCE, Question, Reading, Symptom
from gpuwhy.model.threshold import FOUND, GUESS, MOST, SURE, TOLD
from gpuwhy.model.version import cudnn_dotted, dotted
from gpuwhy.reason.rank import ruled_out
from gpuwhy.reason.rules import Rules
from gpuwhy.reason.settle import of_others
from gpuwhy.reason.tally import WITHOUT, Point, Score
from gpuwhy.reason.words import complains

INNOCENT = "other.not_gpu"
SHORT = 64
PASTED = 400
"""Characters of a text that somebody picked out: all of it is what he asks about."""
_REFUSED = re.compile(
    r"not recognized|\bnot found\b|cannot be (?:loaded|found)|exceeded|bad interpreter|No Python at|not a valid"
    r"|not installed|no installed|is not enabled|not supported at",
    re.IGNORECASE,
)
"""Words in which a shell or a service refuses something that has nothing to do with the GPU."""
_ORIGIN = re.compile(r"(?:\w )?\S+\.\w+:\d+\] *|\[\w:[^\]]*\] *")
"""Where in a program's source a line was written: not worth a place in a short quote."""


def status_of(scores: Sequence[Score], reading: Reading) -> Status:
    """Broken where one cause stands out; unknown where several do or an error says too little; else healthy.

    A failure of which the GPU stack is innocent leaves that healthy.
    """
    if SOURCE in reading.notes:
        return "healthy"
    if scores and scores[0].confidence >= FOUND:
        return "healthy" if scores[0].cause == INNOCENT else "broken"
    failed = any(s.role in ("error", "echo") for s in reading.symptoms) or reading.ending.fell
    if failed or (scores and (scores[0].words or _as_others(scores[0], reading))):
        return "unknown"
    return "healthy"


def _as_others(score: Score, reading: Reading) -> bool:
    """Whether a text that complains, or tells what is not there, says what others said who had this cause.

    A few lines are pasted to be asked about, so that those need not complain.
    """
    notes = any(symptom.role == "harmless" for symptom in reading.symptoms)
    if (
        not of_others(score)
        or all(p.symptom.role == "harmless" for p in score.points)
        or (notes and score.cause == INNOCENT)
    ):
        return False
    few = len(reading.excerpt.strip()) <= PASTED
    asked = few and (score.cause != INNOCENT or bool(_REFUSED.search(reading.excerpt)))
    return asked or complains(reading.excerpt) or (not notes and bool(_LACKS.search(reading.excerpt)))


_LACKS = re.compile(
    r"\b(?:not (?:found|a|valid|known|supported|allowed|permitted|viable|healthy)|no (?:such|matching|element)"
    r"|no (?:installation|devices|configuration)|d(?:id|oes) not (?:find|exist)|do not create|could(?: not|n't)"
    r"|can't|erroneous|unknown (?:flag|shorthand|command)|insufficient|exceeded|was low|non-zero|requires|please select"
    r"|disconnected)\b",
    re.IGNORECASE,
)
"""How a text says, without a word of complaint, that something is not there or not as it should be."""


def worth_telling(scores: Sequence[Score], status: Status) -> list[Score]:
    """The scores to tell: none where nothing failed."""
    innocent = bool(scores) and scores[0].cause == INNOCENT and scores[0].confidence >= FOUND
    if status == "healthy" and not innocent:
        return []
    likely = [s for s in scores if s.confidence >= TOLD]
    return [s for s in likely if _speaks(s) or (s.cause != INNOCENT and (s.points or s.odds > 0))][:MOST]


def _speaks(score: Score) -> bool:
    """Whether anything of the text speaks for it; that the stack is innocent has to be said by something."""
    return bool(score.words or score.origin) or any(point.counted > 0 for point in score.points)


def excluded(verdicts: Sequence[Verdict], shown: Sequence[Shown]) -> tuple[RuledOut, ...]:
    """What an observation excludes; never what the report tells as a cause."""
    told = {one.id for one in shown}
    return tuple(r for r in ruled_out(verdicts, observed=True) if r.id not in told)


def shown_as(
    rules: Rules, score: Score, reading: Reading, verdicts: Sequence[Verdict], where: str, facts: Facts | None
) -> Shown:
    """A score as a cause of the report, with its findings and what to do."""
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
    return rules.remedies(score.cause, behind, reading, facts)


def _findings(score: Score, where: str) -> tuple[Finding, ...]:
    """The strongest clue of each line; the same sentence once. Where no clue speaks, the words."""
    if score.origin is not None:
        return (_of_origin(score.origin),)
    if score.words:
        said = ", ".join(score.words)
        evidence = Evidence("told", said, Source("log", where, "its words"))
        text = WITHOUT if said == WITHOUT else f"words of the text that such failures often have: {said}"
        return (Finding("weak", text, (evidence,)),)
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
    said = filled(point.clue.text, one.fields)
    if one.seen is not None:
        return Finding(weight, said, (Evidence("saw", one.text, one.seen),))
    source = Source("log", where, f"line {one.line}" + (f", {one.times} times" if one.times > 1 else ""))
    return Finding(weight, said, (Evidence("told", one.text, source),))


def filled(text: str, fields: Mapping[str, str]) -> str:
    """A sentence with its fields ({name:dotted}: 11040 as 11.4; {name:cudnn}: 8904 as 8.9.4); an unknown one is …"""
    return text.format_map(_Fields({name: _Field(value) for name, value in fields.items()}))


_WAYS = {"dotted": dotted, "cudnn": cudnn_dotted}


class _Field(str):
    __slots__ = ()

    def __format__(self, how: str) -> str:
        write = _WAYS.get(how)
        return write(self) if write else format(str(self), how)


class _Fields(dict[str, _Field]):
    def __missing__(self, key: str) -> _Field:
        return _Field("…")


def _explains(score: Score, reading: Reading) -> tuple[str, ...]:
    firsts = {p.symptom.order for p in score.points if p.counted > 0}
    lines = {p.symptom.line for p in score.points}
    found = (s for s in reading.symptoms if s.follows in firsts and s.line not in lines)
    return tuple(dict.fromkeys(_cited(one) for one in found))[:6]


def _cited(one: Symptom) -> str:
    return one.text if one.seen else f"line {one.line} “{_short(one.text)}”"


def _short(text: str) -> str:
    return textwrap.shorten(_ORIGIN.sub("", text, count=1), SHORT, placeholder=" …")


def left_open(rules: Rules, scores: Sequence[Score]) -> tuple[Open, ...]:
    """The causes beside the first that are still likely, and what would decide."""
    out = []
    for score in scores[1:MOST]:
        question = rules.question_for(scores[0].cause, score.cause)
        if score.confidence >= GUESS and question is not None:
            out.append(Open(score.cause, question.text, question.command))
    return tuple(out)


def question_after(rules: Rules, scores: Sequence[Score]) -> Question | None:
    """The one question that would tell the first causes apart, where none is certain."""
    if not scores or scores[0].confidence >= SURE:
        return None
    likely = [s for s in scores[1:3] if s.confidence >= 0.15]
    return next((q for s in likely if (q := rules.question_for(scores[0].cause, s.cause))), None)


def _innocent(shown: Shown, score: Score) -> str:
    """The failure that is none of the GPU stack, in its own words where it is an exception."""
    error = next((p.symptom for p in score.points if p.counted > 0), None)
    what = f"{error.get('name')}: {error.get('what')}" if error and error.get("name") and error.get("what") else ""
    what = what or shown.said
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


_NAME = re.compile(r"[a-z]*[A-Z_.\d:/-]|python\b|pip\b|conda\b|nvcc\b|ptxas\b")
"""What begins with a name that is written as it is: cuDNN, libcudnn.so.8, nvcc."""


def headline(status: Status, shown: Sequence[Shown], scores: Sequence[Score], reading: Reading) -> str:
    """The answer in one line."""
    if SOURCE in reading.notes:
        return (
            "This is source code or a text about it, and holds no failure: "
            "run it (`gpuwhy run -- …`), or explain what it printed"
        )
    if shown:
        return _headline_of(status, shown, scores, reading)
    if status == "healthy":
        lines = f"{reading.lines} line{'s' * (reading.lines != 1)}"
        return f"No known failure in {lines}{_calm(reading)}"
    if reading.ending.fell:
        return f"{_fall(reading.ending)}; nothing that gpuwhy knows leads there"
    return "There is an error, but none that gpuwhy knows the cause of"


def _fall(ending: Ending) -> str:
    """The exception that ended a program, with the place that raised it."""
    at = ending.frame
    place = f", raised at {at.base}:{at.line}" if at is not None else ""
    said = f"{ending.name}: {ending.message}" if ending.message else ending.name
    return f"The program ended with {textwrap.shorten(said, SHORT, placeholder=' …')}{place}"


def _headline_of(status: Status, shown: Sequence[Shown], scores: Sequence[Score], reading: Reading) -> str:
    first = shown[0]
    if QUESTION in reading.notes:
        return f"A question, not a log. Most often behind such words: {first.title}"
    if status == "healthy":
        return _innocent(first, scores[0])
    if status == "broken":
        return _blamed(first)
    if _quoted(scores[0]):
        return f"These words are quoted here, and tell of a failure elsewhere. Most often behind them: {first.title}"
    if scores[0].words:
        return f"No message that gpuwhy knows. By its words, perhaps: {first.title}"
    return f"Not certain. Perhaps {first.title}" + (f"; or {shown[1].title}" if len(shown) > 1 else "")


def _quoted(score: Score) -> bool:
    said = [point.symptom for point in score.points if point.counted > 0 and point.symptom.role in ("error", "echo")]
    return bool(said) and all(one.borrowed for one in said)


def _blamed(first: Shown) -> str:
    said = first.said
    if certainty(first.confidence) == "possible":
        return f"Perhaps: {said}"
    return said if _NAME.match(said) else said[:1].upper() + said[1:]
