"""What is cut from an Answer so that it fits a screen: values, in a fixed order, never lines."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from gpuwhy.answer.answer import Answer, CauseFound, Fix, Layer, Untried
from gpuwhy.answer.text import clip, counted, listed

LINES, QUESTION, CHECK = 12, 16, 20
"""Lines that are not empty: of an answer, of a question with a table, of `check` with layers."""
QUOTED = 56
"""Characters of a quotation: one line, beside its label and its number."""
LONGEST = 240
"""Characters of a sentence that names what the user has: a file name may be as long as it likes."""
ROWS = 200
"""The most rows of a list with -v."""
OF_TEXT = ("explain", "run", "ask")
"""Commands that answer for a text: the layers of this machine are for -v."""

Cut = Callable[[Answer], Answer]


def shorten(answer: Answer, detail: int, lines: Callable[[Answer], int]) -> Answer:
    """The same answer with less in it: 0 in a few lines, 1 without the facts, 2 whole; `lines`
    counts what an answer takes.
    """
    if detail > 0:
        return _bounded(answer, detail)
    short = _decision(answer)
    most = QUESTION if answer.verdict == "undecided" else LINES
    if answer.layers and answer.command not in OF_TEXT:
        rows = len(answer.layers) + 4 + 2 * bool(answer.tried)
        most = min(CHECK, max(LINES, rows)) if answer.verdict == "healthy" else CHECK
    for cut in CUTS:
        if lines(short) <= most:
            break
        short = cut(short)
    return short


def _bounded(answer: Answer, detail: int) -> Answer:
    """Lists that may be as long as a log or a machine, bounded."""
    return replace(
        answer,
        facts=answer.facts if detail > 1 else {},
        symptoms=answer.symptoms[:ROWS],
        ruled_out=answer.ruled_out[:ROWS],
        undetermined=answer.undetermined[:ROWS],
        more="",
    )


def _decision(answer: Answer) -> Answer:
    """What decides and what to do; all else is for -v."""
    of_text = answer.command in OF_TEXT
    question = answer.question if answer.verdict == "undecided" else None
    if question:  # of an outcome what to do, rather than what it means, where it says both
        rows = tuple(replace(row, title="") if row.text else row for row in question.rows)
        question = replace(question, rows=rows)
    alone = answer.verdict == "found" and bool(answer.causes)
    first = tuple(_first(one) for one in answer.causes[: 1 if alone else 4])
    others = tuple(replace(one, because=(), fixes=()) for one in answer.causes[len(first) :])
    unread = f"{counted(len(answer.unseen), 'fact')} could not be read; -v says which"
    last = answer.last_line
    return replace(
        answer,
        causes=(*first, *others[:3]),
        ruled_out=(),
        undetermined=(),
        noticed=(),
        symptoms=(),
        ending=None,
        facts={},
        layers=() if of_text else answer.layers,
        probe=_probed(answer.probe),
        unseen=() if of_text or not answer.unseen else (unread,),
        not_tried=() if of_text and alone else answer.not_tried[:3],
        question=question,
        last_line=replace(last, text=clip(last.text, QUOTED)) if last else None,
        points=tuple(replace(one, source="") for one in answer.points),
    )


def _first(cause: CauseFound) -> CauseFound:
    """A cause with its first reason and its first remedy; of a line of the log, what fits."""
    because = []
    for one in cause.because[:1]:
        told = tuple(replace(line, text=clip(line.text, QUOTED)) for line in one.told[:1])
        because.append(replace(one, saw=one.saw[:1], know=(), told=told))
    return replace(cause, because=tuple(because), fixes=cause.fixes[:1], explains=())


def _probed(rows: tuple[Layer, ...]) -> tuple[Layer, ...]:
    """The stages that did not work, and in one row those that did or were left out."""
    fine, left_out = (sum(row.mark == mark for row in rows) for mark in ("ok", "none"))
    text = f"{counted(fine, 'stage')} passed" + (f", {left_out} left out" if left_out else "")
    whole = (Layer("probe", text, "ok" if fine else "none", ""),) if rows else ()
    return (*whole, *(row for row in rows if row.mark not in ("ok", "none")))


# Cuts, in the order in which they are made


def _fewer_tries(answer: Answer) -> Answer:
    """What was not tried in one row, and one more cause beside the one that is named."""
    tries = answer.not_tried
    if len(tries) > 1:
        tries = (Untried(clip(listed(tuple(one.text for one in tries), 4), LONGEST)),)
    return replace(answer, not_tried=tries, causes=answer.causes[: _named(answer) + 1])


def _named(answer: Answer) -> int:
    """How many causes are shown at least."""
    return 1 if answer.verdict == "found" else 2


def _fewer_layers(answer: Answer) -> Answer:
    """Sound layers in one row; few outcomes and points."""
    fine = [row for row in answer.layers if row.mark in ("ok", "none")]
    rows = [row for row in answer.layers if row.mark not in ("ok", "none")][:8]
    names = listed(tuple(clip(row.name, 20) for row in fine), 6)
    whole = [Layer("no fault", names, "ok", "")] if len(fine) > 1 else [] if rows else fine
    asked = answer.question
    return replace(
        answer,
        layers=(*rows, *whole),
        question=replace(asked, rows=asked.rows[:4]) if asked else None,
        points=answer.points[:6],
    )


def _of_causes(change: Callable[[CauseFound], CauseFound]) -> Cut:
    """The causes that are shown, with less in them."""
    return lambda answer: replace(answer, causes=tuple(map(change, answer.causes)))


def _of_fixes(change: Callable[[Fix], Fix]) -> Cut:
    return _of_causes(lambda one: replace(one, fixes=tuple(map(change, one.fixes))))


def _no_source(cause: CauseFound) -> CauseFound:
    """What was seen, without the place where it was seen."""
    because = []
    for reason in cause.because:
        saw = tuple(replace(one, source="") for one in reason.saw)
        because.append(replace(reason, saw=saw))
    return replace(cause, because=tuple(because))


def _fewer_rows(answer: Answer) -> Answer:
    """Few outcomes, each with its meaning alone; points without commands."""
    asked = answer.question
    if asked:
        rows = tuple(
            replace(row, text="" if row.title else row.text, command="") for row in asked.rows[:3]
        )
        asked = replace(asked, rows=rows)
    points = tuple(replace(one, command="") for one in answer.points)
    return replace(answer, question=asked, points=points)


def _clipped(most: int) -> Cut:
    """Every sentence at most so long: one may hold a name of absurd length. Commands stay."""

    def cut(value: Any) -> Any:
        if isinstance(value, str):
            return clip(value, most)
        if isinstance(value, tuple):
            return tuple(map(cut, value))
        if isinstance(value, Struct):
            kept = (name for name in value.__struct_fields__ if name not in ("command", "more"))
            return replace(value, **{name: cut(getattr(value, name)) for name in kept})
        return value

    return cut


def _few_rows(answer: Answer) -> Answer:
    """The beginning of every list that is left."""
    layers, probe = (
        tuple(replace(row, name=clip(row.name, 14), note="") for row in rows)
        for rows in (answer.layers[:3], answer.probe[:2])
    )
    return replace(answer, layers=layers, probe=probe, points=answer.points[:3])


CUTS: tuple[Cut, ...] = (
    _fewer_tries,
    _of_causes(_no_source),
    _fewer_layers,
    lambda answer: replace(answer, causes=answer.causes[: _named(answer)]),
    _of_fixes(lambda fix: replace(fix, if_not="")),
    _of_fixes(lambda fix: replace(fix, command="") if fix.command.count("\n") > 3 else fix),
    _fewer_rows,
    _clipped(LONGEST),
    _of_causes(lambda one: replace(one, because=())),
    _clipped(QUOTED),
    _few_rows,
)
