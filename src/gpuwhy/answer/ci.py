"""What build servers read: SARIF, JUnit, GitHub's annotations, GitLab's code quality report."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Literal
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import msgspec

from gpuwhy.answer.answer import FOUND, Answer, CauseFound, certainty
from gpuwhy.answer.contract import as_json
from gpuwhy.answer.text import lines_of, plain

SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
ANNOTATIONS = 10
"""GitHub shows no more of each kind."""
_NOT_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_IN_ADDRESS = frozenset("/.-_~+@=,:")


Level = Literal["error", "warning", "note", "skipped", "passed"]


class Note(msgspec.Struct, frozen=True):
    """Something to say about a place in a file, or about the machine (path "")."""

    path: str
    line: int
    rule: str  # the id of a cause or of a lint rule
    text: str  # the first line says what; the rest, why and what to do
    level: Level = "error"


def notes(answer: Answer) -> tuple[Note, ...]:
    """An Answer's causes, and what could not be judged or was ruled out."""
    level: Level = "skipped" if answer.exit_code else "passed"
    whole = Note("", 0, f"gpuwhy.{answer.verdict}", answer.headline, level)
    rows = [
        *([_of_cause(one, answer) for one in answer.causes] or [whole]),
        *(Note("", 0, one.id, f"gpuwhy failed: {one.error}") for one in answer.crashed),
        *(Note("", 0, one.id, one.missing, "skipped") for one in answer.undetermined),
        *(Note("", 0, one.id, one.because, "passed") for one in answer.ruled_out),
    ]
    first = {one.rule: one for one in reversed(rows)}
    named = len(answer.causes)
    return (*rows[:named], *(one for one in rows[named:] if first[one.rule] is one))


def _of_cause(cause: CauseFound, answer: Answer) -> Note:
    found = cause.confidence >= FOUND and not cause.with_gpu
    about = f" ({cause.subject})" if cause.subject else ""
    line = cause.because[0].line if cause.because else 0
    text = "\n".join((f"{cause.title}{about} · {certainty(cause.confidence)}", *_why(cause)))
    return Note(answer.about if line else "", line, cause.id, text, "error" if found else "warning")


def _why(cause: CauseFound) -> Iterator[str]:
    """Reasons with their evidence, and remedies."""
    for reason in cause.because:
        yield f"because {reason.text}"
        for kind, proofs in (("saw", reason.saw), ("told", reason.told), ("know", reason.know)):
            yield from (f"  {kind} {one.text} [{one.source}]" for one in proofs)
    for fix in cause.fixes:
        yield f"fix: {fix.text}"
        yield from (f"  {line}" for line in lines_of(fix.command) if line)


def _first_line(note: Note) -> str:
    return plain(note.text.split("\n")[0])


def _counted(given: Iterable[Note]) -> list[Note]:
    """Those that say that something is wrong."""
    return [one for one in given if one.level in ("error", "warning", "note")]


def _fingerprint(note: Note) -> str:
    """The same for the same note on another line."""
    text = f"{note.rule}\0{note.path}\0{note.text}"
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


# SARIF 2.1.0: GitHub code scanning, editors


def sarif(given: Sequence[Note], version: str, titles: Mapping[str, str] | None = None) -> str:
    """One run, with the rules that its results name."""
    shown = _counted(given)
    rules = sorted({one.rule for one in shown})
    index = {rule: number for number, rule in enumerate(rules)}
    driver = {
        "name": "gpuwhy",
        "version": version,
        "rules": [
            {"id": rule, "shortDescription": {"text": (titles or {}).get(rule, rule)}}
            for rule in rules
        ],
    }
    run = {
        "tool": {"driver": driver},
        "results": [_result(one, index[one.rule]) for one in shown],
        "columnKind": "unicodeCodePoints",
    }
    return as_json({"$schema": SARIF, "version": "2.1.0", "runs": [run]})


def _result(note: Note, rule: int) -> dict[str, Any]:
    place = {
        "artifactLocation": {"uri": _address(note.path)},
        "region": {"startLine": max(note.line, 1)},
    }
    return {
        "ruleId": note.rule,
        "ruleIndex": rule,
        "level": note.level,
        "message": {"text": note.text},
        **({"locations": [{"physicalLocation": place}]} if note.path else {}),
        "partialFingerprints": {"gpuwhy/1": _fingerprint(note)},
    }


def _address(path: str) -> str:
    """A path as a relative reference: signs with a meaning in an address are escaped."""
    return "".join(
        sign
        if sign.isascii() and (sign.isalnum() or sign in _IN_ADDRESS)
        else "".join(f"%{byte:02X}" for byte in sign.encode("utf-8", "replace"))
        for sign in path
    )


# JUnit


def junit(given: Sequence[Note], name: str = "gpuwhy", seconds: float = 0.0) -> str:
    """One test case per note: an error fails, a warning or an open cause is skipped."""
    cases = [_case(one) for one in given]
    suite = Element("testsuite", name=name, time=f"{seconds:.3f}", tests=str(len(cases)))
    for tag, attribute in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        suite.set(attribute, str(sum(case.find(tag) is not None for case in cases)))
    suite.extend(cases)
    top = Element("testsuites", {k: v for k, v in suite.attrib.items() if k != "skipped"})
    top.append(suite)
    indent(top, " ")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(top, encoding="unicode") + "\n"


def _case(note: Note) -> Element:
    where = f"{note.path}:{note.line}" if note.path else ""
    name = f"{note.rule} {where}".strip()
    group = f"gpuwhy.{note.rule.split('.')[0]}"
    case = Element("testcase", classname=_xml(group), name=_xml(name), time="0")
    body = _xml("\n".join(lines_of(note.text)))
    if note.level == "error":
        attributes = {"message": _xml(_first_line(note)), "type": _xml(note.rule)}
        SubElement(case, "failure", attributes).text = body
    elif note.level in ("warning", "skipped"):
        SubElement(case, "skipped", message=_xml(_first_line(note)))
    else:
        SubElement(case, "system-out").text = body
    return case


def _xml(text: str) -> str:
    """What XML 1.0 can hold."""
    return _NOT_XML.sub("", text)


# GitHub Actions


def github(given: Sequence[Note]) -> str:
    """One workflow command per note, at most ten of a kind; a notice where nothing is wrong."""
    shown = _counted(given)
    if not shown:
        text = given[0].text if given else "nothing wrong was found"
        return f"::notice title=gpuwhy::{_data(text)}\n"
    out = []
    for level in ("error", "warning", "note"):
        out += [_annotation(one) for one in shown if one.level == level][:ANNOTATIONS]
    return "".join(out)


def _annotation(note: Note) -> str:
    word = "notice" if note.level == "note" else note.level
    place = f"file={_property(note.path)},line={max(note.line, 1)}," if note.path else ""
    return f"::{word} {place}title={_property(f'gpuwhy {note.rule}')}::{_data(note.text)}\n"


def _data(text: str) -> str:
    joined = "\n".join(lines_of(text))
    return joined.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(plain(text)).replace(":", "%3A").replace(",", "%2C")


# GitLab


def gitlab(given: Sequence[Note]) -> str:
    """A code quality report: a list of issues."""
    severity = {"error": "major", "warning": "minor", "note": "info"}
    return as_json(
        [
            {
                "description": one.text,
                "check_name": f"gpuwhy/{one.rule}",
                "fingerprint": _fingerprint(one),
                "severity": severity[one.level],
                "location": {"path": one.path or "gpuwhy", "lines": {"begin": max(one.line, 1)}},
            }
            for one in _counted(given)
        ]
    )
