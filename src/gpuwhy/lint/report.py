"""Lint as a document, and as notes that build servers read."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from gpuwhy.answer.ci import Note
from gpuwhy.answer.tree import (
    Block,
    Code,
    Document,
    Fold,
    Heading,
    Line,
    Mark,
    Pair,
    Pairs,
    Paragraph,
    Soft,
)
from gpuwhy.lint.mistakes import Checked, Lint, Mistake, Place, Problem
from gpuwhy.lint.rules import Example, Rule


def document(lint: Lint, detail: int = 0) -> Document:
    """The findings by file and line; sources with `detail`."""
    blocks: list[Block] = [Heading((_headline(lint),), _mark(lint))]
    for file in lint.files:
        for one in file.mistakes:
            blocks += _block(one, detail)
        blocks += [_remark(one, "bad") for one in file.problems]
        blocks += [_remark(one, "none") for one in file.notes]
    if any(file.mistakes for file in lint.files) and not detail:
        blocks.append(Paragraph((Soft("why, and where it is known from: -v or --explain RULE"),)))
    return Document(tuple(blocks), title="gpuwhy lint", about=_about(lint))


def _block(one: Mistake, detail: int) -> list[Block]:
    said: Line = (f"{_where(one.place)}: {one.severity} {one.rule}: {one.text}",)
    rows = [Pair("Do this", ((one.fix,),))]
    if one.through:
        rows.append(Pair("Through", ((_where(one.through),),)))
    if detail:
        rows.append(Pair("Source", ((Soft(str(one.know)),),)))
    return [Heading(said, level=2), Pairs(tuple(rows))]  # no mark: editors read FILE:LINE first


def _remark(problem: Problem, mark: Mark) -> Block:
    kind = "unreadable" if mark == "bad" else "note"
    return Paragraph((f"{_where(problem.place)}: {kind}: {problem.text}",))


def _where(place: Place) -> str:
    return f"{place.path}:{place.line}" if place.line else place.path


def _mark(lint: Lint) -> Mark:
    counts = lint.counts
    if counts["error"] or counts["unreadable"]:
        return "bad"
    if not _seen(lint):
        return "none"
    return "warn" if counts["warning"] else "ok"


def _headline(lint: Lint) -> str:
    """2 errors, 1 warning in 3 files."""
    counts = lint.counts
    if not _seen(lint):
        return "nothing was checked: no file of a kind that lint reads"
    parts = [_many(counts[kind], kind) for kind in ("error", "warning") if counts[kind]]
    if counts["unreadable"]:
        parts.append(f"{_many(counts['unreadable'], 'file')} that cannot be read")
    ignored = sum(file.ignored for file in lint.files)
    after = f" ({ignored} ignored by comments)" if ignored else ""
    return f"{', '.join(parts) or 'nothing wrong'} in {_many(_seen(lint), 'file')}{after}"


def _seen(lint: Lint) -> int:
    """How many files were looked at; a kind that lint does not read is only noted."""
    return sum(bool(file.kind or file.problems or file.mistakes) for file in lint.files)


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _about(lint: Lint) -> str:
    return lint.files[0].path if len(lint.files) == 1 else ""


def notes(lint: Lint) -> tuple[Note, ...]:
    """A note for each mistake and each file that cannot be read."""
    return tuple(note for file in lint.files for note in _notes(file))


def _notes(file: Checked) -> list[Note]:
    found = [Note(one.path, one.line, "unreadable", text) for one, text in _problems(file)]
    for one in file.mistakes:
        text = f"{one.text}\nfix: {one.fix}\nknown from: {one.know}"
        found.append(Note(one.place.path, one.place.line, one.rule, text, one.severity))
    return found


def _problems(file: Checked) -> list[tuple[Place, str]]:
    return [(one.place, one.text) for one in file.problems]


def page(rule: Rule) -> Document:
    """The page of one rule: why, a file that breaks it, one that does not, the source."""
    title: Block = Heading((rule.title,), under=(f"{rule.id} · {rule.severity}",))
    tried = "" if rule.fired >= 3 else " It fired on fewer than three real files so far."
    blocks: list[Block] = [title, Paragraph((rule.why + tried,))]
    for name, examples in (("Bad", rule.bad), ("Good", rule.good)):
        for one in examples[:1]:
            blocks.append(Fold(name, (_shown(one),), open=True))
    return Document((*blocks, Paragraph((Soft(f"Source: {rule.source}"),))), title=rule.id)


def _shown(one: Example) -> Block:
    rows = [
        Pair(path, ((Code(text.rstrip("\n")),),), wide=True) for path, text in one.files.items()
    ]
    return Pairs(tuple(rows))


def hidden(given: tuple[Note, ...], hide: Callable[[str], str]) -> Iterator[Note]:
    """Notes without what must not be passed on, such as the password in an index's address."""
    for one in given:
        yield replace(one, text=hide(one.text))


def without_secrets(lint: Lint, hide: Callable[[str], str]) -> Lint:
    """The findings without what must not be passed on."""
    return Lint(tuple(_file(file, hide) for file in lint.files))


def _file(file: Checked, hide: Callable[[str], str]) -> Checked:
    mistakes = (replace(m, text=hide(m.text), fix=hide(m.fix)) for m in file.mistakes)
    problems = (replace(one, text=hide(one.text)) for one in file.problems)
    notes = (replace(one, text=hide(one.text)) for one in file.notes)
    return replace(file, mistakes=tuple(mistakes), problems=tuple(problems), notes=tuple(notes))
