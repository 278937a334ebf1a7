"""Meant: a fix together with what it is for, and the choice among such fixes for the case at hand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec import structs

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.rooms.shared.commands import word
from gpuwhy.rooms.text.asked import TITLES, Asked


class Meant(msgspec.Struct, frozen=True):
    """A fix and its case: the messages, the line and the speakers it is for; where none is named it is for all.

    {names} in its text and command are the named groups of `line`, the fields of the deciding messages (in a command as
    one word of the shell), and {cu}, the suffix of NVIDIA's wheels.
    """

    fix: Fix
    said: tuple[str, ...] = ()  # how the signatures of the deciding messages begin
    line: str = ""  # what such a line holds
    by: tuple[str, ...] = ()  # the framework or tool that speaks
    more: bool = False  # what is made for the case, or common, follows it
    unless: tuple[str, ...] = ()  # the tools where it is not the way


def meant(
    text: str,
    command: str = "",
    *,
    said: str = "",
    line: str = "",
    by: str = "",
    unless: str = "",
    safe: bool = False,
    root: bool = False,
    reboot: bool = False,
    look: bool = False,
    more: bool = False,
    check: str = "gpuwhy check",
) -> Meant:
    """A row of a table; `said`, `by` and `unless` are words."""
    fix = Fix(text, command, safe, root, reboot, check, role="look" if look else "remedy")
    return Meant(fix, tuple(said.split()), line, tuple(by.split()), more, tuple(unless.split()))


_GAPS = re.compile(r"\{[a-z_]+\}")
"""A name in a command that nothing in the text filled."""


def of_output(rows: Iterable[Meant]) -> tuple[Meant, ...]:
    """The same rows for a cause that only a program's output shows: so it is checked by the next output."""
    return tuple(structs.replace(row, fix=structs.replace(row.fix, check="gpuwhy explain LOG")) for row in rows)


def exact(rows: Sequence[Meant], case: Asked) -> tuple[tuple[Fix, ...], bool]:
    """The fixes for the very messages, strongest first; and whether they are all: one is for the first line itself."""
    found: list[tuple[int, bool, Fix, bool]] = []
    for row in rows:
        if (row.said or row.line) and _speaks(row, case):
            place, fix = next(_places(row, case), (-1, row.fix))
            whole = not _GAPS.search(fix.command) or not _GAPS.search(row.fix.command)
            found += [(place, not _of_tool(row, case), fix, row.more)] if place >= 0 and whole else []
    found.sort(key=lambda one: one[:2])
    return tuple(fix for _, _, fix, _ in found), any(not place and not more for place, _, _, more in found)


def common(rows: Sequence[Meant], case: Asked) -> tuple[Fix, ...]:
    """The fixes for who speaks and for all; where that is nothing, whatever is not for somebody else."""
    free = [row for row in rows if not row.said and not row.line and _speaks(row, case)]
    free.sort(key=lambda row: not _of_tool(row, case))
    rest = [row for row in rows if not row.line and not row.said and not (case.programs and row.by)]
    return tuple(_filled(row.fix, {}, case) for row in free or rest)


def _speaks(row: Meant, case: Asked) -> bool:
    """Where no framework is known, those of every framework may be meant; a tool must have spoken."""
    if case.tools.intersection(row.unless):
        return False
    if not row.by or any(name in case.speakers for name in row.by):
        return True
    return not case.framework and not case.programs and all(name in TITLES for name in row.by)


def _of_tool(row: Meant, case: Asked) -> bool:
    """Whether it is for the very tool that speaks: such a row goes before those for everybody."""
    return bool(case.tools.intersection(row.by))


def _places(row: Meant, case: Asked) -> Iterator[tuple[int, Fix]]:
    """The places of the deciding lines that a row is for: 0 for the first line, and for all that is found on it."""
    for signature, line, place in case.behind:
        match = re.search(row.line, line, re.IGNORECASE)
        if match and (not row.said or signature.startswith(row.said)):
            yield place, _filled(row.fix, match.groupdict(), case)


def _filled(fix: Fix, groups: dict[str, str | None], case: Asked) -> Fix:
    text, command = fix.text, fix.command
    given = {"cu": case.suffix, **{name: value or "" for name, value in groups.items()}}
    for name, value in {**case.fields, **given}.items():
        text = text.replace(f"{{{name}}}", value)
        command = command.replace(f"{{{name}}}", value if name in given else word(value))
    return structs.replace(fix, text=on.as_said(text, fix.text), command=on.like(command, fix.command))
