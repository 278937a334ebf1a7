"""What an answer looks like: the Answer of check, explain and run as a document.

What is too long is cut in `answer.shorten`, by value; here everything that is in the Answer is
shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gpuwhy.answer.answer import (
    NOT_GPU,
    Answer,
    CauseFound,
    Fix,
    Layer,
    Point,
    Proof,
    Question,
    Reason,
    Row,
    certainty,
)
from gpuwhy.answer.shorten import shorten
from gpuwhy.answer.terminal import height
from gpuwhy.answer.text import listed
from gpuwhy.answer.tree import (
    Block,
    Code,
    Command,
    Document,
    Fold,
    Heading,
    Item,
    Items,
    Line,
    Mark,
    Pair,
    Pairs,
    Paragraph,
    Part,
    Quote,
    Soft,
    Stack,
    Table,
)
from gpuwhy.answer.tree import Layer as Shelf

LEVELS = {"GPU": 0, "driver": 1, "CUDA": 2, "cuDNN": 2, "Python": 3, "program": 5}
"""How high a layer stands in the stack; frameworks stand at 4."""
FRAMEWORK = 4


# Building blocks for every answer


def pair(label: str, *body: Part | str, mark: Mark = "", wide: bool = False) -> Pair:
    """A label and what belongs to it; a string is a sentence."""
    return Pair(label, _parts(body), mark, wide)


def item(*body: Part | str, mark: Mark = "") -> Item:
    """A row of a list."""
    return Item(_parts(body), mark)


def pairs(*rows: Pair | None) -> Pairs:
    """The rows that have something beside their label."""
    return Pairs(tuple(row for row in rows if row is not None and row.body))


def items(rows: Iterable[Item], numbered: bool = False) -> Items:
    """A list."""
    return Items(tuple(rows), numbered)


def fold(title: str, *body: Block, id: str = "", open: bool = False) -> tuple[Fold, ...]:
    """A part for those who want more; nothing where it would be empty."""
    kept = tuple(block for block in body if not isinstance(block, (Items, Pairs)) or block.rows)
    return (Fold(title, kept, open, id),) if kept else ()


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[str | Line]],
    marks: Iterable[Mark] = (),
) -> Table:
    """Columns of sentences; the last one wraps."""
    lines = tuple(tuple(_line(cell) for cell in row) for row in rows)
    return Table(tuple(head), lines, tuple(marks))


def _line(text: str | Line) -> Line:
    return (text,) if isinstance(text, str) else text


def _parts(body: Iterable[Part | str]) -> tuple[Part, ...]:
    return tuple((part,) if isinstance(part, str) else part for part in body if part)


# The Answer of check, explain and run


def document(answer: Answer, detail: int = 0) -> Document:
    """The answer as it is printed: 0 in a few lines, 1 with -v, 2 with every fact."""
    shown = shorten(answer, detail, lambda one: height(_laid_out(one, ())))
    return _laid_out(shown, _folds(shown) if detail else ())


def _laid_out(answer: Answer, folds: tuple[Fold, ...]) -> Document:
    """The decision first, then the layers, then where to read on."""
    decision, why, rest = _decision(answer), _why(answer), _rest(answer)
    below = (pairs(*why, *rest),) if not answer.layers else (*_layers(answer), pairs(*rest))
    above = (*decision, pairs(*why)) if answer.layers else decision
    blocks: tuple[Block, ...] = (_heading(answer), *above, *below)
    return Document(
        tuple(block for block in (*blocks, *folds) if not _empty(block)),
        title=answer.headline,
        made_by=f"gpuwhy {answer.gpuwhy}",
        made_on=answer.made_on,
        about=answer.about,
    )


def _empty(block: Block) -> bool:
    return isinstance(block, (Pairs, Items)) and not block.rows


def _heading(answer: Answer) -> Heading:
    """The headline; below it the cause and how certain it is."""
    alone = answer.verdict == "undecided" and len(answer.causes) == 1
    first = answer.causes[0] if alone else answer.first
    named = first and first.id != NOT_GPU
    under: Line = (Code(first.id), f" · {certainty(first.confidence)}") if first and named else ()
    if answer.as_if:
        under = (*under, " · " if under else "", f"judged as on {answer.as_if}")
    return Heading((answer.headline,), answer.mark, under=under)


def _decision(answer: Answer) -> tuple[Block, ...]:
    """What was decided, by verdict."""
    if answer.verdict == "found" and answer.first:
        return (_found(answer.first),)
    if answer.verdict == "undecided":
        return (_asked(answer.question) if answer.question else _candidates(answer.causes),)
    if answer.verdict == "unrecognised":
        return (_unrecognised(answer),)
    if answer.verdict == "answered":
        return (Pairs(tuple(_point(one) for one in answer.points)),)
    return (pairs(*(_with_gpu(one) for one in answer.causes)),)


def _found(cause: CauseFound) -> Pairs:
    """What to do, how to see that it worked, where to go if it did not."""
    if cause.id == NOT_GPU or not cause.fixes:
        return Pairs(())
    fix = cause.fixes[0]
    return pairs(pair("Do this", *_done_by(fix)), *_afterwards(fix))


def _done_by(fix: Fix) -> tuple[Part, ...]:
    """The sentence with what it needs, and the command."""
    needs = [word for word, on in (("root", fix.root), ("a reboot", fix.reboot)) if on]
    line: Line = (fix.text, *([Soft(f" (needs {' and '.join(needs)})")] if needs else []))
    return (line, Command(fix.command, fix.language)) if fix.command else (line,)


def _afterwards(fix: Fix) -> tuple[Pair | None, ...]:
    seen = pair("Worked if", fix.worked_if) if fix.worked_if else None
    check = pair("Check", (Code(fix.check, copy=True),)) if fix.check and not seen else None
    return (seen or check, pair("If not", fix.if_not) if fix.if_not else None)


def _why(answer: Answer) -> tuple[Pair | None, ...]:
    """The evidence in one line, and what else it might be."""
    best = answer.causes[0] if answer.causes else None
    if best is None or best.id == NOT_GPU or answer.verdict not in ("found", "undecided"):
        return ()
    others = answer.causes[1:] if answer.verdict == "found" else ()
    named = listed(tuple(one.id for one in others))
    because = _because(best.because[0], answer.headline) if best.because else ()
    return (
        pair("Because", because) if because else None,
        pair("Or", (Code(named),)) if named else None,
    )


def _because(reason: Reason, headline: str) -> Line:
    """The line of the log that decides, else what was seen, else the sentence itself."""
    if reason.told:
        number: Line = (Soft(f"line {reason.line}: "),) if reason.line else ()
        return (*number, Code(reason.told[0].text))
    if reason.saw:
        proof = reason.saw[0]
        return _from(proof)
    return (reason.text,) if reason.text != headline else ()


def _from(proof: Proof) -> Line:
    """One checkable thing, and where it was seen."""
    return (proof.text, Soft(f" [{proof.source}]")) if proof.source else (proof.text,)


def _asked(question: Question) -> Pairs:
    """The observation that decides, and what each outcome means."""
    run: tuple[Part | str, ...] = (question.text,)
    if question.command:
        run = (
            Command(question.command, question.language),
            (Soft(question.text),) if question.text else "",
        )
    label = "Run" if question.command else "Look"
    return pairs(pair(label, *run), *(_outcome(row) for row in question.rows))


def _outcome(row: Row) -> Pair:
    """What is seen, on a line of its own; below it what that means and what to do."""
    if row.title and row.text:
        return pair(row.sees, row.title, _with_command(row.text, row.command), wide=True)
    return pair(row.sees, _with_command(row.title or row.text, row.command), wide=True)


def _with_command(text: str, command: str) -> Line:
    """A sentence and the command that belongs to it."""
    if not command:
        return (text,)
    return (*((text, ": ") if text else ()), Code(command, copy=True))


def _candidates(causes: Sequence[CauseFound]) -> Pairs:
    """Without an observation that decides: the causes that fit, each with its remedy; one that
    serves them all is said once.
    """
    if len({one.fixes[0].text if one.fixes else one.id for one in causes}) == 1:
        return _found(causes[0])
    rows = ((one, _done_by(one.fixes[0]) if one.fixes else (one.id,)) for one in causes)
    return pairs(*(pair(one.title, *body, wide=True) for one, body in rows))


def _with_gpu(cause: CauseFound) -> Pair | None:
    """On a machine without a GPU: what would fail if it had one."""
    line: Line = (cause.title, " ", Code(f"({cause.id})"))
    return pair("With a GPU", line) if cause.with_gpu else None


def _unrecognised(answer: Answer) -> Pairs:
    last = answer.last_line
    number = (Soft(f"line {last.line}: "),) if last and last.line else ()
    line: Line = (*number, Code(last.text)) if last else ()
    return pairs(pair("Last line", line) if last else None)


def _point(one: Point) -> Pair:
    line: Line = (one.text, *([Soft(f" ({one.source})")] if one.source else []))
    return pair(one.label, line, Command(one.command) if one.command else "")


def _layers(answer: Answer) -> tuple[Block, ...]:
    """The stack, and the stages of a probe."""
    stacks = (_stack(rows, answer) for rows in (answer.layers, answer.probe) if rows)
    return tuple(stacks)


def _stack(rows: Sequence[Layer], answer: Answer) -> Stack:
    causes = tuple(one.id for one in answer.causes)
    return Stack(tuple(_shelf(row, causes) for row in rows))


def _shelf(row: Layer, causes: Sequence[str]) -> Shelf:
    """A layer; its note is a cause, or a remark. The first cause is named by the heading."""
    remark = (Soft(f" · {row.note}"),) if row.note and row.note not in causes[:1] else ()
    level = LEVELS.get(row.name.split(" ")[0], FRAMEWORK)
    cause = row.note if row.note in causes else ""
    return Shelf(row.name, (row.text, *remark), row.mark, cause, level)


def _rest(answer: Answer) -> tuple[Pair, ...]:
    """What was not looked at, our own failures, and where to read on."""
    rows: list[Pair] = []
    tries = tuple(_with_command(one.text, one.command) for one in answer.not_tried)
    unseen = tuple((one,) for one in answer.unseen) if answer.layers else ()
    if unseen:
        rows.append(Pair("Unchecked", unseen))
    if tries:
        rows.append(Pair("Not tried" if answer.verdict != "unrecognised" else "Try", tries))
    for one in answer.crashed:
        rows.append(pair("Bug", (f"gpuwhy failed to judge {one.id}; please report it",)))
    if answer.more:
        rows.append(pair("More", (Code(answer.more, copy=True),)))
    return tuple(rows)


# What -v adds


def _folds(answer: Answer) -> tuple[Fold, ...]:
    """Evidence, other remedies and causes, what it is not, what is open, the messages, facts."""
    found = answer.verdict == "found"
    first = answer.causes[:1] if found else ()
    asked = answer.question
    return (
        *(part for cause in first for part in _evidence(cause)),
        *(part for cause in first for part in _remedies(cause)),
        *fold("Other causes" if found else "Causes", *_causes(answer.causes[len(first) :])),
        *(fold("To be sure", _asked(asked)) if asked and found else ()),
        *(fold("Answer with an option", _options(asked)) if asked else ()),
        *fold("Ruled out", items(item((Code(r.id), ": ", r.because)) for r in answer.ruled_out)),
        *fold("Could not tell", items(_open(o.id, o.missing, o.how) for o in answer.undetermined)),
        *fold("Also noticed", items(_noticed(n.id, n.text) for n in answer.noticed)),
        *_printed(answer),
        *_facts(answer.facts),
    )


def _reason(reason: Reason) -> tuple[Block, ...]:
    """A sentence with what is behind it."""
    kinds = (("saw", reason.saw), ("know", reason.know), ("told", reason.told))
    rows = [pair(kind, _from(proof)) for kind, proofs in kinds for proof in proofs]
    return (Paragraph((reason.text,)), *([Pairs(tuple(rows))] if rows else []))


def _evidence(cause: CauseFound) -> tuple[Fold, ...]:
    reasons = [block for reason in cause.because for block in _reason(reason)]
    title = f"Evidence for {cause.subject}" if cause.subject else "Evidence"
    explains = [_also(cause.explains)] if cause.explains else []
    return fold(title, *reasons, *explains, id=cause.id, open=True)


def _also(explains: Sequence[str]) -> Paragraph:
    return Paragraph((Soft(f"It also explains {listed(tuple(explains), 8)}."),))


def _remedies(cause: CauseFound) -> tuple[Fold, ...]:
    """The remedies after the first."""
    rows = (
        item(*_done_by(fix), (Soft(f"worked if {fix.worked_if}"),) if fix.worked_if else "")
        for fix in cause.fixes[1:]
    )
    return fold("Other remedies", items(rows, numbered=True))


def _causes(causes: Sequence[CauseFound]) -> tuple[Block, ...]:
    """Causes in short: what, how certain, why, and the first remedy."""
    out: list[Block] = []
    for one in causes:
        title: Line = (one.title, Soft(f" · {certainty(one.confidence)}"))
        fix = one.fixes[0] if one.fixes else None
        out.append(Heading(title, level=3, under=(Code(one.id),), id=one.id))
        out.append(
            pairs(
                pair("Because", one.because[0].text) if one.because else None,
                pair("Do this", *_done_by(fix)) if fix else None,
                *(_afterwards(fix) if fix else ()),
            )
        )
    return tuple(block for block in out if not _empty(block))


def _options(question: Question) -> Pairs:
    rows = question.answers.items()
    return pairs(
        *(pair(f"--answer {question.id}={sees}", (Code(cause),), wide=True) for sees, cause in rows)
    )


def _open(cause: str, missing: str, how: str) -> Item:
    return item((Code(cause), f": {missing}"), (Soft("to find out: "), how) if how else "")


def _noticed(cause: str | None, text: str) -> Item:
    return item((Code(cause), f": {text}") if cause else text)


def _printed(answer: Answer) -> tuple[Fold, ...]:
    """The messages of the text, each line once, with the one that decides."""
    lines = {one.line: one.text for one in answer.symptoms if one.role != "context"}
    hit = answer.causes[0].because[0].line if answer.causes and answer.causes[0].because else 0
    return (
        fold("What the program printed", Quote(tuple(sorted(lines.items())), hit)) if lines else ()
    )


def _facts(facts: dict[str, Any]) -> tuple[Fold, ...]:
    rows = [
        (f"{subject}.{name}", _value(fact), _source(fact))
        for subject, fields in facts.items()
        if isinstance(fields, dict)
        for name, fact in fields.items()
        if isinstance(fact, dict)
    ]
    return fold("Facts", table(("fact", "value", "source"), rows)) if rows else ()


def _value(fact: dict[str, Any]) -> str:
    state = fact.get("state")
    if state == "unknown":
        return f"unknown: {fact.get('reason', '')}"
    return "absent" if state == "absent" else _flat(fact.get("value"))


def _flat(value: Any) -> str:
    """A value on one line; facts inside it by their value."""
    if isinstance(value, dict):
        if isinstance(value.get("state"), str):
            return _value(value)
        return " ".join(f"{name}={_flat(one)}" for name, one in value.items())
    return ", ".join(map(_flat, value)) if isinstance(value, (list, tuple)) else str(value)


def _source(fact: dict[str, Any]) -> str:
    source = fact.get("source")
    if not isinstance(source, dict):
        return ""
    detail = f" ({source['detail']})" if source.get("detail") else ""
    return f"{source.get('where', '')}{detail}"
