"""What an answer looks like: the Answer of check, explain and run as a document.

What is too long is cut in `answer.shorten`, by value; here everything that is in the Answer is
shown.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gpuwhy.answer import answer as of
from gpuwhy.answer import tree
from gpuwhy.answer.shorten import shorten
from gpuwhy.answer.terminal import height
from gpuwhy.answer.text import listed

# Building blocks for every answer


def pair(label: str, *body: tree.Part | str, mark: tree.Mark = "", wide: bool = False) -> tree.Pair:
    """A label and what belongs to it; a string is a sentence."""
    return tree.Pair(label, _parts(body), mark, wide)


def item(*body: tree.Part | str, mark: tree.Mark = "") -> tree.Item:
    """A row of a list."""
    return tree.Item(_parts(body), mark)


def pairs(*rows: tree.Pair | None) -> tree.Pairs:
    """The rows that have something beside their label."""
    return tree.Pairs(tuple(row for row in rows if row is not None and row.body))


def items(rows: Iterable[tree.Item], numbered: bool = False) -> tree.Items:
    """A list."""
    return tree.Items(tuple(rows), numbered)


def fold(title: str, *body: tree.Block, open: bool = False) -> tuple[tree.Fold, ...]:
    """A part for those who want more; nothing where it would be empty."""
    kept = tuple(filter(_holds, body))
    return (tree.Fold(title, kept, open),) if kept else ()


def _holds(block: tree.Block) -> bool:
    return not isinstance(block, (tree.Pairs, tree.Items, tree.Table)) or bool(block.rows)


def table(
    head: Sequence[str], rows: Iterable[Sequence[str | tree.Line]], marks: Iterable[tree.Mark] = ()
) -> tree.Table:
    """Columns of sentences; the last one wraps."""
    lines = (((cell,) if isinstance(cell, str) else cell for cell in row) for row in rows)
    return tree.Table(tuple(head), tuple(map(tuple, lines)), tuple(marks))


def _parts(body: Iterable[tree.Part | str]) -> tuple[tree.Part, ...]:
    return tuple((part,) if isinstance(part, str) else part for part in body if part)


# The Answer of check, explain and run


def document(answer: of.Answer, detail: int = 0) -> tree.Document:
    """The answer as it is printed: 0 in a few lines, 1 with -v, 2 with every fact."""
    shown = shorten(answer, detail, lambda one: height(_laid_out(one)))
    return _laid_out(shown, _folds(shown) if detail else ())


def _laid_out(answer: of.Answer, folds: tuple[tree.Fold, ...] = ()) -> tree.Document:
    """The decision first, then the layers, then where to read on."""
    why, rest = _why(answer), _rest(answer)
    stacks = [_stack(rows, answer) for rows in (answer.layers, answer.probe) if rows]
    below = [pairs(*why), *stacks, pairs(*rest)] if answer.layers else [pairs(*why, *rest)]
    blocks: list[tree.Block] = [_heading(answer), _decision(answer), *below, *folds]
    return tree.Document(
        tuple(filter(_holds, blocks)),
        title=answer.headline,
        made_by=f"gpuwhy {answer.gpuwhy}",
        made_on=answer.made_on,
        about=answer.about,
    )


def _heading(answer: of.Answer) -> tree.Heading:
    """The headline; below it the cause and how certain it is."""
    alone = answer.verdict == "undecided" and len(answer.causes) == 1
    first = answer.causes[0] if alone else answer.first
    under: tree.Line = ()
    if first and first.id != of.NOT_GPU:
        under = (tree.Code(first.id), f" · {of.certainty(first.confidence)}")
    if answer.as_if:
        under = (*under, " · " if under else "", f"judged as on {answer.as_if}")
    return tree.Heading((answer.headline,), answer.mark, under=under)


def _decision(answer: of.Answer) -> tree.Pairs:
    """What was decided, by verdict."""
    if answer.verdict == "found":
        return _to_do(answer.first)
    if answer.verdict == "undecided":
        return _asked(answer.question) if answer.question else _candidates(answer.causes)
    if answer.verdict == "unrecognised":
        last = answer.last_line
        return pairs(pair("Last line", _numbered(last.line, last.text)) if last else None)
    if answer.verdict == "answered":
        rows = []
        for one in answer.points:
            source = [tree.Soft(f" ({one.source})")] if one.source else []
            typed = tree.Command(one.command) if one.command else ""
            rows.append(pair(one.label, (one.text, *source), typed))
        return tree.Pairs(tuple(rows))
    with_gpu = (one for one in answer.causes if one.with_gpu)
    lines = ((one.title, " ", tree.Code(f"({one.id})")) for one in with_gpu)
    return pairs(*(pair("With a GPU", line) for line in lines))


def _to_do(cause: of.CauseFound | None) -> tree.Pairs:
    """What to do, how to see that it worked, where to go if it did not."""
    fixes = cause.fixes[:1] if cause and cause.id != of.NOT_GPU else ()
    return pairs(*(row for fix in fixes for row in _steps(fix)))


def _steps(fix: of.Fix) -> tuple[tree.Pair, ...]:
    seen = pair("Worked if", fix.worked_if)
    if fix.check and not fix.worked_if:
        seen = pair("Check", (tree.Code(fix.check, copy=True),))
    return pair("Do this", *_done_by(fix)), seen, pair("If not", fix.if_not)


def _done_by(fix: of.Fix) -> tuple[tree.Part, ...]:
    """The sentence with what it needs, and the command."""
    needs = [word for word, on in (("root", fix.root), ("a reboot", fix.reboot)) if on]
    line: tree.Line = (fix.text, *([tree.Soft(f" (needs {' and '.join(needs)})")] if needs else []))
    return (line, tree.Command(fix.command, fix.language)) if fix.command else (line,)


def _why(answer: of.Answer) -> tuple[tree.Pair, ...]:
    """The evidence in one line, and what else it might be."""
    best = answer.causes[0] if answer.causes else None
    if best is None or best.id == of.NOT_GPU or answer.verdict not in ("found", "undecided"):
        return ()
    others = answer.causes[1:] if answer.verdict == "found" else ()
    named = listed(tuple(dict.fromkeys(one.id for one in others if one.id != best.id)))
    because: tree.Line = ()
    for reason in best.because[:1]:  # the line of the log that decides, what was seen, a sentence
        if reason.told:
            because = _numbered(reason.line, reason.told[0].text)
        elif reason.saw:
            because = _from(reason.saw[0])
        elif reason.text != answer.headline:
            because = (reason.text,)
    return pair("Because", because), pair("Or", (tree.Code(named),) if named else "")


def _numbered(line: int, text: str) -> tree.Line:
    """A line of the log, with its number where it is known."""
    return (*((tree.Soft(f"line {line}: "),) if line else ()), tree.Code(text))


def _from(proof: of.Proof) -> tree.Line:
    """One checkable thing, and where it was seen."""
    return (proof.text, tree.Soft(f" [{proof.source}]")) if proof.source else (proof.text,)


_ONE_LINE = 64
"""An outcome's meaning and its command stand in one line where both fit."""


def _asked(question: of.Question) -> tree.Pairs:
    """The observation that decides, and what each outcome means and asks for."""
    first = [pair("Look", question.text)]
    if question.command:
        when = (tree.Soft(question.text),) if question.text else ""
        first = [pair("Run", tree.Command(question.command, question.language), when)]
    rows = []
    for row in question.rows:
        body: list[tree.Part | str] = [one for one in (row.title, row.text) if one]
        if row.command and len(body) == 1 and len(f"{body[0]}{row.command}") <= _ONE_LINE:
            body = [_with_command(row.title or row.text, row.command)]
        elif row.command:
            body.append(tree.Command(row.command, question.language))
        rows.append(pair(row.sees, *body, wide=True))
    return pairs(*first, *rows)


def _with_command(text: str, command: str) -> tree.Line:
    """A sentence and the command that belongs to it."""
    return (text, ": ", tree.Code(command, copy=True)) if command else (text,)


def _candidates(causes: Sequence[of.CauseFound]) -> tree.Pairs:
    """Without an observation that decides: the causes that fit, each with its remedy; one that
    serves them all is said once.
    """
    if len({one.fixes[0].text if one.fixes else one.id for one in causes}) == 1:
        return _to_do(causes[0])
    rows = ((one, _done_by(one.fixes[0]) if one.fixes else (one.id,)) for one in causes)
    return pairs(*(pair(one.title, *body, wide=True) for one, body in rows))


def _stack(rows: Sequence[of.Layer], answer: of.Answer) -> tree.Pairs:
    """Layers, or the stages of a probe; the first cause is named by the heading."""
    shelves = []
    for row in rows:
        named = not row.note or row.note in [one.id for one in answer.causes[:1]]
        remark = () if named else (tree.Soft(f" · {row.note}"),)
        shelves.append(tree.Pair(row.name, ((row.text, *remark),), row.mark))
    return tree.Pairs(tuple(shelves), stack=True)


def _rest(answer: of.Answer) -> tuple[tree.Pair, ...]:
    """What was not looked at, and where to read on."""
    unseen = answer.unseen if answer.layers else ()
    tries = (_with_command(one.text, one.command) for one in answer.not_tried)
    return (
        pair("Imported", answer.tried),
        pair("Unchecked", *unseen),
        pair("Try" if answer.verdict == "unrecognised" else "Not tried", *tries),
        pair("More", (tree.Code(answer.more, copy=True),) if answer.more else ""),
    )


# What -v adds


def _folds(answer: of.Answer) -> tuple[tree.Fold, ...]:
    """Evidence, other remedies and causes, what it is not, what is open, the messages, facts."""
    found = answer.verdict == "found"
    first, others = (answer.causes[:1], answer.causes[1:]) if found else ((), answer.causes)
    asked = answer.question
    answers = asked.answers.items() if asked else ()
    typed = ((f"--answer {asked.id}={sees}", cause) for sees, cause in answers) if asked else ()
    options = (pair(option, (tree.Code(cause),), wide=True) for option, cause in typed)
    return (
        *(part for cause in first for part in _evidence(cause)),
        *fold("Other remedies", items((_remedy(f) for c in first for f in c.fixes[1:]), True)),
        *fold("Other causes" if found else "Causes", *_causes(others)),
        *(fold("To be sure", _asked(asked)) if asked and found else ()),
        *fold("Answer with an option", pairs(*options)),
        *fold("Ruled out", items(_about(one.id, one.because) for one in answer.ruled_out)),
        *fold("Could not tell", items(_about(o.id, o.missing, o.how) for o in answer.undetermined)),
        *fold("Also noticed", items(_about(one.id, one.text) for one in answer.noticed)),
        *printed(answer),
        *fold("Facts", pairs(*_facts(answer.facts))),
    )


def _about(cause: str | None, text: str, how: str = "") -> tree.Item:
    """A sentence about a cause, and how to find out more."""
    line: tree.Line = (tree.Code(cause), f": {text}") if cause else (text,)
    return item(line, (tree.Soft("to find out: "), how) if how else "")


def _evidence(cause: of.CauseFound) -> tuple[tree.Fold, ...]:
    """Each reason with what is behind it."""
    blocks: list[tree.Block] = []
    for reason in cause.because:
        kinds = (("saw", reason.saw), ("know", reason.know), ("told", reason.told))
        rows = [pair(kind, _from(proof)) for kind, proofs in kinds for proof in proofs]
        blocks += [tree.Paragraph((reason.text,)), pairs(*rows)]
    title = f"Evidence for {cause.subject}" if cause.subject else "Evidence"
    return fold(title, *blocks, open=True)


def _remedy(fix: of.Fix) -> tree.Item:
    return item(*_done_by(fix), (tree.Soft(f"worked if {fix.worked_if}"),) if fix.worked_if else "")


def _causes(causes: Sequence[of.CauseFound]) -> Iterator[tree.Block]:
    """Causes in short: what, how certain, why, and the first remedy."""
    for one in causes:
        title: tree.Line = (one.title, tree.Soft(f" · {of.certainty(one.confidence)}"))
        yield tree.Heading(title, level=3, under=(tree.Code(one.id),))
        because = (pair("Because", reason.text) for reason in one.because[:1])
        yield pairs(*because, *(row for fix in one.fixes[:1] for row in _steps(fix)))


def printed(answer: of.Answer, most: int | None = None) -> tuple[tree.Fold, ...]:
    """The messages of the text, each line once, with the one that decides."""
    lines = {one.line: one.text for one in answer.symptoms if one.role != "context"}
    hit = answer.causes[0].because[0].line if answer.causes and answer.causes[0].because else 0
    quote = tree.Quote(tuple(sorted(lines.items())[:most]), hit)
    return fold("What the program printed", quote) if lines else ()


def _facts(facts: dict[str, Any]) -> Iterator[tree.Pair]:
    """Every fact with its value and its source."""
    for subject, fields in facts.items():
        for name, fact in fields.items() if isinstance(fields, dict) else ():
            source = fact.get("source") if isinstance(fact, dict) else None
            where = ""
            if isinstance(source, dict):
                where = f"{source.get('where', '')} ({source.get('detail') or ''})"
            shown = (tree.Soft(where.removesuffix(" ()")),) if where else ""
            yield pair(f"{subject}.{name}", _flat(fact), shown, wide=True)


def _flat(value: Any) -> str:
    """A value on one line; facts inside it by their value."""
    if isinstance(value, dict):
        state = value.get("state")
        if state == "unknown":
            return f"unknown: {value.get('reason', '')}"
        if isinstance(state, str):
            return "absent" if state == "absent" else _flat(value.get("value"))
        return " ".join(f"{name}={_flat(one)}" for name, one in value.items())
    return ", ".join(map(_flat, value)) if isinstance(value, (list, tuple)) else str(value)
