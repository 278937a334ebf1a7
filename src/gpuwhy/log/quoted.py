"""Quoted: whether a text only quotes a failure, in a string, a search's hit, a chat, a table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gpuwhy.log.document import is_printed, somebody_asks
from gpuwhy.log.expressions import Expressions, names

_E = Expressions("quoted")

TERSE = frozenset(names("quoted.names_terse"))
WORDS = 2
"""Words before a quotation that make it a part of a sentence."""


def in_a_string(line: str, start: int, end: int, family: str) -> bool:
    """Whether a message stands in a string of source text, a comment, or a sentence about it."""
    if _E.comment.match(line) or _E.statement.match(line):
        return True
    inside = (one for one in _E.string.finditer(line) if one.start() < start and end < one.end())
    string = next(inside, None)
    if string is None:
        return family in TERSE and _told_of(line[:start])
    before, after = line[: string.start()], line[string.end() :]
    if _E.attribute.search(before) or _E.slot.search(string[0]):
        return True
    if _E.operator.search(before) or _E.operated.match(after):
        return True
    called = _E.called.search(before)
    if called is not None:
        return called["name"][0].islower() and not _E.thrown.search(called["name"])
    set_to = bool(_E.set.search(before)) and after.rstrip()[:1] in (";", ",")
    return set_to or _mentioned(before, after)


def _mentioned(before: str, after: str) -> bool:
    """Whether a sentence mentions what stands in quotes in it, and does not complain of it."""
    asked = "?" in after and not _E.meant.search(after)
    if asked or _E.recorded.search(before) or _E.complains.search(f"{before} {after}"):
        return False
    return not _E.first_person.search(before) and len(_E.spoken.findall(before)) >= WORDS


def _told_of(before: str) -> bool:
    """Whether a sentence leads to a message that it only mentions."""
    before = _E.type.sub("", before)
    if len(_E.spoken.findall(before)) <= WORDS or not _E.links.search(before):
        return False
    return not _E.suffers.search(before)


class Form(NamedTuple):
    """What a text is besides the output of one program."""

    over: bool = False  # a notice on something that is over
    hits: frozenset[int] = frozenset()  # lines of other files, of a history, of a chat
    rows: frozenset[int] = frozenset()  # rows of a table or list, each about another thing

    def joined(self, other: Form) -> Form:
        """What either says."""
        over = self.over or other.over
        return Form(over, self.hits | other.hits, self.rows | other.rows)


ROWS = 3
QUOTES, PROSE, AROUND = 2, 40, 8


def form_of(text: str) -> Form:
    """The form of a whole text."""
    lines = text.split("\n")
    there = [at for at, line in enumerate(lines, 1) if line.strip()]
    return Form(
        over=_E.over.match(text) is not None,
        hits=frozenset((*_hits(lines, there), *_discussed(text, lines, there))),
        rows=frozenset(_rows(lines, there)),
    )


def _hits(lines: Sequence[str], there: Sequence[int]) -> Iterator[int]:
    """The lines that a search found, that a version control tells, or that a chat quotes."""
    yield from _mostly(_E.hit, lines, there)
    if there and any(_E.file.match(lines[at - 1]) for at in (there[0], there[0] - 1) if at):
        yield from (at for at in there if _E.hit_below.match(lines[at - 1]))
    yield from (at for at in there if _E.searches.match(lines[at - 1]))
    if _mostly(_E.subject, lines, there) or any(
        _E.subject.match(lines[at - 1]) for at in there[:1]
    ):
        yield from there


def _discussed(text: str, lines: Sequence[str], there: Sequence[int]) -> Iterator[int]:
    """The lines that quote an error, where nobody asks and no program speaks."""
    quoted = {found[0] for found in _E.errors.finditer(text)}
    essay = len(text.split()) >= PROSE and len(_E.sentence.findall(text)) > QUOTES
    if len(quoted) < (1 if essay else QUOTES) or somebody_asks(text):
        return
    if any(is_printed(lines[at - 1]) for at in there):
        return
    for at in there:
        around, times = _E.errors.subn("", lines[at - 1])
        if times and len(around.strip()) >= AROUND:
            yield at


def _mostly(form: re.Pattern[str], lines: Sequence[str], there: Sequence[int]) -> list[int]:
    """The lines of a form, where they are at least two, and half of the text."""
    found = [at for at in there if form.match(lines[at - 1])]
    return found if len(found) >= 2 and 2 * len(found) >= len(there) else []


def _rows(lines: Sequence[str], there: Sequence[int]) -> Iterator[int]:
    """The lines of a table of one width, or of a list of counts or items."""
    cells = {
        at: len(_E.cell.findall(lines[at - 1].strip()))
        for at in there
        if not _E.logged.search(lines[at - 1])
    }
    width = Counter(cells.values()).most_common(1)[0][0] if cells else 0
    wide = [at for at, count in cells.items() if count == width]
    if width >= 2 and len(wide) >= ROWS and len(wide) >= len(there) - 1:
        yield from wide
    for form in (_E.counted, _E.item):
        yield from _mostly(form, lines, there)
