"""Lint for other programs: SARIF 2.1.0 (GitHub code scanning, editors) and GitLab's code quality report."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

from gpuwhy.border.shared import as_json as shared_json
from gpuwhy.model.lint import Lint, Mistake, Problem, Rule

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_UNREADABLE = "unreadable"


def as_sarif(lint: Lint, rules: Iterable[Rule], version: str) -> str:
    """One run; what could not be read is a notification of that run."""
    known = sorted(rules, key=lambda rule: rule.id)
    index = {rule.id: number for number, rule in enumerate(known)}
    driver = {"name": "gpuwhy", "version": version, "rules": [_rule(rule) for rule in known]}
    invocation = {
        "executionSuccessful": not lint.problems,
        "toolExecutionNotifications": [_notification(problem) for problem in lint.problems],
    }
    run = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "results": [_result(mistake, index[mistake.rule]) for mistake in lint.mistakes],
        "columnKind": "unicodeCodePoints",
    }
    return shared_json({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, paths=True)


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "help": {"text": f"gpuwhy lint --explain {rule.id}"},
        "defaultConfiguration": {"level": rule.severity},
    }


def _result(mistake: Mistake, number: int) -> dict[str, Any]:
    detail = f" ({mistake.know.detail})" if mistake.know.detail else ""
    return {
        "ruleId": mistake.rule,
        "ruleIndex": number,
        "level": mistake.severity,
        "message": {"text": f"{mistake.text}\nfix: {mistake.fix}\nknown from: {mistake.know.where}{detail}"},
        "locations": [_location(mistake.place.path, mistake.place.line)],
        "partialFingerprints": {"gpuwhy/1": _fingerprint(mistake)},
    }


def _notification(problem: Problem) -> dict[str, Any]:
    where = _location(problem.place.path, problem.place.line)
    return {"level": "error", "message": {"text": problem.text}, "locations": [where]}


def _location(path: str, line: int) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(path)}, "region": {"startLine": max(line, 1)}}}


def _uri(path: str) -> str:
    """A path as a relative reference; what has a meaning in an address is escaped."""
    kept = "/.-_~+@=,:"
    return "".join(c if c.isascii() and (c.isalnum() or c in kept) else _escaped(c) for c in path)


def _escaped(sign: str) -> str:
    return "".join(f"%{byte:02X}" for byte in sign.encode("utf-8", "replace"))


def _fingerprint(mistake: Mistake) -> str:
    """The same for the same mistake on another line."""
    return hashlib.sha256(
        f"{mistake.rule}\0{mistake.place.path}\0{mistake.text}".encode("utf-8", "replace")
    ).hexdigest()[:32]


def as_gitlab(lint: Lint) -> str:
    """GitLab's code quality report: a list of issues."""
    issues = [
        _issue(
            m.rule,
            m.place.path,
            m.place.line,
            f"{m.text}; {m.fix}",
            "major" if m.severity == "error" else "minor",
            _fingerprint(m),
        )
        for m in lint.mistakes
    ]
    for problem in lint.problems:
        told = hashlib.sha256(f"{problem.place.path}\0{problem.text}".encode("utf-8", "replace")).hexdigest()[:32]
        issues.append(_issue(_UNREADABLE, problem.place.path, problem.place.line, problem.text, "critical", told))
    return shared_json(issues, paths=True)


def _issue(rule: str, path: str, line: int, text: str, severity: str, fingerprint: str) -> dict[str, Any]:
    return {
        "description": text,
        "check_name": f"gpuwhy/{rule}",
        "fingerprint": fingerprint,
        "severity": severity,
        "location": {"path": path, "lines": {"begin": max(line, 1)}},
    }
