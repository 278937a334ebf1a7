"""Voice: whose words a line is. A failure that a text only quotes did not happen to the program that printed it.

Words are quoted by a search's hits, by a version control's subjects, in source and its strings, as values that a test
compares, in a manual, in a chat, in a collection of what failed elsewhere. Each is known by the form of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from gpuwhy.model.ending import Ending
from gpuwhy.model.symptom import Symptom

_STRING = re.compile(r"\"(?:[^\"\\\n]|\\.){0,600}\"|(?<!\w)'(?:[^'\\\n]|\\.|'(?=\w)){0,600}'(?!\w)|`[^`\n]{0,600}`")
_CALLED = re.compile(r"(?P<name>\w+)[!?]?\((?:[^()\"'`\n]{0,80}, ?)?f?$")
_THROWN = re.compile(r"(?:err(?:or)?|exception|warning|failure|fault|ok|exit|abort|panic)$", re.IGNORECASE)
"""Names whose argument is what was thrown: the form in which an exception is printed, as a type's name before it."""
_OPERATOR = re.compile(r"(?:==|!=|=~|\b(?:in|eq|is|contains|match(?:es)?|includes?|case|when))\s*$")
_OPERATED = re.compile(r"\s*(?:==|!=|\bin\b|\bnot in\b)")
_SET = re.compile(r"(?:^|[(,{]\s*)(?:\w+ ){0,2}\w+(?:\[\])? = $")
_SLOT = re.compile(r"%-?\d*[sdiufxv]\b|\{\w*\}(?!\})|\{\{ ?[$.]|\$\{?\w+\.\w")
"""Where a value is put into a message: this is the message's source."""
_COMMENT = re.compile(r"\s*(?://|/\*|\*\s|<!--|--\s)")


def literal(line: str, start: int, end: int) -> bool:
    """Whether a part of a line stands in a string of source text, or in a comment."""
    if _COMMENT.match(line):
        return True
    string = _around(line, start, end)
    if string is None:
        return False
    before, after = line[: string.start()], line[string.end() :]
    if _SLOT.search(string[0]) or _OPERATOR.search(before) or _OPERATED.match(after):
        return True
    called = _CALLED.search(before)
    if called is not None:
        return called["name"][0].islower() and not _THROWN.search(called["name"])
    return bool(_SET.search(before)) and after.rstrip()[:1] in (";", ",")


def _around(line: str, start: int, end: int) -> re.Match[str] | None:
    """The string that a part of a line stands in."""
    return next((one for one in _STRING.finditer(line) if one.start() < start and end < one.end()), None)


class Form(NamedTuple):
    """What a text is besides the output of one program: where it quotes, and whether it tells of tests."""

    over: bool = False  # a notice on something that is over
    tested: bool = False  # a test runner's report, of comparisons that ask no part of the stack
    hits: frozenset[int] = frozenset()  # lines of other files, of a history, of a chat
    rows: frozenset[int] = frozenset()  # lines of a table or a list, each of which tells of another thing


def form_of(text: str) -> Form:
    """The form of a text, as it was given: before marks are taken off its lines, or broken ones made whole."""
    lines = text.split("\n")
    there = [at for at, line in enumerate(lines, 1) if line.strip()]
    return Form(
        over=_OVER.match(text) is not None,
        tested=_RUNNER.search(text) is not None and _compares(lines),
        hits=frozenset(_hits(lines, there)),
        rows=frozenset(_rows(lines, there)),
    )


_OVER = re.compile(r"\W{0,3}(?:resolved|recovered|closed|cleared)\b(?! to)", re.IGNORECASE)
"""The first word of a notice on something that is over."""
_RUNNER = re.compile(
    r"\b\d+ (?:passed|failed|failing|failures?|examples?)\b|^--- FAIL|^FAIL\b|\bTests run: \d|^test result: "
    r"|\[  FAILED  \]|^FAILED \(|\d+% tests passed|^not ok \d|^# fail \d",
    re.MULTILINE,
)
"""By which a test runner tells what came of its tests."""
_LABEL = re.compile(
    r"\W*(?:E\s+)?[-+]?\s*(?:expected|want(?:ed)?|left|right|actual|got|received|found|which is|input|diff|regex)\b"
    r"[^:\n]{0,24}:|.*(?:\bbut (?:was|got)\b|, want \S|\.to(?:_|\b)\w*|\bexpect\(|\bassert\w*!?[ (]"
    r"|\bwhere .{1,200} = \w|\bnot found in\b)|E +[-+?] ",
    re.IGNORECASE,
)
"""How the two sides of a comparison are told."""
_ASKS = re.compile(
    r"\bcu(?:da|blas|dnn|fft|rand|sparse|solver)?[A-Z]\w+\(|torch\.cuda|is_available|list_physical|device_count"
    r"|nvml[A-Z]\w+\(|cuda\(\)|device=|devices\("
)
"""By which a test asks the stack itself."""


def _compares(lines: Sequence[str]) -> bool:
    """Whether a report tells of comparisons, and no test in it asks the stack."""
    return any(map(_LABEL.match, lines)) and not any(_ASKS.search(_STRING.sub("", line)) for line in lines)


_HIT = re.compile(
    r"(?:\./)?[\w@+][\w./@+-]{0,200}\.\w{1,8}[:-](?:\d+[:-](?!\d+:)(?:\s{2,}|(?=\S))|(?=\S)(?![\d\\/:-]))"
)
"""What a search puts before a line of a file: its name, and its number."""
_SUBJECT = re.compile(r"\^?[0-9a-f]{7,40} (?=[(\"A-Za-z])|\* [0-9a-f]{7,12} |commit [0-9a-f]{40}$")
"""What a version control puts before a change."""
_SAID = re.compile(r"\[?\d{1,2}:\d\d(?::\d\d)?(?: ?[AaPp][Mm])?[\]:]? ?<?(?P<who>[A-Za-z][\w.-]{0,24})>?: (?P<what>.*)")
"""A line of a chat."""
_COUNTED = re.compile(r"\s{2,}\d+ \S")
_ITEM = re.compile(r"\s*(?:[-*•+]|\d{1,2}[.)]) |\s*\d{1,3} {2,}\S")
_CELL = re.compile(r" {2,}|\t| \| |(?<=[^,\s]),(?=[^,\s])")
_LOGGED = re.compile(r"[\w./-]+\.\w{1,4}:\d+\]|^\S* ?\d\d:\d\d:\d\d")
ROWS = 3
"""Lines that make a table."""


def _hits(lines: Sequence[str], there: Sequence[int]) -> Iterator[int]:
    """The lines that a search found, that a version control tells, or that a chat quotes."""
    hits = _mostly(_HIT, lines, there)
    yield from hits
    if _mostly(_SUBJECT, lines, there) or any(_SUBJECT.match(lines[at - 1]) for at in there[:1]):
        yield from there
    said = {at: found for at in there if (found := _SAID.match(lines[at - 1]))}
    if len({one["who"] for one in said.values()}) > 1 and len(said) * 2 > len(there):
        yield from (at for at, one in said.items() if _STRING.search(one["what"]))


def _mostly(form: re.Pattern[str], lines: Sequence[str], there: Sequence[int]) -> list[int]:
    """The lines of a form, where they are at least two, and half of the text."""
    found = [at for at in there if form.match(lines[at - 1])]
    return found if len(found) >= 2 and 2 * len(found) >= len(there) else []


def _rows(lines: Sequence[str], there: Sequence[int]) -> Iterator[int]:
    """The lines of a table of one width, or of a list of counts or items."""
    cells = {at: len(_CELL.findall(lines[at - 1].strip())) for at in there if not _LOGGED.search(lines[at - 1])}
    width = max(set(cells.values()), key=list(cells.values()).count, default=0)
    wide = [at for at, count in cells.items() if count == width]
    if width >= 2 and len(wide) >= ROWS and len(wide) >= len(there) - 1:
        yield from wide
    for form in (_COUNTED, _ITEM):
        yield from _mostly(form, lines, there)


def marked(symptoms: Sequence[Symptom], form: Form, ending: Ending) -> tuple[Symptom, ...]:
    """The symptoms; those that the text only quotes are borrowed."""
    lines = form.hits | form.rows if _collected(symptoms, form) else form.hits
    tested = form.tested and not _raised(ending)

    def quoted(one: Symptom) -> bool:
        return form.over or one.line in lines or (tested and one.speaker != "python")

    return tuple(
        msgspec.structs.replace(one, borrowed=True) if _fails(one) and one.seen is None and quoted(one) else one
        for one in symptoms
    )


def _fails(one: Symptom) -> bool:
    return one.role in ("error", "echo")


def _collected(symptoms: Sequence[Symptom], form: Form) -> bool:
    """Whether all that failed stands in rows, and several of them tell of different parts."""
    errors = [one for one in symptoms if _fails(one) and one.speaker not in PLAIN]
    several = len({one.speaker for one in errors}) > 1 and len({one.line for one in errors}) > 1
    return several and all(one.line in form.rows for one in errors)


PLAIN = ("title", "python")
"""Speakers whose words say little of what failed."""


def _raised(ending: Ending) -> bool:
    """Whether a test ended by what the stack raised, and not by a comparison."""
    all_of = (ending, *ending.chain)
    return any(one.kind == "exception" and not one.name.startswith(("Assertion", "Comparison")) for one in all_of)
