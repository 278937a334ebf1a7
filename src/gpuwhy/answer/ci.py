"""What build servers read: SARIF, JUnit, GitHub's annotations, GitLab's code quality report."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Literal
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
    causes = []
    for one in answer.causes:
        found = one.confidence >= FOUND and not one.with_gpu
        about = f" ({one.subject})" if one.subject else ""
        line = one.because[0].line if one.because else 0
        text = "\n".join((f"{one.title}{about} · {certainty(one.confidence)}", *_why(one)))
        level: Level = "error" if found else "warning"
        causes.append(Note(answer.about if line else "", line, one.id, text, level))
    if not causes:
        whole: Level = "skipped" if answer.exit_code else "passed"
        causes.append(Note("", 0, f"gpuwhy.{answer.verdict}", answer.headline, whole))
    named = {one.rule for one in causes}
    others: dict[str, Note] = {}  # of a rule that has several, the first
    for note in (
        *(Note("", 0, one.id, one.missing, "skipped") for one in answer.undetermined),
        *(Note("", 0, one.id, one.because, "passed") for one in answer.ruled_out),
    ):
        others.setdefault(note.rule, note)
    return (*causes, *(note for rule, note in others.items() if rule not in named))


def _why(cause: CauseFound) -> Iterator[str]:
    """Reasons with their evidence, and remedies."""
    for reason in cause.because:
        yield f"because {reason.text}"
        for kind, proofs in (("saw", reason.saw), ("told", reason.told), ("know", reason.know)):
            yield from (f"  {kind} {one.text} [{one.source}]" for one in proofs)
    for fix in cause.fixes:
        yield f"fix: {fix.text}"
        yield from (f"  {line}" for line in lines_of(fix.command) if line)


def _counted(given: Iterable[Note]) -> list[Note]:
    """Those that say that something is wrong."""
    return [one for one in given if one.level in ("error", "warning", "note")]


def _fingerprint(note: Note) -> str:
    """The same for the same note on another line."""
    text = f"{note.rule}\0{note.path}\0{note.text}"
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


def sarif(given: Sequence[Note], version: str, titles: Mapping[str, str] | None = None) -> str:
    """SARIF 2.1.0, for GitHub code scanning and editors: one run, with the rules that it names."""
    shown = _counted(given)
    rules = sorted({one.rule for one in shown})
    about = [
        {"id": rule, "shortDescription": {"text": (titles or {}).get(rule, rule)}} for rule in rules
    ]
    results = []
    for note in shown:
        place = {
            "artifactLocation": {"uri": _address(note.path)},
            "region": {"startLine": max(note.line, 1)},
        }
        result = {
            "ruleId": note.rule,
            "ruleIndex": rules.index(note.rule),
            "level": note.level,
            "message": {"text": note.text},
            **({"locations": [{"physicalLocation": place}]} if note.path else {}),
            "partialFingerprints": {"gpuwhy/1": _fingerprint(note)},
        }
        results.append(result)
    run = {
        "tool": {"driver": {"name": "gpuwhy", "version": version, "rules": about}},
        "results": results,
        "columnKind": "unicodeCodePoints",
    }
    return as_json({"$schema": SARIF, "version": "2.1.0", "runs": [run]})


def _address(path: str) -> str:
    """A path as a relative reference: signs with a meaning in an address are escaped."""
    return "".join(
        sign
        if sign.isascii() and (sign.isalnum() or sign in _IN_ADDRESS)
        else "".join(f"%{byte:02X}" for byte in sign.encode("utf-8", "replace"))
        for sign in path
    )


def junit(given: Sequence[Note], name: str = "gpuwhy", seconds: float = 0.0) -> str:
    """JUnit: one test case per note; an error fails, a warning or an open cause is skipped."""
    suite = Element("testsuite", name=name, time=f"{seconds:.3f}", tests=str(len(given)))
    cases = []
    for note in given:
        where = f" {note.path}:{note.line}" if note.path else ""
        group = _xml(f"gpuwhy.{note.rule.split('.')[0]}")
        case = Element("testcase", classname=group, name=_xml(note.rule + where), time="0")
        body, first = _xml("\n".join(lines_of(note.text))), _xml(plain(note.text.split("\n")[0]))
        if note.level == "error":
            SubElement(case, "failure", message=first, type=_xml(note.rule)).text = body
        elif note.level in ("warning", "skipped"):
            SubElement(case, "skipped", message=first)
        else:
            SubElement(case, "system-out").text = body
        cases.append(case)
    for tag, attribute in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        suite.set(attribute, str(sum(case.find(tag) is not None for case in cases)))
    suite.extend(cases)
    top = Element("testsuites", {k: v for k, v in suite.attrib.items() if k != "skipped"})
    top.append(suite)
    indent(top, " ")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(top, encoding="unicode") + "\n"


def _xml(text: str) -> str:
    """What XML 1.0 can hold."""
    return _NOT_XML.sub("", text)


def github(given: Sequence[Note]) -> str:
    """GitHub's workflow commands, at most ten of a kind; a notice where nothing is wrong."""
    shown = _counted(given)
    if not shown:
        text = given[0].text if given else "nothing wrong was found"
        return f"::notice title=gpuwhy::{_data(text)}\n"
    out = []
    for level, word in (("error", "error"), ("warning", "warning"), ("note", "notice")):
        for one in [note for note in shown if note.level == level][:ANNOTATIONS]:
            place = f"file={_property(one.path)},line={max(one.line, 1)}," if one.path else ""
            title = _property(f"gpuwhy {one.rule}")
            out.append(f"::{word} {place}title={title}::{_data(one.text)}\n")
    return "".join(out)


def _data(text: str) -> str:
    joined = "\n".join(lines_of(text))
    return joined.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(plain(text)).replace(":", "%3A").replace(",", "%2C")


def gitlab(given: Sequence[Note]) -> str:
    """GitLab's code quality report: a list of issues."""
    severity = {"error": "major", "warning": "minor", "note": "info"}
    rows = [
        {
            "description": one.text,
            "check_name": f"gpuwhy/{one.rule}",
            "fingerprint": _fingerprint(one),
            "severity": severity[one.level],
            "location": {"path": one.path or "gpuwhy", "lines": {"begin": max(one.line, 1)}},
        }
        for one in _counted(given)
    ]
    return as_json(rows)
