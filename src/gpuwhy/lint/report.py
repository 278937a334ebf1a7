"""Lint as a document, as notes that build servers read, and as corrections."""

import difflib
from collections.abc import Iterable

from gpuwhy.answer.blocks import pair, pairs
from gpuwhy.answer.ci import Note
from gpuwhy.answer.text import counted
from gpuwhy.answer.tree import Block, Code, Document, Fold, Heading, Mark, Paragraph, Soft
from gpuwhy.lint.mistakes import Edit, Lint, Mistake
from gpuwhy.lint.rules import Rule


def document(lint: Lint, detail: int = 0) -> Document:
    """The findings by file and line; sources with `detail`."""
    blocks: list[Block] = [_heading(lint)]
    for file in lint.files:
        for one in file.mistakes:
            source = pair("Source", (Soft(str(one.know)),)) if detail else None
            through = pair("Through", str(one.through)) if one.through else None
            # no mark: editors read FILE:LINE first
            said = f"{one.place}: {one.severity} {one.rule}: {one.text}"
            blocks.append(Heading((said,), level=2))
            blocks.append(pairs(pair("Do this", one.fix), through, source))
        for kind, remarks in (("unreadable", file.problems), ("note", file.notes)):
            blocks += [Paragraph((f"{one.place}: {kind}: {one.text}",)) for one in remarks]
    if lint.mistakes and not detail:
        blocks.append(Paragraph((Soft("why, and where it is known from: -v or --explain RULE"),)))
    about = lint.files[0].path if len(lint.files) == 1 else ""
    return Document(tuple(blocks), title="gpuwhy lint", about=about)


def _heading(lint: Lint) -> Heading:
    """2 errors, 1 warning in 3 files; a kind of file that lint does not read is only noted."""
    seen = sum(bool(file.kind or file.problems or file.mistakes) for file in lint.files)
    counts = lint.counts
    if not seen:
        return Heading(("nothing was checked: no file of a kind that lint reads",), "none")
    parts = [counted(counts[kind], kind) for kind in ("error", "warning") if counts[kind]]
    if counts["unreadable"]:
        parts.append(f"{counted(counts['unreadable'], 'file')} that cannot be read")
    ignored = sum(file.ignored for file in lint.files)
    after = f" ({ignored} ignored by comments)" if ignored else ""
    mark: Mark = "warn" if counts["warning"] else "ok"
    mark = "bad" if counts["error"] or counts["unreadable"] else mark
    said = f"{', '.join(parts) or 'nothing wrong'} in {counted(seen, 'file')}{after}"
    return Heading((said,), mark)


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
    tried = "" if rule.fired >= 3 else " It fired on fewer than three real files so far."
    blocks: list[Block] = [Heading((rule.title,), under=(f"{rule.id} · {rule.severity}",))]
    blocks.append(Paragraph((rule.why + tried,)))
    for name, one in (("Bad", rule.bad[0]), ("Good", rule.good[0])):
        codes = [(path, Code(text.rstrip("\n"))) for path, text in one.files.items()]
        rows = [pair(path, (code,), wide=True) for path, code in codes]
        blocks.append(Fold(name, (pairs(*rows),), open=True))
    return Document((*blocks, Paragraph((Soft(f"Source: {rule.source}"),))), title=rule.id)


def corrected(text: str, mistakes: Iterable[Mistake]) -> tuple[str, int]:
    """The text after every edit that finds its words once on its line; and how many were made."""
    lines = text.split("\n")
    made = 0
    for mistake in sorted(mistakes, key=lambda m: -m.place.line):
        number = mistake.place.line - 1
        if mistake.edit and 0 <= number < len(lines):
            changed = _changed(lines[number], mistake.edit)
            lines[number : number + 1] = changed or [lines[number]]
            made += bool(changed)
    return "\n".join(lines), made


def _changed(line: str, edit: Edit) -> list[str]:
    """A line after an edit; [] where the words to replace are not there just once."""
    old, new, ending = edit.old, edit.new, "\r" if line.endswith("\r") else ""
    if not old or line.count(old) != 1:
        return []
    if new.startswith(old + "\n"):
        return [line, new[len(old) + 1 :] + ending]
    if new.endswith("\n" + old):
        return [new[: -len(old) - 1] + ending, line]
    if new.startswith('"'):  # a word for a shell, in quotes that its line does not use
        before, _, after = line.partition(old)
        new = new.strip('"')
        if not (before[-1:] == after[:1] and before[-1:] in ("'", '"')):
            sign = next((sign for sign in "\"'" if sign not in line), "")
            new = f"{sign}{new}{sign}" if sign else ""
    return [line.replace(old, new)] if new else []


def difference(path: str, before: str, after: str) -> str:
    """A unified diff of one file."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    made = difflib.unified_diff(old, new, f"a/{path}", f"b/{path}")
    return "".join(
        line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in made
    )
