"""The report on a text for a person: the answer with its lines, the alternatives, the test that would decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpuwhy.model.cause import Fix
from gpuwhy.model.guide import Guide, Way
from gpuwhy.model.report import Mark, Report, Shown, certainty
from gpuwhy.render.terminal import Paper, put, render_cause, render_head, render_picture


def render(report: Report, paper: Paper, why: bool = False, again: str = "gpuwhy explain") -> str:
    """The whole report as text; `why` tells every cause in full, `again` is the command that an answer is added to."""
    if report.guide is not None:
        return put(_guided(report, report.guide, paper, why), paper)
    lines = [*render_head(report, paper, _mark(report)), ""]
    for place, cause in enumerate(report.causes):
        if why or place == 0:
            lines += [*render_cause(cause, report, paper, why, "--why"), ""]
        else:
            lines += _other(cause, paper)
    lines += _noticed(report, paper)
    lines += _from(report, paper)
    lines += _question(report, paper, again)
    if why:
        lines += ["", *_lines(report, paper)]
    if report.layers:
        lines += ["", *render_picture(report, paper)]
    once = [line for line, before in zip(lines, ["", *lines], strict=False) if line or before]
    return put(once, paper)


def _guided(report: Report, guide: Guide, paper: Paper, why: bool) -> Iterator[str]:
    """Plain words answered as a question: what is so here, the likely causes with their tests, how to go on."""
    yield from render_head(report, paper, "unknown")
    if guide.here:
        yield from paper.wrap(guide.here, "  here: ", "        ")
    yield ""
    if guide.note:
        yield from paper.wrap(f"{guide.note}{':' if guide.ways else '.'}", "", "")
        yield ""
    elif len(guide.ways) > 1:
        yield "The likely causes, the most common first, and how to tell them apart:"
    fixes = {cause.id: cause.fixes for cause in report.causes}
    for number, way in enumerate(guide.ways, 1):
        yield from _way(number, way, report, fixes[way.cause][: 3 if why else 1], paper)
    if guide.ways:
        yield ""
    yield from _next(guide, paper)
    yield from _noticed(report, paper)


def _way(number: int, way: Way, report: Report, fixes: Sequence[Fix], paper: Paper) -> Iterator[str]:
    cause = next(one for one in report.causes if one.id == way.cause)
    yield from paper.wrap(f"{cause.title} ({cause.id})", f"{number}  ", "   ")
    yield from paper.wrap(way.tell, "   here  " if way.seen else "   if    ", "         ")
    yield from ("           " + paper.tint("1", line) for line in way.command.splitlines())
    for fix in fixes:
        yield from paper.wrap(fix.text, "   then  ", "         ")
        yield from ("           " + paper.tint("1", line) for line in fix.command.splitlines())


def _next(guide: Guide, paper: Paper) -> Iterator[str]:
    lead = "next   "
    for step in guide.next:
        yield lead + paper.tint("1", step.command)
        yield from paper.wrap(step.gives, "         ", "         ")
        lead = "       "


def _mark(report: Report) -> Mark | None:
    """A failure beside a sound GPU stack, and a guess, have marks of their own."""
    if report.status == "healthy" and report.causes:
        return "warn"
    guess = report.status == "broken" and report.causes and certainty(report.causes[0].confidence) == "possible"
    return "unknown" if guess else None


def _other(cause: Shown, paper: Paper) -> Iterator[str]:
    because = f": {cause.because[0].text}" if cause.because else ""
    yield from paper.wrap(f"{cause.id} · {certainty(cause.confidence)}{because}", "or     ", "       ")


def _from(report: Report, paper: Paper) -> Iterator[str]:
    """Where the last complaint comes from, unless the answer rests on it and says so itself."""
    if report.origin is None:
        return
    said = {e.text for cause in report.causes[:1] for finding in cause.because for e in finding.evidence}
    if report.origin.text not in said:
        yield from paper.wrap(f"the last complaint is {report.origin.text}", "from   ", "       ")


def _noticed(report: Report, paper: Paper) -> Iterator[str]:
    """What is true, and not the reason."""
    for one in report.noticed:
        yield from paper.wrap(f"{one.id}: {one.text}" if one.id else one.text, "also   ", "       ")


def _question(report: Report, paper: Paper, again: str) -> Iterator[str]:
    question = report.question
    if question is None:
        return
    yield ""
    yield from paper.wrap(question.text, "test   ", "       ")
    yield from ("       " + paper.tint("1", line) for line in question.command.splitlines())
    for outcome, cause in question.answers.items():
        yield f"       {cause}: {again} --answer {question.id}={outcome}"


def _lines(report: Report, paper: Paper) -> Iterator[str]:
    yield "found in the text"
    for one in report.symptoms:
        note = (
            " (follows from an earlier line)" if one.follows >= 0 else f" ({one.role})" if one.role != "error" else ""
        )
        yield from paper.wrap(f"{one.line}: {one.signature}{note}", "  ", "    ")
