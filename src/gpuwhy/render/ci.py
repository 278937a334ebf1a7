"""A report or a proof for machines that run tests: JUnit's XML, and annotations of GitHub Actions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from gpuwhy.border.plain import one_line, plain
from gpuwhy.border.shared import shareable
from gpuwhy.model.report import certainty
from gpuwhy.model.threshold import FOUND

Value = dict[str, Any]
_NOT_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_junit(values: Value) -> str:
    """JUnit's XML: each cause is a test case, passed where it is ruled out and skipped where nobody can tell."""
    values = shareable(values)
    cases = list(_proof_cases(values) if values["schema"].startswith("gpuwhy.proof/") else _report_cases(values))
    suite = Element("testsuite", name=_name(values), time=f"{values.get('took', values.get('seconds', 0.0)):.3f}")
    for what in ("failure", "error", "skipped"):
        count = sum(case.find(what) is not None for case in cases)
        suite.set({"failure": "failures", "error": "errors", "skipped": "skipped"}[what], str(count))
    suite.set("tests", str(len(cases)))
    suite.extend(cases)
    top = Element("testsuites", {k: v for k, v in suite.attrib.items() if k != "skipped"})
    top.append(suite)
    indent(top, " ")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(top, encoding="unicode") + "\n"


def _name(values: Value) -> str:
    return "gpuwhy prove" if values["schema"].startswith("gpuwhy.proof/") else "gpuwhy"


def _report_cases(values: Value) -> Iterator[Element]:
    """One case for each cause: shown, open, ruled out, or our own failure; never one twice."""
    seen: set[str] = set()
    for cause in values["causes"]:
        name = f"{cause['id']} ({cause['subject']})" if cause["subject"] else cause["id"]
        found = cause["confidence"] >= FOUND and not cause.get("with_gpu")
        seen.add(cause["id"])
        yield _case(cause["id"], name, "failure" if found else "skipped", _said(cause), _why(cause))
    for kind, rows, text in (
        ("error", values["crashed"], "error"),
        ("skipped", values["undetermined"], "missing"),
        ("", values["ruled_out"], "because"),
    ):
        for row in rows:
            if row["id"] not in seen:
                seen.add(row["id"])
                yield _case(row["id"], row["id"], kind, row[text], "" if kind else row[text])
    if not seen:
        yield _case(
            "gpuwhy.report", "report", "" if values["status"] != "broken" else "failure", values["headline"], ""
        )


def _proof_cases(values: Value) -> Iterator[Element]:
    """The program itself: it fails or not; what was tried is its output."""
    lines = [f"{one['outcome']} ({one['n']}): {_change(one['change'])}" for one in values["experiments"]]
    causes = values["causes"]
    kind = "" if values["status"] == "not_failing" else "failure"
    said = _said(causes[0]) if causes else f"{values['status']}: the program fails, and no cause was found"
    smallest = _change(values.get("change") or "")
    body = [f"the smallest change that makes it run: {smallest}"] if smallest else []
    body += [line for cause in causes[:3] for line in _why(cause).splitlines()]
    cause = causes[0]["id"] if causes else "program.unknown"
    case = _case(cause, "the program runs", kind, said, "\n".join(body) if kind else "")
    SubElement(case, "system-out").text = _clean("\n".join(lines))
    yield case


def _change(change: Any) -> str:
    return str(change.get("text", "")) if isinstance(change, dict) else str(change)


def _case(cause: str, name: str, kind: str, message: str, body: str) -> Element:
    case = Element("testcase", classname=_clean(f"gpuwhy.{cause.split('.')[0]}"), name=_clean(name), time="0")
    if kind:
        told = SubElement(case, kind, message=_clean(one_line(message)))
        if kind != "skipped":
            told.set("type", _clean(cause))
            told.text = _clean(body)
    elif body:
        SubElement(case, "system-out").text = _clean(body)
    return case


def _clean(text: str) -> str:
    """What XML 1.0 can hold."""
    return _NOT_XML.sub("", plain(text))


def _said(cause: Value) -> str:
    about = f" ({cause['subject']})" if cause["subject"] else ""
    return f"{cause['title']}{about} · {certainty(cause['confidence'])}"


def _why(cause: Value) -> str:
    lines = []
    for because in cause["because"]:
        lines.append(f"because {because['text']}")
        for kind in ("saw", "told", "know"):
            lines += [f"  {kind} {one['text']} [{one['source']}]" for one in because.get(kind, [])]
    for fix in cause["fixes"]:
        lines += [f"fix: {fix['text']}", *(f"  {line}" for line in fix["command"].splitlines())]
    return "\n".join(lines)


def as_annotations(values: Value) -> str:
    """One workflow command for each cause: an error where it is found, a warning where it is possible."""
    values = shareable(values)
    if not values["causes"]:
        text = values.get("headline") or values["status"]
        return f"::notice title=gpuwhy::{_data(text)}\n"
    return "".join(
        f"::{'error' if cause['confidence'] >= FOUND and not cause.get('with_gpu') else 'warning'} "
        f"title={_property('gpuwhy ' + cause['id'])}::{_data(_said(cause) + chr(10) + _why(cause))}\n"
        for cause in values["causes"][:10]
    )


def _data(text: str) -> str:
    joined = "\n".join(one_line(line) for line in text.splitlines())
    return joined.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
