"""The report as a note on an exception: a dozen lines at most, answer, evidence, fix and check."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpuwhy.answer.answer import CERTAIN, Answer, CauseFound, certainty
from gpuwhy.render.terminal import Paper, plain

WIDTH = 80
_NAME = "gpuwhy: "
"""What stands before the note."""


def render(answer: Answer, own: Sequence[str] = ()) -> str:
    """The headline and the first cause; `own` is what the failing process says of itself."""
    paper = Paper(WIDTH)
    first, *more = paper.wrap(answer.headline, _NAME, "  ")
    lines = [first.removeprefix(_NAME), *more, *([] if answer.causes else ["  check   gpuwhy check"])]
    for cause in answer.causes[:1]:
        lines += _cause(cause, answer.headline, paper)
    for cause in answer.causes[1:2]:
        if answer.causes[0].confidence < CERTAIN:
            lines += paper.wrap(f"{cause.id} · {certainty(cause.confidence)}", "  or      ", "          ")
    for text in own:
        lines += paper.wrap(text, "  here    ", "          ")
    return plain("\n".join(lines), paper)


def _cause(cause: CauseFound, headline: str, paper: Paper) -> Iterator[str]:
    about = f" · {cause.subject}" if cause.subject else ""
    yield from paper.wrap(f"{cause.id} · {certainty(cause.confidence)}{about}", "  cause   ", "          ")
    for reason in cause.because[:1]:
        said = cause.title if reason.text.casefold() in headline.casefold() else reason.text
        yield from paper.wrap(said, "  because ", "          ")
        for kind in ("told", "saw", "know"):
            for proof in getattr(reason, kind)[:1]:
                yield from paper.wrap(f"{proof.text}  [{proof.source}]", f"  {kind:<7} ", "          ")
    for fix in cause.fixes[:1]:
        needs = [word for word, on in (("needs root", fix.root), ("needs a reboot", fix.reboot)) if on]
        yield from paper.wrap(fix.text + (f" ({', '.join(needs)})" if needs else ""), "  fix     ", "          ")
        yield from (f"          {line}" for line in fix.command.splitlines())
        yield from paper.wrap(fix.worked_if or "gpuwhy check", "  check   ", "          ")
