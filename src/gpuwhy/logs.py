"""Wires text → symptoms → clues → report, without the machine: what `explain --log-only` needs and no more."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import msgspec
from msgspec import structs

from gpuwhy.knowledge.claims import refuted
from gpuwhy.knowledge.codes import signature
from gpuwhy.knowledge.precedents import alike
from gpuwhy.knowledge.releases import newest
from gpuwhy.model.code import Code
from gpuwhy.model.facts import Facts
from gpuwhy.model.origin import Origin
from gpuwhy.model.report import Report
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.model.threshold import LEAST, MOST, SURE, TOLD
from gpuwhy.reason.explain import explain as explain_reading
from gpuwhy.reason.explain import likely
from gpuwhy.reason.first_two import in_order
from gpuwhy.reason.probed import after_failure, failures
from gpuwhy.reason.rank import environment, named
from gpuwhy.reason.report import condition_of, report
from gpuwhy.reason.rules import Rules
from gpuwhy.reason.stranger import Strange, Weights, stranger, unpacked
from gpuwhy.reason.tally import Index, index, tally
from gpuwhy.reason.tried import Failed, with_printed, with_words
from gpuwhy.reason.words import Likeness, opened
from gpuwhy.rooms import CAUSES
from gpuwhy.rooms.text.choose import cured, remedies
from gpuwhy.rooms.text.fit import best_first
from gpuwhy.rooms.text.questions import QUESTIONS, question_for
from gpuwhy.rooms.text.rooms import admitted, clues
from gpuwhy.rooms.text.words import likenesses, strangers
from gpuwhy.shell.gate import asked_at, guided_at, placed, still_open
from gpuwhy.shell.place import Place, place_of
from gpuwhy.spoken.answer import answered, seen_here, understood
from gpuwhy.symptoms.quote import Quote
from gpuwhy.symptoms.reader import LogReader, read, read_text
from gpuwhy.symptoms.text import BINARY

__all__ = [
    "BadAnswerError",
    "Facts",
    "LogReader",
    "Quote",
    "Reading",
    "Report",
    "batch",
    "behind",
    "explain_text",
    "is_text",
    "read",
    "read_imports",
    "read_printed",
    "read_text",
    "report_on",
    "report_on_probe",
    "rules",
]


PRINTED = 30
"""Characters of a precedent's phrases that nobody types by chance."""


class BadAnswerError(Exception):
    """An answer to a question that does not exist, or that the question does not offer."""


@cache
def _index() -> Index:
    return index(clues())


@cache
def rules() -> Rules:
    """Clues, causes, remedies and questions."""
    by_id = {cause.id: cause for cause in CAUSES}
    asked = {q.id: q for q in QUESTIONS}
    return Rules(
        _index(),
        by_id,
        remedies,
        question_for,
        asked,
        admitted,
        _likeness,
        _origin,
        _bounded,
        refuted,
        _strange,
        alike,
        cured,
    )


@cache
def _likeness() -> Likeness:
    """What the words of a text speak for."""
    return opened(likenesses())


@cache
def _weights() -> Weights:
    return unpacked(strangers())


def _strange(text: str) -> Strange:
    """How much a text reads like that of a program which ended for reasons of its own, or well."""
    return stranger(_weights(), text)


def _origin(line: str, around: frozenset[str]) -> Origin | None:
    """The program that prints a line; the atlas is opened for the first one that nothing else knows."""
    from gpuwhy.knowledge import atlas

    return atlas.origin(line, around)


def _bounded(origins: Sequence[Origin]) -> Mapping[str, tuple[str, ...]]:
    """The releases that have all of some lines; asked only of lines that the atlas knows."""
    from gpuwhy.knowledge import atlas

    return atlas.bounded(origins)


def report_on(
    reading: Reading, facts: Facts | None, answers: Iterable[str] = (), *, started: float = 0.0, where: str = "text"
) -> Report:
    """The report on what was read, with this machine's facts if they are given."""
    took = time.monotonic() - started if started else 0.0
    given = _answers(answers)
    told = explain_reading(rules(), reading, facts, given, took, where)
    watched = bool(facts and facts.run.failed)  # what a watched program printed is no question to us
    if not given and not watched and not _printed(told, reading):
        told = _in_words(told, reading, facts)
    here = (
        facts if told.facts or told.guide else None
    )  # a text from elsewhere is read, and answered, without this machine
    place = place_of(here, understood(reading) if told.guide else reading)
    return _at(told, place, environment(here) if here else "", reading)


def _printed(told: Report, reading: Reading) -> bool:
    """Whether a text says what precedents know a program to print, so that it is no question in plain words."""
    return bool(told.causes) and any(one.known >= PRINTED for one in alike(reading.excerpt))


def _in_words(told: Report, reading: Reading, facts: Facts | None) -> Report:
    """Plain words that no precedent knows get the answer to a question; beside it, what is seen on this machine."""
    if _as_others_said(told, reading):
        return told
    answer = answered(told, reading, rules().causes, lambda cause, said, read: remedies(cause, said, read, facts))
    if answer.guide is None or facts is None or not answer.facts:
        return answer
    return seen_here(answer, report([c for c in CAUSES if c.asked(facts)], facts, 0.0))


_SAID = 24
"""Characters that a precedent knows of a text, from which on this is a program's message and not somebody's words."""


def _as_others_said(told: Report, reading: Reading) -> bool:
    """Whether the cause that is told first is that of others whose program printed these words."""
    closest = next(iter(alike(reading.excerpt)), None)
    return bool(closest and told.causes and told.causes[0].id == closest.row.cause and closest.known >= _SAID)


def _at(told: Report, place: Place, again: str, reading: Reading | None = None) -> Report:
    """The report with the commands of a place; plain words need not be about this very machine."""
    place = structs.replace(place, no_gpu=place.no_gpu and told.guide is None)
    causes = placed(named(told.causes, again), place)
    return msgspec.structs.replace(
        told,
        causes=in_order(best_first(causes, reading) if reading else causes),
        question=asked_at(told.question, place),
        guide=guided_at(told.guide, place),
        undetermined=still_open(told.undetermined, place, QUESTIONS),
        knows_until=newest(),
    )


def _answers(given: Iterable[str]) -> Mapping[str, str]:
    out = {}
    for one in given:
        name, _, answer = one.partition("=")
        question = rules().questions.get(name)
        if question is None or answer not in question.answers:
            offers = "; ".join(f"{q.id}={'|'.join(q.answers)}" for q in rules().questions.values())
            raise BadAnswerError(f"--answer {one}: the answers are {offers}")
        out[name] = answer
    return out


def is_text(reading: Reading) -> bool:
    """Whether there was a text to read: some line, and no program or archive."""
    return reading.lines > 0 and BINARY not in reading.notes


def explain_text(text: str, facts: Facts | None = None) -> Report:
    """The report on a text at hand."""
    return report_on(read_text(text), facts, started=time.monotonic())


def report_on_probe(facts: Facts, took: float, again: str = "") -> Report:
    """The report after the probe: the facts decide; where nothing in them stops, what failed is read as a log."""
    by_facts = report([c for c in CAUSES if c.asked(facts)], facts, took, again)
    failed = failures(facts)
    if not failed or any(c.stops and c.confidence >= SURE for c in by_facts.causes):
        return _at(by_facts, place_of(facts), "")
    read = [(one, explain_reading(rules(), read_text(one.text), facts, {}, took, "probe")) for one in failed]
    return _at(after_failure(by_facts, read, again), place_of(facts), "")


def read_imports(by_facts: Report, failed: Sequence[Failed], took: float, again: str) -> Report:
    """The report after imports that failed: their words are read as a log; the facts have had their say before."""
    read = [(one, explain_reading(rules(), read_text(one.one.text), None, {}, took, "import")) for one in failed]
    told = with_words(by_facts, read, condition_of(by_facts.as_if))
    return msgspec.structs.replace(told, causes=named(told.causes, again))


def read_printed(by_facts: Report, imported: Sequence[Failed], took: float, again: str) -> Report:
    """The report after imports that went well: what they printed is read as a log, for parts that did not load."""
    read = [(one, explain_reading(rules(), read_text(one.one.text), None, {}, took, "import")) for one in imported]
    told = with_printed(by_facts, read, condition_of(by_facts.as_if))
    return msgspec.structs.replace(told, causes=named(told.causes, again))


def behind(code: Code) -> Code:
    """A status with the causes that `explain` tells where nothing but that status is said."""
    number = code.numbers[0].code if code.numbers else 0
    if code.api == "windows":
        reading = _of_windows(number)
    elif name := signature(code):
        reading = _saying(name, {"xid": str(number)} if code.api == "xid" else {})
    else:
        return code
    scores = tally(_index(), reading)
    return structs.replace(code, causes=tuple(s.cause for s in scores if s.confidence >= TOLD)[:MOST])


def _of_windows(number: int) -> Reading:
    """A status as a program ends with it; a plain error as LoadLibrary reports it: most others mean another thing."""
    if number > 0xFFFF:
        return read_text(f"exit code 0x{number:X}\n")
    return _saying("windows.load_library", {"number": str(number)})


def _saying(signature: str, fields: dict[str, str]) -> Reading:
    return Reading(symptoms=(Symptom(signature, 1, "", fields=fields),))


def batch(lines: Iterable[bytes | None]) -> Iterator[dict[str, Any]]:
    """JSON lines {"id", "log"} to {"id", "causes"}, or {"id", "error"} for a bad line; blank ones are skipped."""
    for number, line in enumerate(lines, 1):
        if line is None:
            yield {"id": None, "error": f"line {number}: too long"}
        elif line.strip():
            yield _answered(number, line)


def _answered(number: int, line: bytes) -> dict[str, Any]:
    try:
        case = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return {"id": None, "error": f"line {number}: no JSON: {error}"}
    if not isinstance(case, dict):
        return {"id": None, "error": f"line {number}: no JSON object"}
    if not isinstance(case.get("log"), str):
        return {"id": case.get("id"), "error": f'line {number}: "log" is no text, or missing'}
    return _one(case)


def _one(case: dict[str, Any]) -> dict[str, Any]:
    scores = likely(rules(), read_text(case["log"]))
    told = [{"id": s.cause, "confidence": round(s.confidence, 3)} for s in scores[:MOST] if s.confidence >= LEAST]
    return {"id": case.get("id"), "causes": told}
