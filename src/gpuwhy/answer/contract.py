"""The contract `gpuwhy.report/1`: an Answer as JSON and back."""

import re
from typing import Any

import msgspec
from msgspec.structs import replace

from gpuwhy.answer.answer import FOUND, SCHEMA, Answer, Ended, Frame, Raised, Row, Symptom
from gpuwhy.log.ending import Ending
from gpuwhy.log.log import Log
from gpuwhy.log.message import Message, Standing

_UNSEEN = re.compile(
    "[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
"""What JSON may hold as it is, and what would steer a terminal or turn its writing round."""


class UnreadableError(ValueError):
    """A file that is not a report; the text says why."""


def as_json(values: Any) -> str:
    """Any answer as indented JSON that ends with a newline."""
    try:
        text = msgspec.json.encode(values)
    except UnicodeEncodeError:
        text = msgspec.json.encode(_escaped(msgspec.to_builtins(values)))
    indented = msgspec.json.format(text, indent=1).decode()
    return _UNSEEN.sub(_as_number, indented) + "\n"


def schema() -> dict[str, Any]:
    """The JSON schema, made from the types; docs/report.schema.json is a copy of it."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:gpuwhy:report:1",
        "title": SCHEMA,
        "description": "What `check`, `explain` and `run` print with --json. Fields may be added in"
        " later releases, never renamed or removed: readers ignore what they do not know.",
        **msgspec.json.schema(Answer),
    }


def _as_number(found: re.Match[str]) -> str:
    """A sign as JSON writes it by its number: above U+FFFF in two halves."""
    halves = found[0].encode("utf-16-be")
    return "".join(f"\\u{halves[n : n + 2].hex()}" for n in range(0, len(halves), 2))


def _escaped(value: Any) -> Any:
    """Lone surrogates (file names that are not UTF-8) as `\\udc80`: JSON cannot hold them."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_escaped(name): _escaped(one) for name, one in value.items()}
    return [_escaped(one) for one in value] if isinstance(value, (list, tuple)) else value


def read(text: str | bytes) -> Answer:
    """A saved report, also one of version 0."""
    try:
        values = msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise UnreadableError(f"not JSON: {error}") from None
    if not isinstance(values, dict) or values.get("schema") != SCHEMA:
        raise UnreadableError(f"not a report ({SCHEMA})")
    old = "verdict" not in values
    if old:
        values["verdict"] = "healthy"
        values["command"] = "explain" if "symptoms" in values or "ending" in values else "check"
    try:
        answer = msgspec.convert(values, Answer)
    except msgspec.ValidationError as error:
        if _drop_actions(values):  # a newer release may know actions that this one does not
            return read(msgspec.json.encode(values))
        raise UnreadableError(f"not a report ({SCHEMA}): {error}") from None
    return _completed(answer) if old else answer


def _drop_actions(values: dict[str, Any]) -> bool:
    fixes = [fix for cause in _dicts(values.get("causes")) for fix in _dicts(cause.get("fixes"))]
    dropped = [fix.pop("action", None) for fix in fixes]
    return any(dropped)


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _completed(answer: Answer) -> Answer:
    """What version 0 did not write, from what it did."""
    lines = {one.text: one.line for one in answer.symptoms}
    causes = []
    for cause in answer.causes:
        told = ((one, one.told[0].text if one.told else "") for one in cause.because)
        because = tuple(replace(one, line=lines.get(text, 0)) for one, text in told)
        fixes = tuple(replace(fix, language="text") for fix in cause.fixes)
        causes.append(replace(cause, because=because, fixes=fixes))
    question = answer.question
    if question:
        titles = {one.id: one.title for one in causes}
        answers = question.answers.items()
        rows = tuple(Row(sees, means, titles.get(means, means)) for sees, means in answers)
        question = replace(question, rows=rows, language="text")
    answer = replace(answer, causes=tuple(causes), question=question)
    if any(one.confidence >= FOUND and not one.with_gpu for one in causes):
        return replace(answer, verdict="found")
    if answer.status == "healthy":
        return answer
    open_ = causes or answer.command == "check"
    return replace(answer, verdict="undecided" if open_ else "unrecognised")


# From the Log


def symptoms(log: Log) -> tuple[Symptom, ...]:
    """The messages of a text, as the contract has them."""
    return tuple(
        Symptom(
            id=one.id,
            role=_role(one),
            line=max(one.line, 1),
            text=one.text,
            fields=one.fields,
            follows=one.explained_by if one.explained_by >= 0 else None,
            times=one.times,
            standing=one.standing.value,
        )
        for one in log.messages
    )


def _role(one: Message) -> Any:
    """The contract's word: "told" is a statement, "aside" an error that the program outlived."""
    if one.role in ("fact", "healthy"):
        return "told"
    return "aside" if one.role == "error" and one.standing is Standing.NOTED else one.role


def ended(ending: Ending) -> Ended | None:
    """How the program ended, as the contract has it."""
    if ending.kind == "none":
        return None
    frame = ending.frame
    return Ended(
        kind=ending.kind,
        type=ending.type,
        message=ending.message,
        line=ending.line or None,
        exit_code=ending.exit_code,
        own=ending.own,
        frame=Frame(frame.file, frame.line, frame.function, frame.owner) if frame else None,
        wrappers=ending.wrappers,
        chain=tuple(Raised(one.type, one.message) for one in ending.chain),
    )
