"""Quoted: whether a text only quotes a failure, in a string, a search's hit, a chat, a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gpuwhy.log.document import is_printed, somebody_asks
from gpuwhy.log.expressions import Expression, names

_STRING = Expression("quoted.string")
_CALLED = Expression("quoted.called")
_THROWN = Expression("quoted.thrown")
_OPERATOR = Expression("quoted.operator")
_OPERATED = Expression("quoted.operated")
_SET = Expression("quoted.set")
_SLOT = Expression("quoted.slot")
_COMMENT = Expression("quoted.comment")
_ATTRIBUTE = Expression("quoted.attribute")
_STATEMENT = Expression("quoted.statement")
TERSE = frozenset(names("quoted.names_terse"))
_RECORDED = Expression("quoted.recorded")
_COMPLAINS = Expression("quoted.complains")
_FIRST_PERSON = Expression("quoted.first_person")
_SPOKEN = Expression("quoted.spoken")
_MEANT = Expression("quoted.meant")
WORDS = 2
"""Words before a quotation that make it a part of a sentence."""
_LINKS = Expression("quoted.links")
_SUFFERS = Expression("quoted.suffers")
_TYPE = Expression("quoted.type")


def in_a_string(line: str, start: int, end: int, family: str) -> bool:
    """Whether a message stands in a string of source text, a comment, or a sentence about it."""
    if _COMMENT.match(line) or _STATEMENT.match(line):
        return True
    inside = (one for one in _STRING.finditer(line) if one.start() < start and end < one.end())
    string = next(inside, None)
    if string is None:
        return family in TERSE and _told_of(line[:start])
    before, after = line[: string.start()], line[string.end() :]
    if _ATTRIBUTE.search(before) or _SLOT.search(string[0]):
        return True
    if _OPERATOR.search(before) or _OPERATED.match(after):
        return True
    called = _CALLED.search(before)
    if called is not None:
        return called["name"][0].islower() and not _THROWN.search(called["name"])
    set_to = bool(_SET.search(before)) and after.rstrip()[:1] in (";", ",")
    return set_to or _mentioned(before, after)


def _mentioned(before: str, after: str) -> bool:
    """Whether a sentence mentions what stands in quotes in it, and does not complain of it."""
    asked = "?" in after and not _MEANT.search(after)
    if asked or _RECORDED.search(before) or _COMPLAINS.search(f"{before} {after}"):
        return False
    return not _FIRST_PERSON.search(before) and len(_SPOKEN.findall(before)) >= WORDS


def _told_of(before: str) -> bool:
    """Whether a sentence leads to a message that it only mentions."""
    before = _TYPE.sub("", before)
    if len(_SPOKEN.findall(before)) <= WORDS or not _LINKS.search(before):
        return False
    return not _SUFFERS.search(before)


class Form(NamedTuple):
    """What a text is besides the output of one program."""

    over: bool = False  # a notice on something that is over
    tested: bool = False  # a test runner's report of comparisons that ask no part of the stack
    hits: frozenset[int] = frozenset()  # lines of other files, of a history, of a chat
    rows: frozenset[int] = frozenset()  # rows of a table or list, each about another thing
    warned: frozenset[int] = frozenset()  # lines below a heading that calls them a warning

    def joined(self, other: Form) -> Form:
        """What either says."""
        sets = [getattr(self, one) | getattr(other, one) for one in ("hits", "rows", "warned")]
        return Form(self.over or other.over, self.tested or other.tested, *sets)


_HEADED = Expression("quoted.headed")
_PROMPT = Expression("quoted.prompt")
_OVER = Expression("quoted.over")
_TERM = Expression("quoted.term")
_RUNNER = Expression("quoted.runner")
_LABEL = Expression("quoted.label")
_ASKS_STACK = Expression("quoted.asks_stack")
_HIT = Expression("quoted.hit")
_HIT_BELOW = Expression("quoted.hit_below")
_FILE = Expression("quoted.file")
_SUBJECT = Expression("quoted.subject")
_SAID = Expression("quoted.said")
_SOLVED = Expression("quoted.solved")
_CONTENT = Expression("quoted.content")
PARTING = 3
_SEARCHES = Expression("quoted.searches")
_COUNTED = Expression("quoted.counted")
_ITEM = Expression("quoted.item")
_CELL = Expression("quoted.cell")
_LOGGED = Expression("quoted.logged")
ROWS = 3
QUOTES, PROSE, AROUND = 2, 40, 8
_SENTENCE = Expression("quoted.sentence")
_ERRORS = Expression("quoted.errors")


def form_of(text: str) -> Form:
    """The form of a whole text."""
    lines = text.split("\n")
    there = [at for at, line in enumerate(lines, 1) if line.strip()]
    return Form(
        over=_OVER.match(text) is not None,
        tested=_RUNNER.search(text) is not None and _compares(lines),
        hits=frozenset((*_hits(lines, there), *_discussed(text, lines, there))),
        rows=frozenset(_rows(lines, there)),
        warned=frozenset(_below_warnings(lines)),
    )


def _below_warnings(lines: Sequence[str]) -> Iterator[int]:
    """The lines of the paragraph below a heading that calls them a warning."""
    headed = False
    for at, line in enumerate(lines, 1):
        if _HEADED.match(line):
            headed = True
        elif not line.strip() or _PROMPT.match(line):
            headed = False
        elif headed:
            yield at


def _compares(lines: Sequence[str]) -> bool:
    """Whether a report tells of comparisons, and no test in it asks the stack."""
    asks = any(_ASKS_STACK.search(_STRING.sub("", line)) for line in lines)
    return not asks and any(map(_LABEL.match, lines))


def _hits(lines: Sequence[str], there: Sequence[int]) -> Iterator[int]:
    """The lines that a search found, that a version control tells, or that a chat quotes."""
    yield from _mostly(_HIT, lines, there)
    if there and any(_FILE.match(lines[at - 1]) for at in (there[0], there[0] - 1) if at):
        yield from (at for at in there if _HIT_BELOW.match(lines[at - 1]))
    yield from (at for at in there if _SEARCHES.match(lines[at - 1]))
    for at in there:
        if _TERM.match(lines[at - 1]) and _explained(lines[at - 1 : at + 1]):
            yield at
    if _mostly(_SUBJECT, lines, there) or any(_SUBJECT.match(lines[at - 1]) for at in there[:1]):
        yield from there
    yield from _chatted(lines, there)


def _chatted(lines: Sequence[str], there: Sequence[int]) -> Iterator[int]:
    """What is quoted, or called solved, where several people talk."""
    said = {at: found for at in there if (found := _SAID.match(lines[at - 1]))}
    people = {one["who"] or one["nick"] for one in said.values()}
    if len(people) < 2 or len(said) * 2 <= len(there):
        return
    content = any(_CONTENT.search(one["what"]) for one in list(said.values())[-PARTING:])
    for at, one in said.items():
        if content or _STRING.search(one["what"]) or _SOLVED.search(one["what"]):
            yield at


def _discussed(text: str, lines: Sequence[str], there: Sequence[int]) -> Iterator[int]:
    """The lines that quote an error, where nobody asks and no program speaks."""
    quoted = {found[0] for found in _ERRORS.finditer(text)}
    essay = len(text.split()) >= PROSE and len(_SENTENCE.findall(text)) > QUOTES
    if len(quoted) < (1 if essay else QUOTES) or somebody_asks(text):
        return
    if any(is_printed(lines[at - 1]) for at in there):
        return
    for at in there:
        around, times = _ERRORS.subn("", lines[at - 1])
        if times and len(around.strip()) >= AROUND:
            yield at


def _explained(pair: Sequence[str]) -> bool:
    """Whether a line is followed by an indented sentence."""
    below = pair[-1]
    deeper = len(below) - len(below.lstrip()) > len(pair[0]) - len(pair[0].lstrip())
    return len(pair) > 1 and deeper and len(_SPOKEN.findall(below)) > 2 * WORDS


def _mostly(form: Expression, lines: Sequence[str], there: Sequence[int]) -> list[int]:
    """The lines of a form, where they are at least two, and half of the text."""
    found = [at for at in there if form.match(lines[at - 1])]
    return found if len(found) >= 2 and 2 * len(found) >= len(there) else []


def _rows(lines: Sequence[str], there: Sequence[int]) -> Iterator[int]:
    """The lines of a table of one width, or of a list of counts or items."""
    cells = {
        at: len(_CELL.findall(lines[at - 1].strip()))
        for at in there
        if not _LOGGED.search(lines[at - 1])
    }
    width = Counter(cells.values()).most_common(1)[0][0] if cells else 0
    wide = [at for at, count in cells.items() if count == width]
    if width >= 2 and len(wide) >= ROWS and len(wide) >= len(there) - 1:
        yield from wide
    for form in (_COUNTED, _ITEM):
        yield from _mostly(form, lines, there)
