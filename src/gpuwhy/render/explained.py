"""The report on a text for a person: the answer with its lines, the alternatives, the test that would decide."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.model.report import Report, Shown
from gpuwhy.render.terminal import Paper, certainty, plain, render_cause, render_head, render_picture


def render(report: Report, paper: Paper, why: bool = False) -> str:
    """The whole report as text; `why` tells every cause in full."""
    lines = [*render_head(report, paper), ""]
    for place, cause in enumerate(report.causes):
        if why or place == 0:
            lines += [*render_cause(cause, report, paper, why, "--why"), ""]
        else:
            lines += _other(cause, paper)
    lines += _question(report, paper)
    if why:
        lines += ["", *_lines(report, paper)]
    if report.layers:
        lines += ["", *render_picture(report, paper)]
    return plain("\n".join(lines).rstrip() + "\n", paper)


def _other(cause: Shown, paper: Paper) -> Iterator[str]:
    because = f": {cause.because[0].text}" if cause.because else ""
    yield from paper.wrap(f"{cause.id} · {certainty(cause.confidence)}{because}", "or     ", "       ")


def _question(report: Report, paper: Paper) -> Iterator[str]:
    question = report.question
    if question is None:
        return
    yield ""
    yield from paper.wrap(question.text, "test   ", "       ")
    yield "       " + paper.tint("1", question.command)
    for outcome, cause in question.answers.items():
        yield from paper.wrap(f"{cause}: gpuwhy explain --answer {question.id}={outcome}", "       ", "         ")


def _lines(report: Report, paper: Paper) -> Iterator[str]:
    yield "found in the text"
    for one in report.symptoms:
        note = (
            " (follows from an earlier line)" if one.follows >= 0 else f" ({one.role})" if one.role != "error" else ""
        )
        yield from paper.wrap(f"{one.line}: {one.signature}{note}", "  ", "    ")
