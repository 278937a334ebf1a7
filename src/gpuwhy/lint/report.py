"""Lint as a document, as notes that build servers read, and as corrections."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable

from msgspec.structs import replace

from gpuwhy.answer.ci import Note
from gpuwhy.answer.tree import (
    Block,
    Code,
    Document,
    Fold,
    Heading,
    Mark,
    Pair,
    Pairs,
    Paragraph,
    Soft,
)
from gpuwhy.lint.mistakes import Checked, Edit, Lint, Mistake, Place, Problem
from gpuwhy.lint.rules import Example, Rule


def document(lint: Lint, detail: int = 0) -> Document:
    """The findings by file and line; sources with `detail`."""
    blocks: list[Block] = [Heading((_headline(lint),), _mark(lint))]
    for file in lint.files:
        for one in file.mistakes:
            blocks += _block(one, detail)
        for kind, remarks in (("unreadable", file.problems), ("note", file.notes)):
            said = (f"{_where(one.place)}: {kind}: {one.text}" for one in remarks)
            blocks += [Paragraph((text,)) for text in said]
    if lint.mistakes and not detail:
        blocks.append(Paragraph((Soft("why, and where it is known from: -v or --explain RULE"),)))
    about = lint.files[0].path if len(lint.files) == 1 else ""
    return Document(tuple(blocks), title="gpuwhy lint", about=about)


def _block(one: Mistake, detail: int) -> list[Block]:
    said = f"{_where(one.place)}: {one.severity} {one.rule}: {one.text}"
    rows = [Pair("Do this", ((one.fix,),))]
    if one.through:
        rows.append(Pair("Through", ((_where(one.through),),)))
    if detail:
        rows.append(Pair("Source", ((Soft(str(one.know)),),)))
    return [Heading((said,), level=2), Pairs(tuple(rows))]  # no mark: editors read FILE:LINE first


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


def notes(lint: Lint) -> tuple[Note, ...]:
    """A note for each mistake and each file that cannot be read."""
    out = []
    for file in lint.files:
        for one in file.problems:
            out.append(Note(one.place.path, one.place.line, "unreadable", one.text))
        for found in file.mistakes:
            text = f"{found.text}\nfix: {found.fix}\nknown from: {found.know}"
            place = found.place
            out.append(Note(place.path, place.line, found.rule, text, found.severity))
    return tuple(out)


def page(rule: Rule) -> Document:
    """The page of one rule: why, a file that breaks it, one that does not, the source."""
    title: Block = Heading((rule.title,), under=(f"{rule.id} · {rule.severity}",))
    tried = "" if rule.fired >= 3 else " It fired on fewer than three real files so far."
    blocks: list[Block] = [title, Paragraph((rule.why + tried,))]
    for name, examples in (("Bad", rule.bad), ("Good", rule.good)):
        blocks += [Fold(name, (_shown(one),), open=True) for one in examples[:1]]
    return Document((*blocks, Paragraph((Soft(f"Source: {rule.source}"),))), title=rule.id)


def _shown(one: Example) -> Block:
    codes = {path: Code(text.rstrip("\n")) for path, text in one.files.items()}
    return Pairs(tuple(Pair(path, ((code,),), wide=True) for path, code in codes.items()))


def without_secrets(lint: Lint, hide: Callable[[str], str]) -> Lint:
    """The findings without what must not be passed on, such as an index's password."""
    return Lint(tuple(_file(file, hide) for file in lint.files))


def _file(file: Checked, hide: Callable[[str], str]) -> Checked:
    def plain(found: tuple[Problem, ...]) -> tuple[Problem, ...]:
        return tuple(replace(one, text=hide(one.text)) for one in found)

    mistakes = tuple(replace(m, text=hide(m.text), fix=hide(m.fix)) for m in file.mistakes)
    return replace(file, mistakes=mistakes, problems=plain(file.problems), notes=plain(file.notes))


def corrected(text: str, mistakes: Iterable[Mistake]) -> tuple[str, int]:
    """The text after every edit that finds its words once on its line; and how many were made."""
    lines = text.split("\n")
    made = 0
    for mistake in sorted(mistakes, key=lambda m: -m.place.line):
        number = mistake.place.line - 1
        if mistake.edit and 0 <= number < len(lines):
            changed = _changed(lines[number], mistake.edit)
            if changed is not None:
                lines[number : number + 1] = changed
                made += 1
    return "\n".join(lines), made


def _changed(line: str, edit: Edit) -> list[str] | None:
    """A line after an edit; None where the words to replace are not there just once."""
    ending = "\r" if line.endswith("\r") else ""
    if line.count(edit.old) != 1 or not edit.old:
        return None
    if edit.new.startswith(edit.old + "\n"):
        return [line, edit.new[len(edit.old) + 1 :] + ending]
    if edit.new.endswith("\n" + edit.old):
        return [edit.new[: -len(edit.old) - 1] + ending, line]
    new = _in_shell(line, edit) if edit.new.startswith('"') else edit.new
    return [line.replace(edit.old, new)] if new else None


def _in_shell(line: str, edit: Edit) -> str:
    """A word for a shell, in quotes that its line does not use; "" where it uses both kinds."""
    bare = edit.new.strip('"')
    at = line.index(edit.old)
    before, after = line[:at][-1:], line[at + len(edit.old) :][:1]
    if before == after and before in ("'", '"'):
        return bare
    sign = next((sign for sign in "\"'" if sign not in line), "")
    return f"{sign}{bare}{sign}" if sign else ""


def difference(path: str, before: str, after: str) -> str:
    """A unified diff of one file."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    made = difflib.unified_diff(old, new, f"a/{path}", f"b/{path}")
    return "".join(
        line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in made
    )
