"""Lint for a person, for programs (`gpuwhy.lint/1`) and for the annotations of GitHub Actions."""

from __future__ import annotations

from typing import Any

from gpuwhy.border.plain import one_line
from gpuwhy.border.secrets import Redactor
from gpuwhy.border.shared import as_json as shared_json
from gpuwhy.model.lint import Checked, Lint, Mistake, Problem
from gpuwhy.render.terminal import Paper, put

SCHEMA = "gpuwhy.lint/1"
_MORE = " " * 8
_COLOURS = {"error": "31;1", "warning": "33;1", "unreadable": "35;1", "note": "2"}


def as_text(lint: Lint, paper: Paper) -> str:
    """file:line: severity rule: sentence; then what is known and the fix; a count at the end."""
    lines: list[str] = []
    for file in lint.files:
        for problem in file.problems:
            lines += _plain(problem, "unreadable", paper)
        for note in file.notes:
            lines += _plain(note, "note", paper)
        for mistake in file.mistakes:
            lines += _mistake(mistake, paper)
    return put([*lines, _summary(lint)], paper)


def _mistake(mistake: Mistake, paper: Paper) -> list[str]:
    detail = f" ({mistake.know.detail})" if mistake.know.detail else ""
    where = _where(mistake.place.path, mistake.place.line)
    taken = f"taken in by {_where(mistake.through.path, mistake.through.line)}" if mistake.through else ""
    return [
        *_said(where, mistake.severity, " ", f"{mistake.rule}: {mistake.text}", paper),
        *(paper.wrap(taken, "  saw   ", _MORE) if taken else []),
        *paper.wrap(f"{mistake.know.where}{detail}", "  know  ", _MORE),
        *paper.wrap(mistake.fix, "  fix   ", _MORE),
    ]


def _plain(problem: Problem, kind: str, paper: Paper) -> list[str]:
    return _said(_where(problem.place.path, problem.place.line), kind, ": ", problem.text, paper)


def _said(where: str, kind: str, joint: str, text: str, paper: Paper) -> list[str]:
    """One sentence with its place, folded; the place and the rule stand on the first line, as editors expect."""
    before = f"{where}: {kind}{joint}"
    first, *rest = paper.wrap(text, before, "    ")
    return [f"{where}: {paper.tint(_COLOURS[kind], kind)}{joint}{first[len(before) :]}", *rest]


def _where(path: str, line: int) -> str:
    return f"{path}:{line}" if line else path


def _summary(lint: Lint) -> str:
    counts = _counts(lint)
    checked = sum(1 for file in lint.files if file.kind and not file.problems)
    parts = [_many(counts[kind], kind) for kind in ("error", "warning") if counts[kind]]
    if counts["unreadable"]:
        parts.append(f"{_many(counts['unreadable'], 'file')} that cannot be read")
    ignored = sum(file.ignored for file in lint.files)
    after = f" ({ignored} ignored by comments)" if ignored else ""
    return (", ".join(parts) or "nothing wrong") + f" in {_many(len(lint.files), 'file')}, {checked} checked{after}"


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _counts(lint: Lint) -> dict[str, int]:
    return {
        "error": sum(m.severity == "error" for m in lint.mistakes),
        "warning": sum(m.severity == "warning" for m in lint.mistakes),
        "unreadable": sum(bool(file.problems) for file in lint.files),
    }


def as_json(lint: Lint, version: str) -> str:
    """Indented JSON, ending in a newline."""
    return shared_json(lint_dict(lint, version))


def lint_dict(lint: Lint, version: str) -> dict[str, Any]:
    """The findings in plain values, in the contract's shape."""
    counts = _counts(lint)
    status = "unreadable" if counts["unreadable"] else "found" if counts["error"] or counts["warning"] else "clean"
    return {
        "schema": SCHEMA,
        "gpuwhy": version,
        "status": status,
        "counts": counts,
        "files": [_file(file) for file in lint.files],
    }


def _file(file: Checked) -> dict[str, Any]:
    return {
        "path": file.path,
        "kind": file.kind,
        "mistakes": [_dict(mistake) for mistake in file.mistakes],
        "problems": [{"line": p.place.line, "text": p.text} for p in file.problems],
        "notes": [{"line": n.place.line, "text": n.text} for n in file.notes],
        "ignored": file.ignored,
    }


def _dict(mistake: Mistake) -> dict[str, Any]:
    know = {"where": mistake.know.where, "detail": mistake.know.detail}
    return {
        "rule": mistake.rule,
        "severity": mistake.severity,
        "line": mistake.place.line,
        "text": mistake.text,
        "know": know,
        "fix": mistake.fix,
        "edit": {"old": mistake.edit.old, "new": mistake.edit.new} if mistake.edit else None,
        "through": {"path": mistake.through.path, "line": mistake.through.line} if mistake.through else None,
    }


def as_annotations(lint: Lint) -> str:
    """One workflow command for each mistake and each file that cannot be read."""
    lines = []
    for file in lint.files:
        for problem in file.problems:
            lines.append(_annotation("error", "unreadable", problem.place.path, problem.place.line, problem.text))
        for mistake in file.mistakes:
            text = f"{mistake.text}\nfix: {mistake.fix}"
            lines.append(_annotation(mistake.severity, mistake.rule, mistake.place.path, mistake.place.line, text))
    hide = Redactor().hide  # a workflow's log is public
    return "".join(hide(line) + "\n" for line in lines)


def _annotation(severity: str, rule: str, path: str, line: int, text: str) -> str:
    where = f"file={_property(path)},line={max(line, 1)},title={_property('gpuwhy ' + rule)}"
    return f"::{severity} {where}::{_data(text)}"


def _data(text: str) -> str:
    return (
        "\n".join(one_line(line) for line in text.splitlines())
        .replace("%", "%25")
        .replace("\r", "%0D")
        .replace("\n", "%0A")
    )


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
