"""Form: what a text is (output, a question, source, a listing), and which lines only quote."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gpuwhy.log.expressions import Expressions, names
from gpuwhy.log.log import Genre

_DOCUMENT, _GENRE = Expressions("document"), Expressions("genre")
_E = Expressions("quoted")

TERSE = frozenset(names("quoted.names_terse"))
WORDS = 2
"""Words before a quotation that make it a part of a sentence."""
LEAST, CODED = 10, 0.6
"""Lines below which a text has no form of its own; which part of the lines of a source is code."""
DENSE = 0.16
"""Which part of the words of prose are articles, prepositions and the like."""
STRAY = 0.01
"""Which part of a document may be examples of what a program prints."""
FEW = 3
"""Articles and the like that make a line a sentence."""
FIRST, LAST = 2, 4
"""Lines at the beginning and at the end that tell what failed, if anything did."""
MOST = 1 << 15
ENTRIES = 2
FEWEST, PLAINLY, DEPTHS = 5, 0.9, 3
"""Lines of a file of settings, which part of them is settings, and how deep they are nested."""
CODES = 4
"""Numbers explained one below the other: nobody prints so many ends of one program."""
ROWS, QUOTES, PROSE = 3, 2, 40
_MARGIN = " >|\"'"
_REMARK = ("#", "//", "*")


def genre_of(text: str, printed: bool) -> Genre:
    """What a text is; `printed`: a program is known to have printed it."""
    if not text.strip():
        return "empty"
    if printed:
        return "output"
    if _GENRE.asks.match(text):
        return "question"
    if _explains(text) or _is_source(text) or _is_guide(text):
        return "source"
    if not _GENRE.ran.search(text):
        if _GENRE.history.search(text) or _GENRE.patch.search(text):
            return "source"
        lines = list(filter(str.strip, text.splitlines()[:400]))
        if _are_settings(lines) and not _GENRE.reported.search(text):
            return "source"
    return "listing" if _GENRE.listings.search(text[:4096]) else "output"


def _explains(text: str) -> bool:
    """Whether it is a list of exit codes, or what a program says of how to use it."""
    if _GENRE.refused.search(text):
        return False
    return len(set(_GENRE.codes.findall(text))) >= CODES or bool(_GENRE.usage.match(text))


def _are_settings(lines: Sequence[str]) -> bool:
    """Whether nearly all lines are nested settings."""
    depths = {len(line) - len(line.lstrip()) for line in lines}
    found = sum(bool(_GENRE.setting.match(line)) for line in lines)
    return len(lines) >= FEWEST and len(depths) >= DEPTHS and found >= PLAINLY * len(lines)


def _is_source(text: str) -> bool:
    """Whether a text is a program's source, and nothing in it was printed by a run."""
    text = text[:MOST]
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    if len(lines) < LEAST or _tells_an_end(lines):
        return False
    bare = _DOCUMENT.quoted.sub(lambda found: "#" + "\n#" * found[0].count("\n"), text)
    lines = [line.rstrip() for line in bare.splitlines() if line.strip()]
    if sum(map(is_printed, lines)) > STRAY * len(lines):
        return False
    return sum(bool(_DOCUMENT.code.match(line)) for line in lines) >= CODED * len(lines)


def _tells_an_end(lines: Sequence[str]) -> bool:
    """Whether one of the first or last lines tells of a failure."""
    return any(map(_tells, (*lines[:FIRST], *lines[-LAST:])))


def _tells(line: str) -> bool:
    """Whether a line tells of a failure in other form than that of code, or of a sentence."""
    if _DOCUMENT.headed.match(line):
        return True
    if line.startswith("    ") or not _DOCUMENT.failed.search(line) or _DOCUMENT.closes.match(line):
        return False
    return len(_DOCUMENT.small.findall(line)) < FEW


def _is_guide(text: str) -> bool:
    """Whether a text tells under headings what to do in several cases, in nobody's name."""
    lines = [line for line in text[:MOST].splitlines() if line.strip()]
    if any(map(is_printed, lines)):
        return False
    if _teaches(text):
        return True
    heads = [line for line in lines if _DOCUMENT.head.match(line)]
    return len(heads) >= ENTRIES and all(
        line in heads or len(_DOCUMENT.small.findall(line)) > 1 for line in lines
    )


def _teaches(text: str) -> bool:
    """Whether the words are those of sentences, and of a lesson."""
    marks = {found[0].lower() for found in _DOCUMENT.lesson.finditer(text)}
    small, words = _DOCUMENT.small.findall(text), _DOCUMENT.word.findall(text)
    return len(marks) >= ENTRIES and len(small) >= DENSE * len(words)


def somebody_asks(text: str) -> bool:
    """Whether somebody asks, or tells of what happened to them."""
    told = _DOCUMENT.person.search(text) or _DOCUMENT.other_languages.search(text)
    return "?" in text or "？" in text or told is not None


def is_printed(line: str) -> bool:
    """Whether a line has the form of one that a program prints; a remark in a source has none."""
    if line.lstrip().startswith(_REMARK) and not line.startswith("#"):
        return False
    if _DOCUMENT.printed.match(line) or _DOCUMENT.printed.match(line.lstrip(_MARGIN)):
        return True
    return bool(_DOCUMENT.printed_within.search(line))


# ---------------------------------------------------------------- what a line quotes


def in_a_string(line: str, start: int, end: int, family: str) -> bool:
    """Whether a message stands in a string of source text, a comment, or a sentence about it."""
    if _E.comment.match(line) or _E.statement.match(line):
        return True
    inside = (one for one in _E.string.finditer(line) if one.start() < start and end < one.end())
    string = next(inside, None)
    if string is None:
        return family in TERSE and _told_of(line[:start])
    before, after = line[: string.start()], line[string.end() :]
    if _E.slot.search(string[0]) or _E.operator.search(before) or _E.operated.match(after):
        return True
    if called := _E.called.search(before):
        return called["name"][0].islower()
    return _mentioned(before, after)


def _mentioned(before: str, after: str) -> bool:
    """Whether a sentence mentions what stands in quotes in it, and does not complain of it."""
    if "?" in after or _E.recorded.search(before) or _E.complains.search(f"{before} {after}"):
        return False
    return not _E.first_person.search(before) and len(_E.spoken.findall(before)) >= WORDS


def _told_of(before: str) -> bool:
    """Whether a sentence leads to a message that it only mentions."""
    before = _E.type.sub("", before)
    if len(_E.spoken.findall(before)) <= WORDS or not _E.links.search(before):
        return False
    return not _E.suffers.search(before)


# ---------------------------------------------------------------- which lines a text quotes


class Form(NamedTuple):
    """Lines of a text that are not the output of one program."""

    hits: frozenset[int] = frozenset()  # lines of other files, of a history, of a chat
    rows: frozenset[int] = frozenset()  # rows of a table or list, each about another thing

    def joined(self, other: Form) -> Form:
        """What either says."""
        return Form(self.hits | other.hits, self.rows | other.rows)


def form_of(text: str) -> Form:
    """The form of a whole text."""
    lines = text.split("\n")
    there = [at for at, line in enumerate(lines, 1) if line.strip()]
    hits = frozenset((*_hits(lines, there), *_discussed(text, lines, there)))
    return Form(hits, frozenset(_rows(lines, there)))


def _hits(lines: Sequence[str], there: Sequence[int]) -> Iterator[int]:
    """The lines that a search found."""
    yield from _mostly(_E.hit, lines, there)
    if any(_E.file.match(lines[at - 1]) for at in (*there[:1], there[0] - 1 if there else 0) if at):
        yield from (at for at in there if _E.hit_below.match(lines[at - 1]))
    yield from (at for at in there if _E.searches.match(lines[at - 1]))


def _discussed(text: str, lines: Sequence[str], there: Sequence[int]) -> Iterator[int]:
    """The lines that quote an error, where nobody asks and no program speaks."""
    quoted = {found[0] for found in _E.errors.finditer(text)}
    essay = len(text.split()) >= PROSE and len(_E.sentence.findall(text)) > QUOTES
    if len(quoted) < (1 if essay else QUOTES) or somebody_asks(text):
        return
    if not any(is_printed(lines[at - 1]) for at in there):
        yield from (at for at in there if _E.errors.search(lines[at - 1]))


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
