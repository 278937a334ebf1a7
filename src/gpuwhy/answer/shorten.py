"""What is cut from an Answer so that it fits a screen: values, in a fixed order, never lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from gpuwhy.answer.answer import (
    Answer,
    CauseFound,
    Fix,
    Layer,
    LogLine,
    Question,
    Reason,
    Untried,
)
from gpuwhy.answer.text import clip, counted, listed

LINES, QUESTION, CHECK = 12, 16, 20
"""Lines that are not empty: of an answer, of a question with a table, of `check` with layers."""
QUOTED = 56
"""Characters of a quotation: one line, beside its label and its number."""
LONGEST = 240
"""Characters of a sentence that names what the user has: a file name may be as long as it likes."""
FACTS, ROWS = 400, 200
"""The most facts of an answer with -vv, and rows of any other list with -v."""
OF_TEXT = ("explain", "run", "ask")
"""Commands that answer for a text: the layers of this machine are for -v."""

Cut = Callable[[Answer], Answer]


def shorten(answer: Answer, detail: int, lines: Callable[[Answer], int]) -> Answer:
    """The same answer with less in it: 0 in a few lines, 1 without the facts, 2 whole; `lines`
    counts what an answer takes.
    """
    if detail > 0:
        return _bounded(answer, detail)
    short, most = _decision(answer), _most(answer)
    for cut in CUTS:
        if lines(short) <= most:
            break
        short = cut(short)
    return short


def _most(answer: Answer) -> int:
    if answer.layers and answer.command not in OF_TEXT:
        rows = len(answer.layers) + 4 + 2 * bool(answer.tried)
        return max(LINES, rows) if answer.verdict == "healthy" else CHECK
    return QUESTION if answer.verdict == "undecided" else LINES


def _bounded(answer: Answer, detail: int) -> Answer:
    """Lists that may be as long as a log or a machine, bounded."""
    left, facts = FACTS if detail > 1 else 0, {}
    for subject, fields in answer.facts.items():
        if left > 0 and isinstance(fields, dict):
            facts[subject] = dict(list(fields.items())[:left])
            left -= len(fields)
    return replace(
        answer,
        facts=facts,
        symptoms=answer.symptoms[:ROWS],
        ruled_out=answer.ruled_out[:ROWS],
        undetermined=answer.undetermined[:ROWS],
        more="",
    )


def _decision(answer: Answer) -> Answer:
    """What decides and what to do; all else is for -v."""
    of_text = answer.command in OF_TEXT
    question = answer.question if answer.verdict == "undecided" else None
    alone = answer.verdict == "found" and bool(answer.causes)
    first = tuple(_first(one) for one in answer.causes[: 1 if alone else 4])
    others = tuple(replace(one, because=(), fixes=()) for one in answer.causes[len(first) :])
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
        unseen=() if of_text else _unseen(answer.unseen),
        not_tried=() if of_text and alone else answer.not_tried[:3],
        question=_asked(question) if question else None,
        crashed=answer.crashed[:1],
        last_line=_quoted(answer.last_line),
        points=tuple(replace(one, source="") for one in answer.points),
    )


def _unseen(texts: tuple[str, ...]) -> tuple[str, ...]:
    """What could not be read, counted."""
    return (f"{counted(len(texts), 'fact')} could not be read; -v says which",) if texts else ()


def _first(cause: CauseFound) -> CauseFound:
    """A cause with its first reason and its first remedy."""
    because = tuple(_reason(one) for one in cause.because[:1])
    return replace(cause, because=because, fixes=cause.fixes[:1], explains=())


def _reason(reason: Reason) -> Reason:
    """A reason with its first proof; of a line of the log, what fits into one line."""
    told = tuple(replace(one, text=clip(one.text, QUOTED)) for one in reason.told[:1])
    return replace(reason, saw=reason.saw[:1], know=(), told=told)


def _asked(question: Question) -> Question:
    """Of an outcome what to do, rather than what it means, where it has a sentence for both."""
    rows = tuple(replace(row, title="") if row.text else row for row in question.rows)
    return replace(question, rows=rows)


def _quoted(line: LogLine | None) -> LogLine | None:
    return replace(line, text=clip(line.text, QUOTED)) if line else None


def _probed(rows: tuple[Layer, ...]) -> tuple[Layer, ...]:
    """The stages that did not work, and in one row those that did or were left out."""
    fine, left_out = (sum(row.mark == mark for row in rows) for mark in ("ok", "none"))
    text = f"{counted(fine, 'stage')} passed" + (f", {left_out} left out" if left_out else "")
    whole = (Layer("probe", text, "ok" if fine else "none", ""),) if rows else ()
    return (*whole, *(row for row in rows if row.mark not in ("ok", "none")))


# Cuts, in the order in which they are made


def _first_cause(answer: Answer, change: Callable[[CauseFound], CauseFound]) -> Answer:
    return replace(answer, causes=(*map(change, answer.causes[:1]), *answer.causes[1:]))


def _first_fix(answer: Answer, change: Callable[[Fix], Fix]) -> Answer:
    def changed(cause: CauseFound) -> CauseFound:
        return replace(cause, fixes=tuple(change(fix) for fix in cause.fixes[:1]))

    if answer.verdict == "undecided":
        return replace(answer, causes=tuple(map(changed, answer.causes)))
    return _first_cause(answer, changed)


def _no_source(answer: Answer) -> Answer:
    """What was seen, without the place where it was seen."""

    def bare(reason: Reason) -> Reason:
        return replace(reason, saw=tuple(replace(one, source="") for one in reason.saw))

    return _first_cause(answer, lambda one: replace(one, because=tuple(map(bare, one.because))))


def _fewer_tries(answer: Answer) -> Answer:
    """What was not tried in one row."""
    if len(answer.not_tried) < 2:
        return answer
    names = listed(tuple(one.text for one in answer.not_tried), 4)
    return replace(answer, not_tried=(Untried(clip(names, LONGEST)),))


def _fewer_layers(answer: Answer) -> Answer:
    """Sound layers in one row."""
    fine = [row for row in answer.layers if row.mark in ("ok", "none")]
    rows = [row for row in answer.layers if row.mark not in ("ok", "none")][:8]
    if len(fine) < 2:
        return replace(answer, layers=tuple(rows or fine))
    names = listed(tuple(clip(row.name, 20) for row in fine), 6)
    return replace(answer, layers=(*rows, Layer("no fault", names, "ok", "")))


def _others(most: int) -> Cut:
    """The causes beside the one that is named; of several that fit, one more."""

    def cut(answer: Answer) -> Answer:
        keep = most + (1 if answer.verdict == "found" else 2)
        return replace(answer, causes=answer.causes[:keep])

    return cut


def _fewer_rows(answer: Answer) -> Answer:
    question = answer.question
    asked = question and replace(question, rows=question.rows[:4])
    return replace(answer, question=asked, points=answer.points[:6])


def _rows_to_do(answer: Answer) -> Answer:
    """Outcomes with what to do alone, where there is something to do."""
    question = answer.question
    if not question:
        return answer
    rows = tuple(replace(r, title="") if r.text or r.command else r for r in question.rows)
    return replace(answer, question=replace(question, rows=rows))


def _bare_rows(answer: Answer) -> Answer:
    """Outcomes with their meaning alone; points without their commands."""
    question = answer.question
    if question:
        rows = tuple(
            replace(row, text="" if row.title else row.text, command="")
            for row in question.rows[:3]
        )
        question = replace(question, rows=rows)
    points = tuple(replace(one, command="") for one in answer.points)
    return replace(answer, question=question, points=points)


def _no_long_command(answer: Answer) -> Answer:
    """A command of many lines is left to -v, which the answer names."""
    return _first_fix(
        answer,
        lambda fix: replace(fix, command="") if fix.command.count("\n") > 3 else fix,
    )


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

    def bare(rows: tuple[Layer, ...], most: int) -> tuple[Layer, ...]:
        return tuple(replace(row, name=clip(row.name, 14), note="") for row in rows[:most])

    layers, probe = bare(answer.layers, 3), bare(answer.probe, 2)
    return replace(answer, layers=layers, probe=probe, points=answer.points[:3])


CUTS: tuple[Cut, ...] = (
    _fewer_tries,
    _others(1),
    _no_source,
    _fewer_rows,
    _fewer_layers,
    _others(0),
    lambda answer: _first_fix(answer, lambda fix: replace(fix, if_not="")),
    _no_long_command,
    _rows_to_do,
    _bare_rows,
    _clipped(LONGEST),
    lambda answer: _first_cause(answer, lambda one: replace(one, because=())),
    _clipped(QUOTED),
    _few_rows,
)
