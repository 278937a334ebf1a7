"""The report as JSON: the contract `gpuwhy.report/1` (docs/report.schema.json). Fields may be added, never renamed."""

from __future__ import annotations

from typing import Any

from gpuwhy.border.shared import as_json
from gpuwhy.model.cause import Evidence, Finding, Fix
from gpuwhy.model.ending import Ending
from gpuwhy.model.guide import Guide
from gpuwhy.model.origin import Origin
from gpuwhy.model.report import SCHEMA, Layer, Report, Shown
from gpuwhy.model.symptom import Symptom


def report_dict(report: Report) -> dict[str, Any]:
    """The report in plain values, in the contract's shape."""
    return {
        "schema": SCHEMA,
        "status": report.status,
        "headline": report.headline,
        "causes": [cause_dict(c) for c in report.causes],
        "ruled_out": [{"id": r.id, "because": r.because} for r in report.ruled_out],
        "undetermined": [{"id": o.id, "missing": o.missing, "how": o.how} for o in report.undetermined],
        "crashed": [{"id": o.id, "error": o.missing} for o in report.crashed],
        "layers": [_layer(row) for row in report.layers],
        "unseen": list(report.unseen),
        "facts": report.facts,
        "gpuwhy": report.gpuwhy,
        **({"knowledge": report.knows_until} if report.knows_until else {}),
        "took": report.took,
        **({"as_if": report.as_if} if report.as_if else {}),
        **({"probe": [_layer(row) for row in report.stairs]} if report.stairs else {}),
        **_text(report),
    }


def _layer(row: Layer) -> dict[str, str]:
    return {"name": row.name, "text": row.text, "mark": row.mark, "note": row.note}


def _text(report: Report) -> dict[str, Any]:
    """What only a report on a text has."""
    out: dict[str, Any] = {}
    if report.symptoms:
        out["symptoms"] = [_symptom(s) for s in report.symptoms]
    if report.noticed:
        out["noticed"] = [{"id": one.id or None, "text": one.text} for one in report.noticed]
    if report.ending.kind != "none":
        out["ending"] = _ending(report.ending)
    if report.question is not None:
        asked = report.question
        out["question"] = {"id": asked.id, "text": asked.text, "command": asked.command, "answers": asked.answers}
    if report.guide is not None:
        out["guide"] = _guide(report.guide)
    if report.origin is not None:
        out["origin"] = _origin(report.origin)
    return out


def _guide(guide: Guide) -> dict[str, Any]:
    return {
        "topic": guide.topic,
        "about": guide.about,
        "ways": [{"id": way.cause, "tell": way.tell, "command": way.command, "seen": way.seen} for way in guide.ways],
        "note": guide.note,
        "next": [{"command": step.command, "gives": step.gives} for step in guide.next],
        "here": guide.here,
    }


def _origin(one: Origin) -> dict[str, Any]:
    return {
        "text": one.text,
        "package": one.package,
        "module": one.module,
        "function": one.function,
        "type": one.kind,
        "first": one.first,
        "last": one.last,
        "says": one.label.says if one.label else None,
    }


def _ending(ending: Ending) -> dict[str, Any]:
    frame = ending.frame
    return {
        "kind": ending.kind,
        "type": ending.type,
        "message": ending.message,
        "line": ending.line or None,
        "exit_code": ending.exit_code,
        "own": ending.own,
        "frame": {"file": frame.file, "line": frame.line, "function": frame.function, "owner": frame.owner}
        if frame
        else None,
        "wrappers": list(ending.wrappers),
        "chain": [{"type": one.type, "message": one.message} for one in ending.chain],
    }


def _symptom(one: Symptom) -> dict[str, Any]:
    return {
        "id": one.signature,
        "role": one.role,
        "line": one.line,
        "text": one.text,
        "fields": one.fields,
        "follows": one.follows if one.follows >= 0 else None,
        "times": one.times,
    }


def render(report: Report) -> str:
    """Indented JSON, ending in a newline."""
    return as_json(report_dict(report))


def cause_dict(cause: Shown) -> dict[str, Any]:
    """One cause, as every contract has it."""
    return {
        "id": cause.id,
        "title": cause.title,
        "confidence": cause.confidence,
        "subject": cause.subject,
        "because": [_because(f) for f in cause.because],
        "explains": list(cause.explains),
        "fixes": [_fix(f) for f in cause.fixes],
        **({"with_gpu": True} if cause.with_gpu else {}),
    }


def _because(finding: Finding) -> dict[str, Any]:
    out: dict[str, Any] = {"text": finding.text}
    for kind in ("saw", "know", "told"):
        rows = [_evidence(e) for e in finding.evidence if e.kind == kind]
        if rows:
            out[kind] = rows
    return out


def _evidence(evidence: Evidence) -> dict[str, str]:
    return {"text": evidence.text, "source": str(evidence.source)}


def _fix(fix: Fix) -> dict[str, Any]:
    return {
        "text": fix.text,
        "command": fix.command,
        "safe": fix.safe,
        "root": fix.root,
        "reboot": fix.reboot,
        "check": fix.check,
    }


def utf8(value: Any) -> Any:
    """Lone surrogates (non-UTF-8 file names) cannot be JSON: write them as backslash escapes."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {utf8(k): utf8(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [utf8(v) for v in value]
    return value
