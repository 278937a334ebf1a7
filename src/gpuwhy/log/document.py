"""Document: whether a text is a file that somebody wrote rather than what a program printed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from gpuwhy.log.expressions import Expressions

_E = Expressions("document")

LEAST = 10
"""Lines below which a text has no form of its own."""
CODED, WRITTEN = 0.6, 0.8
"""Which part of the lines is code; code, markup or sentences."""
LONG, PROSE = 40, 20
DENSE = 0.16
"""Which part of the words of prose are articles, prepositions and the like."""
STRAY = 0.01
"""Which part of a document may be examples of what a program prints."""
COMPLAINTS = 0.02
"""Sentences in the first person, for each line, above which a text is somebody's letter."""
SHARED, FEW = 0.15, 3
"""How many lines begin with the same name where a program prints it before each."""
FIRST, LAST = 2, 4
"""Lines at the beginning and at the end that tell what failed, if anything did."""
MOST = 1 << 15

_MARGIN = " >|\"'"
_REMARK = ("#", "//", "*")
ENTRIES, CHAPTERS = 2, 3


def is_document(text: str) -> bool:
    """Whether a text is a file that somebody wrote, and nothing in it was printed by a run."""
    text = text[:MOST]
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    if len(lines) < LEAST or _named_each(lines) or tells_an_end(lines):
        return False
    bare = [line.rstrip() for line in _E.quoted.sub(_as_remark, text).splitlines() if line.strip()]
    if sum(map(is_printed, bare)) > STRAY * len(bare):
        return False
    coded = sum(bool(_E.code.match(line)) for line in bare)
    prose = _is_prose(text, bare) and not _complains(text, len(bare))
    return coded >= CODED * len(bare) or prose


def is_guide(text: str) -> bool:
    """Whether a text tells under headings what to do in several cases, in nobody's name."""
    lines = [line for line in text[:MOST].splitlines() if line.strip()]
    printed = any(map(is_printed, lines))
    if _is_manual(text) or (_teaches(text) and not printed):
        return True
    heads = [line for line in lines if _E.head.match(line)]
    if len(heads) < ENTRIES or not _E.failed.search("".join(heads)):
        return False
    if _E.person.search(text) or printed:
        return False
    return all(
        _E.head.match(line) or "`" in line or len(_E.small.findall(line)) > 1 for line in lines
    )


def _is_manual(text: str) -> bool:
    """Whether chapters of sentences stand under headings, and printed lines only in examples."""
    prose = _E.example.sub("", text[:MOST])
    heads = _E.chapter.findall(prose)
    lines = [line for line in prose.splitlines() if line.strip()]
    few = len(heads) < CHAPTERS or len(lines) < PROSE
    if len(_E.directive.findall(text)) < ENTRIES and few:
        return False
    reports = sum(bool(_E.reports.search(head)) for head in heads)
    if (reports > 1 and reports * 5 > len(heads)) or _complains(text, len(lines)):
        return False
    if sum(map(is_printed, lines)) > STRAY * len(lines):
        return False
    return len(_E.small.findall(prose)) >= DENSE * len(_E.word.findall(prose))


def _teaches(text: str) -> bool:
    """Whether the words are those of sentences, and of a lesson."""
    marks = {found[0].lower() for found in _E.lesson.finditer(text)}
    dense = len(_E.small.findall(text)) >= DENSE * len(_E.word.findall(text))
    return len(marks) >= ENTRIES and dense


def somebody_asks(text: str) -> bool:
    """Whether somebody asks, or tells of what happened to them."""
    return (
        "?" in text
        or "？" in text
        or bool(_E.person.search(text) or _E.other_languages.search(text))
    )


def _as_remark(found: re.Match[str]) -> str:
    return "\n".join("#" for _ in found[0].split("\n"))


def is_printed(line: str) -> bool:
    """Whether a line has the form of one that a program prints; a remark in a source has none."""
    if line.lstrip().startswith(_REMARK) and not line.startswith("#"):
        return False
    if _E.printed.match(line) or _E.printed.match(line.lstrip(_MARGIN)):
        return True
    return bool(_E.printed_within.search(line))


def _named_each(lines: Sequence[str]) -> bool:
    """Whether one name stands before many lines: that of the program which prints them."""
    named = (one for one in map(_E.named.match, lines) if one)
    found = Counter(one["name"] or one["step"] or one["by"] for one in named)
    return bool(found) and max(found.values()) >= max(FEW, SHARED * len(lines))


def tells_an_end(lines: Sequence[str]) -> bool:
    """Whether one of the first or last lines tells of a failure."""
    return any(map(_tells, (*lines[:FIRST], *lines[-LAST:])))


def _tells(line: str) -> bool:
    """Whether a line tells of a failure in other form than that of code, or of a sentence."""
    if _E.headed.match(line):
        return True
    if line.startswith("    ") or not _E.failed.search(line) or _E.closes.match(line):
        return False
    return not _E.name.fullmatch(line) and len(_E.small.findall(line)) < FEW


def _is_prose(text: str, lines: Sequence[str]) -> bool:
    """Whether nearly all lines are sentences and markup, or the words are those of sentences."""
    if len(lines) >= LONG and sum(map(_written, lines)) >= WRITTEN * len(lines):
        return True
    small = len(_E.small.findall(text))
    return len(lines) >= PROSE and small >= DENSE * len(_E.word.findall(text))


def _written(line: str) -> bool:
    markup = line.startswith("  ") or bool(_E.code.match(line) or _E.markup.match(line))
    return markup or len(_E.small.findall(line)) > 1


def _complains(text: str, lines: int) -> bool:
    return len(_E.person.findall(text)) > COMPLAINTS * lines
