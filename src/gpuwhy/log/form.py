"""Form: what a text is (output, a question, source, a listing), and which lines only quote."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from gpuwhy.log.expressions import Expressions, names
from gpuwhy.log.log import Genre

_DOCUMENT, _GENRE = Expressions("document"), Expressions("genre")
_E = Expressions("quoted")

MOST = 1 << 15
"""Characters of a text by which its form is judged."""
LEAST, CODED = 10, 0.6
"""Lines below which a text has no form of its own; which part of the lines of a source is code."""
STRAY = 0.01
"""Which part of a document may be examples of what a program prints."""
FIRST, LAST, FEW = 2, 4, 3
"""Lines at the beginning and at the end that tell what failed, if anything did; articles and the
like that make a line a sentence."""
FEWEST, PLAINLY, DEPTHS = 5, 0.9, 3
"""Lines of a file of settings, which part of them is settings, and how deep they are nested."""
ENTRIES, DENSE = 2, 0.16
"""Headings or words of a lesson; which part of the words of prose are articles and the like."""
CODES = 4
"""Numbers explained one below the other: nobody prints so many ends of one program."""


def genre_of(text: str, printed: bool) -> Genre:
    """What a text is; `printed`: a program is known to have printed it."""
    if not text.strip():
        return "empty"
    if printed:
        return "output"
    if _GENRE.asks.match(text):
        return "question"
    lists_codes = len(set(_GENRE.codes.findall(text))) >= CODES
    if (lists_codes or _GENRE.usage.match(text)) and not _GENRE.refused.search(text):
        return "source"
    if _is_source(text[:MOST]) or _is_guide(text[:MOST]):
        return "source"
    if not _GENRE.ran.search(text) and (
        _GENRE.history.search(text) or _GENRE.patch.search(text) or _is_settings(text)
    ):
        return "source"
    return "listing" if _GENRE.listings.search(text[:4096]) else "output"


def _is_settings(text: str) -> bool:
    """Whether nearly all lines are nested settings."""
    lines = list(filter(str.strip, text.splitlines()[:400]))
    depths = {len(line) - len(line.lstrip()) for line in lines}
    found = sum(bool(_GENRE.setting.match(line)) for line in lines)
    nested = len(lines) >= FEWEST and len(depths) >= DEPTHS and found >= PLAINLY * len(lines)
    return nested and not _GENRE.reported.search(text)


def _is_source(text: str) -> bool:
    """Whether a text is a program's source, and nothing in it was printed by a run."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    if len(lines) < LEAST or any(map(_tells, (*lines[:FIRST], *lines[-LAST:]))):
        return False
    bare = _DOCUMENT.quoted.sub(lambda found: "#" + "\n#" * found[0].count("\n"), text)
    lines = [line.rstrip() for line in bare.splitlines() if line.strip()]
    coded = sum(bool(_DOCUMENT.code.match(line)) for line in lines)
    return coded >= CODED * len(lines) and sum(map(is_printed, lines)) <= STRAY * len(lines)


def _tells(line: str) -> bool:
    """Whether a line tells of a failure in other form than that of code, or of a sentence."""
    if _DOCUMENT.headed.match(line):
        return True
    if line.startswith("    ") or not _DOCUMENT.failed.search(line) or _DOCUMENT.closes.match(line):
        return False
    return len(_DOCUMENT.small.findall(line)) < FEW


def _is_guide(text: str) -> bool:
    """Whether a text tells under headings what to do in several cases, in nobody's name."""
    lines = [line for line in text.splitlines() if line.strip()]
    if any(map(is_printed, lines)):
        return False
    lesson = {found[0].lower() for found in _DOCUMENT.lesson.finditer(text)}
    small, words = _DOCUMENT.small.findall(text), _DOCUMENT.word.findall(text)
    if len(lesson) >= ENTRIES and len(small) >= DENSE * len(words):
        return True
    others = [line for line in lines if not _DOCUMENT.head.match(line)]
    sentences = all(len(_DOCUMENT.small.findall(line)) > 1 for line in others)
    return len(lines) - len(others) >= ENTRIES and sentences


_MARGIN = " >|\"'"


def is_printed(line: str) -> bool:
    """Whether a line has the form of one that a program prints; a remark in a source has none."""
    if line.lstrip().startswith(("#", "//", "*")) and not line.startswith("#"):
        return False
    printed = _DOCUMENT.printed.match(line) or _DOCUMENT.printed.match(line.lstrip(_MARGIN))
    return bool(printed or _DOCUMENT.printed_within.search(line))


# ---------------------------------------------------------------- what a line quotes

TERSE = frozenset(names("quoted.names_terse"))
WORDS = 2
"""Words before a quotation that make it a part of a sentence."""


def in_a_string(line: str, start: int, end: int, family: str) -> bool:
    """Whether a message stands in a string of source text, a comment, or a sentence about it."""
    if _E.comment.match(line) or _E.statement.match(line):
        return True
    inside = (one for one in _E.string.finditer(line) if one.start() < start and end < one.end())
    string = next(inside, None)
    if string is None:  # a sentence may lead to a message that it only mentions
        before = _E.type.sub("", line[:start])
        told = len(_E.spoken.findall(before)) > WORDS and _E.links.search(before)
        return bool(family in TERSE and told and not _E.suffers.search(before))
    before, after = line[: string.start()], line[string.end() :]
    if _E.slot.search(string[0]) or _E.operator.search(before) or _E.operated.match(after):
        return True
    if called := _E.called.search(before):
        return called["name"][0].islower()
    # what stands in quotes is mentioned by a sentence that does not complain of it
    if "?" in after or _E.recorded.search(before) or _E.complains.search(f"{before} {after}"):
        return False
    return not _E.first_person.search(before) and len(_E.spoken.findall(before)) >= WORDS


# ---------------------------------------------------------------- which lines a text quotes

ROWS, QUOTES, PROSE = 3, 2, 40


class Form(NamedTuple):
    """Lines of a text that are not the output of one program."""

    hits: frozenset[int] = frozenset()  # lines of other files, of a history, of a chat
    rows: frozenset[int] = frozenset()  # rows of a table or list, each about another thing


def form_of(texts: Iterable[str]) -> Form:
    """The form of a whole text, with or without what stands before each line."""
    hits, rows = set[int](), set[int]()
    for text in texts:
        lines = {at: line for at, line in enumerate(text.split("\n"), 1) if line.strip()}
        hits.update(_found_by_a_search(lines), _discussed(text, lines))
        rows.update(_table(lines), _mostly(_E.counted, lines), _mostly(_E.item, lines))
    return Form(frozenset(hits), frozenset(rows))


def _mostly(form: re.Pattern[str], lines: dict[int, str]) -> list[int]:
    """The lines of a form, where they are at least two, and half of the text."""
    found = [at for at, line in lines.items() if form.match(line)]
    return found if len(found) >= 2 and 2 * len(found) >= len(lines) else []


def _found_by_a_search(lines: dict[int, str]) -> Iterator[int]:
    yield from _mostly(_E.hit, lines)
    below = bool(lines) and _E.file.match(next(iter(lines.values())))
    for at, line in lines.items():
        if _E.searches.match(line) or (below and _E.hit_below.match(line)):
            yield at


def _discussed(text: str, lines: dict[int, str]) -> Sequence[int]:
    """The lines that quote an error, where nobody asks and no program speaks."""
    quoted = {found[0] for found in _E.errors.finditer(text)}
    essay = len(text.split()) >= PROSE and len(_E.sentence.findall(text)) > QUOTES
    if len(quoted) < (1 if essay else QUOTES) or "?" in text or "？" in text:
        return ()
    if _DOCUMENT.person.search(text) or _DOCUMENT.other_languages.search(text):
        return ()  # somebody tells of what happened to them
    if any(map(is_printed, lines.values())):
        return ()
    return [at for at, line in lines.items() if _E.errors.search(line)]


def _table(lines: dict[int, str]) -> Sequence[int]:
    """The lines of a table of one width."""
    cells = {
        at: len(_E.cell.findall(line.strip()))
        for at, line in lines.items()
        if not _E.logged.search(line)
    }
    width = Counter(cells.values()).most_common(1)[0][0] if cells else 0
    wide = [at for at, count in cells.items() if count == width]
    return wide if width >= 2 and len(wide) >= max(ROWS, len(lines) - 1) else ()
