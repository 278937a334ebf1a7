"""Text → Answer: read, diagnose, compose. Every door that explains a text comes through here."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from gpuwhy.advise.places import place_of
from gpuwhy.answer.answer import FOUND, Answer
from gpuwhy.answer.compose import causes_of, explained
from gpuwhy.diagnose.weigh import diagnose
from gpuwhy.knowledge.releases import newest
from gpuwhy.log.log import Log
from gpuwhy.log.message import Message
from gpuwhy.log.read import read

if TYPE_CHECKING:
    from gpuwhy.api.machine import Seen

MOST = 10
"""Causes of one line of `batch`."""


def answer_of(log: Log, seen: Seen | None = None, *, command: str = "explain") -> Answer:
    """What a text that was read says, with what was seen on the machine."""
    started = time.monotonic()
    place = place_of(log.case, seen.facts if seen else None)
    diagnosis = diagnose(log, seen.findings if seen else ())
    answer = explained(log, diagnosis, place, command == "ask")
    if seen:
        known = seen.report
        shown = {one: getattr(known, one) for one in ("layers", "unseen", "facts", "knowledge")}
        answer = replace(answer, **shown)
    took = round(time.monotonic() - started, 3)
    return replace(answer, knowledge=answer.knowledge or newest(), command=command, took=took)


def explain(
    text: bytes | str | Iterable[bytes],
    seen: Seen | None = None,
    *,
    observed: Sequence[Message] = (),
    exit_code: int | None = None,
    signal: str = "",
) -> Answer:
    """Why a program failed, from what it printed."""
    return answer_of(read(text, observed=observed, exit_code=exit_code, signal=signal), seen)


def shareable(answer: Answer) -> Answer:
    """The answer without secrets, people and machines: what is passed on is made of it."""
    from gpuwhy.machine.redact import of_this_machine

    return msgspec.convert(of_this_machine().values(msgspec.to_builtins(answer)), Answer)


class BadChoiceError(Exception):
    """An answer to a question that was not asked, or that it does not offer."""


def chosen(answer: Answer, choices: Iterable[str]) -> Answer:
    """The answer after the person looked: NAME=WHAT WAS SEEN decides the cause."""
    for choice in choices:
        name, _, sees = choice.partition("=")
        question = answer.question
        means = question.answers.get(sees) if question and question.id == name else None
        if not means:
            offers = question and " | ".join(f"{question.id}={one}" for one in question.answers)
            raise BadChoiceError(f"--answer {choice}: {offers or 'this text has no question'}")
        causes = [replace(one, confidence=0.9) for one in answer.causes if one.id == means]
        head = causes[0].title if causes else means
        for one in answer.causes:
            if one.id != means:
                causes.append(replace(one, confidence=min(one.confidence, FOUND - 0.1)))
        decided = {"causes": tuple(causes), "verdict": "found", "status": "broken"}
        head = head[:1].upper() + head[1:]
        answer = replace(answer, **decided, headline=head, question=None)
    return answer


def batch(lines: Iterable[bytes | None]) -> Iterator[dict[str, Any]]:
    """JSON lines {"id", "log"} → {"id", "causes"}, or {"id", "error"}; blank ones are skipped."""
    for number, line in enumerate(lines, 1):
        if line is not None and not line.strip():
            continue
        case, wrong = None, "too long" if line is None else "no JSON object"
        try:
            case = msgspec.json.decode(line or b"null")
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            wrong = f"no JSON: {error}"
        out, text = {"id": None}, None
        if isinstance(case, dict):
            out, text, wrong = (
                {"id": case.get("id")},
                case.get("log"),
                '"log" is no text, or missing',
            )
        if not isinstance(text, str):
            yield {**out, "error": f"line {number}: {wrong}"}
            continue
        log = read(text)
        found = causes_of(log, diagnose(log))[:MOST]
        yield {**out, "causes": [{"id": one, "confidence": round(p, 3)} for one, p in found]}
