"""The report as a note on an exception: a dozen lines at most, answer, evidence, fix and check."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpuwhy.model.report import Report, Shown, certainty
from gpuwhy.render.terminal import Paper, plain

WIDTH = 80
_NAME = "gpuwhy: "
"""What stands before the note."""


def render(report: Report, own: Sequence[str] = ()) -> str:
    """The headline and the first cause; `own` is what the failing process says of itself."""
    paper = Paper(WIDTH)
    first, *more = paper.wrap(report.headline, _NAME, "  ")
    lines = [first.removeprefix(_NAME), *more, *([] if report.causes else ["  check   gpuwhy check"])]
    for cause in report.causes[:1]:
        lines += _cause(cause, report.headline, paper)
    for cause in report.causes[1:2]:
        if certainty(report.causes[0].confidence) != "certain":
            lines += paper.wrap(f"{cause.id} · {certainty(cause.confidence)}", "  or      ", "          ")
    for text in own:
        lines += paper.wrap(text, "  here    ", "          ")
    return plain("\n".join(lines), paper)


def _cause(cause: Shown, headline: str, paper: Paper) -> Iterator[str]:
    about = f" · {cause.subject}" if cause.subject else ""
    yield from paper.wrap(f"{cause.id} · {certainty(cause.confidence)}{about}", "  cause   ", "          ")
    for finding in cause.because[:1]:
        said = cause.title if finding.text.casefold() in headline.casefold() else finding.text
        yield from paper.wrap(said, "  because ", "          ")
        for evidence in finding.evidence[:1]:
            yield from paper.wrap(f"{evidence.text}  [{evidence.source}]", f"  {evidence.kind:<7} ", "          ")
    for fix in cause.fixes[:1]:
        needs = [word for word, on in (("needs root", fix.root), ("needs a reboot", fix.reboot)) if on]
        yield from paper.wrap(fix.text + (f" ({', '.join(needs)})" if needs else ""), "  fix     ", "          ")
        yield from (f"          {line}" for line in fix.command.splitlines())
        yield from paper.wrap(fix.check, "  check   ", "          ")
