"""A text with the certain corrections of its mistakes carried out, and nothing else changed."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from gpuwhy.lint.mistakes import Edit, Mistake


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
