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
from gpuwhy.symptoms.document import is_asked, is_printed

_STRING = re.compile(
    r"\"(?:[^\"\\\n]|\\.){0,600}\"|(?<!\w)'(?:[^'\\\n]|\\.|'(?=\w)){0,600}'(?!\w)|``?[^`\n]{0,600}``?|“[^”\n]{0,600}”"
)
_CALLED = re.compile(r"(?P<name>\w+)[!?]?\((?:[^()\"'`\n]{0,80}, ?)?f?$")
_THROWN = re.compile(r"(?:err(?:or)?|exception|warning|failure|fault|ok|exit|abort|panic)$", re.IGNORECASE)
"""Names whose argument is what was thrown: the form in which an exception is printed, as a type's name before it."""
_OPERATOR = re.compile(r"(?:==|!=|=~|\b(?:in|eq|is|contains|match(?:es)?|includes?|case|when))\s*$")
_OPERATED = re.compile(r"\s*(?:==|!=|\bin\b|\bnot in\b)")
_SET = re.compile(r"(?:^|[(,{]\s*)(?:\w+ ){0,2}\w+(?:\[\])? = $")
_SLOT = re.compile(r"\t|%-?\d*[sdiufxv]\b|\{\w*\}(?!\})|\{\{ ?[$.]|\$\{?\w+\.\w")
"""Where a value is put into a message: this is the message's source; a tab is between values of a table."""
_COMMENT = re.compile(r"\s*(?://|/\*|\*\s|<!--|--\s)")
_ATTRIBUTE = re.compile(r"<[a-zA-Z][\w-]*(?: [^<>]*)? [\w-]+=$")
"""What stands before the value of an attribute in a web page."""
_STATEMENT = re.compile(
    r"\s*(?:insert into|update \w+ set|values ?\(|msg(?:id|str)\b|\(r?['\"]|\w+\{.*\} [\d.e+]+$)", re.IGNORECASE
)
"""How a line begins that puts a text into a table or a list, translates or counts it."""


TERSE = ("cuda", "cudnn", "cublas", "nccl", "nvml", "nvidia", "kernel", "memory", "loader", "program")
"""Speakers whose messages are told without a word before them."""


def literal(line: str, start: int, end: int, speaker: str) -> bool:
    """Whether a message of a speaker stands in a string of source text, in a comment, or in a sentence about it."""
    if _COMMENT.match(line):
        return True
    if _STATEMENT.match(line):
        return True
    string = _around(line, start, end)
    if string is None:
        return speaker in TERSE and _told_of(line[:start])
    before, after = line[: string.start()], line[string.end() :]
    if _ATTRIBUTE.search(before):
        return True
    if _SLOT.search(string[0]) or _OPERATOR.search(before) or _OPERATED.match(after):
        return True
    called = _CALLED.search(before)
    if called is not None:
        return called["name"][0].islower() and not _THROWN.search(called["name"])
    return (bool(_SET.search(before)) and after.rstrip()[:1] in (";", ",")) or _mentioned(before, after)


_RECORDED = re.compile(r"[:=\[{,]\s*$|[:=]\s*[({\[]\s*$|\bcaused\s*$|\.\w{1,4}:\d+: ")
"""What stands before a value that a program prints in quotes."""
_COMPLAINS = re.compile(
    r"\b(?:it|still|always|just|keeps?)\b.{0,60}\b(?:gets?|got|getting|receives?|encounters?|hits?|stuck)\b"
    r"|\b(?:fail(?:s|ing|ed)?|crash\w*|exit(?:s|ed)?|dies|stop(?:s|ped)?|end(?:s|ed)?) with\b"
    r"|\b(?:error|fatal|critical|exception|panic|warning)\b\W{0,3}(?:$|:|\])",
    re.IGNORECASE,
)
"""Words of somebody who has the failure, or of a program that reports it."""
_PERSON = re.compile(r"\b(?:i|i'm|i've|we|we're|my|our)\b", re.IGNORECASE)
_SPOKEN = re.compile(r"(?<![\w./-])[A-Za-z]?[a-z]+(?![\w./-])")
WORDS = 2
"""Words before a quotation that make it a part of a sentence."""


def _mentioned(before: str, after: str) -> bool:
    """Whether a sentence mentions what stands in quotes in it, and does not complain of it."""
    asked = "?" in after and not _MEANT.search(after)
    if asked or _RECORDED.search(before) or _COMPLAINS.search(f"{before} {after}") or _PERSON.search(before):
        return False
    return len(_SPOKEN.findall(before)) >= WORDS


_MEANT = re.compile(r"\W{0,3}(?:means?|stands? for)\b", re.IGNORECASE)
"""What follows a message that somebody asks the meaning of."""


_LINKS = re.compile(
    r"\b(?:the|an?|is|are|was|were|to|of|in|on|for|with|and|or|that|this|it|be|by|from|at|as|when|if|after|before|should"
    r"|will|can|but|so|only|which|than|says?|said|fix(?:es|ed)?|around|handle|add)\b",
    re.IGNORECASE,
)
"""Words that a sentence has, and a program's messages seldom before what they tell."""
_SUFFERS = re.compile(
    r"\b(?:i|i'm|we|my|our|fail\w*|unable|cannot|can't|can not|could not|couldn't|errors?|exception|gets?|got|getting"
    r"|crash\w*|return(?:s|ed)?|results?|help|not|stuck|due|because|terminated|killed|exit(?:s|ed)?|aborted)\b"
    r"|: |[=\]]\s*$|[?\[\](){}=]|\d\d:\d\d:\d\d",
    re.IGNORECASE,
)
"""Words and marks of somebody who has the failure, or of a program's report on it."""


def _told_of(before: str) -> bool:
    """Whether a sentence leads to a message that it only tells of."""
    before = _TYPE.sub("", before)
    if len(_SPOKEN.findall(before)) <= WORDS or not _LINKS.search(before):
        return False
    return not _SUFFERS.search(before)


_TYPE = re.compile(r"\b\w+(?:Error|Exception): $")


def _around(line: str, start: int, end: int) -> re.Match[str] | None:
    """The string that a part of a line stands in."""
    return next((one for one in _STRING.finditer(line) if one.start() < start and end < one.end()), None)


class Form(NamedTuple):
    """What a text is besides the output of one program: where it quotes, and whether it tells of tests."""

    over: bool = False  # a notice on something that is over
    tested: bool = False  # a test runner's report, of comparisons that ask no part of the stack
    hits: frozenset[int] = frozenset()  # lines of other files, of a history, of a chat
    rows: frozenset[int] = frozenset()  # lines of a table or a list, each of which tells of another thing
    warned: frozenset[int] = frozenset()  # lines below a heading that calls them a warning


def form_of(text: str) -> Form:
    """The form of a text, as it was given: before marks are taken off its lines, or broken ones made whole."""
    lines = text.split("\n")
    there = [at for at, line in enumerate(lines, 1) if line.strip()]
    return Form(
        over=_OVER.match(text) is not None,
        tested=_RUNNER.search(text) is not None and _compares(lines),
        hits=frozenset((*_hits(lines, there), *_discussed(text, lines, there))),
        rows=frozenset(_rows(lines, there)),
        warned=frozenset(_below_warnings(lines)),
    )


_HEADED = re.compile(r"\W{0,4}(?:[\w'-]+ ){0,8}warnings?:?\W{0,4}$", re.IGNORECASE)
"""A heading that calls what follows, up to an empty line, a warning."""
_PROMPT = re.compile(r"\S{0,60}[$#>❯] \S")


def _below_warnings(lines: Sequence[str]) -> Iterator[int]:
    """The lines of the paragraphs that such a heading begins."""
    headed = False
    for at, line in enumerate(lines, 1):
        if _HEADED.match(line):
            headed = True
        elif not line.strip() or _PROMPT.match(line):
            headed = False
        elif headed:
            yield at


_OVER = re.compile(
    r"\W{0,3}(?:resolved|recovered|closed|cleared)\b(?! to)"
    r"|\s*\.\. [a-z-]{3,20}::"
    r"|.{0,200}\b(?:post-?mortem|(?:status|state)\W{1,3}(?:resolved|closed|recovered|fixed|done)\b)",
    re.IGNORECASE,
)
"""How a notice begins on something that is over, or a note of a manual."""
_TERM = re.compile(r"[*_=\s]{0,8}(?:[\w-]+ ){0,4}[\"“`].{4,200}[\"”`][*_=:\s]{0,8}$")
"""What is explained by the indented lines below it, in a manual."""
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
_HIT_BELOW, _FILE = (
    re.compile(r"\d{1,6}[:-](?!\d)(?=\S|\s{2,}\S)"),
    re.compile(r"(?:\./)?[\w@+][\w./@+-]{0,200}\.\w{1,8}$"),
)
"""The same where a file's name stands alone, above what was found in it."""
_SUBJECT = re.compile(r"\^?[0-9a-f]{7,40} (?=[(\"A-Za-z])|\* [0-9a-f]{7,12} |commit [0-9a-f]{40}$")
"""What a version control puts before a change."""
_SAID = re.compile(
    r"(?:\[?\d{1,2}:\d\d(?::\d\d)?(?: ?[AaPp][Mm])?[\]:]? ?<?(?P<who>[A-Za-z][\w.-]{0,24})>?: "
    r"|<(?P<nick>[A-Za-z][\w.-]{0,24})> )(?P<what>.*)"
)
"""A line of a chat."""
_SOLVED = re.compile(r"\b(?:solved|fixed|resolved|works(?: now)?|since then fine|(?:fine|gone) now)\b", re.IGNORECASE)
_CONTENT = re.compile(
    r"\ball (?:is |are |looks? )?(?:green|good|fine|well)\b"
    r"|\b(?:solved|fixed|resolved|works|gone|great|healthy|closing)\b"
    r"|back to normal|looks? good|no (?:more )?(?:errors|xids?|problems)\b",
    re.IGNORECASE,
)
PARTING = 3
"""By which people say, in the last lines of a talk, that all is well."""
_SEARCHES = re.compile(
    r"\s*(?:\S*[$#%>❯]|PS [^>]{0,200}>) *(?:sudo )?"
    r"(?:[zefb]?grep|rg|ag|ack|git (?:grep|log)|findstr|Select-String|sls)\b"
)
"""A command that looks for words: they are its pattern, nobody's report."""
_COUNTED = re.compile(r"\s{2,}\d+ \S")
_ITEM = re.compile(
    r"\s*(?:[-*•+]|\d{1,2}[.)]) |\s*\d{1,3} {2,}\S"
    r"|\s*\{(?!.*\"(?:time\w*|ts|t|level|lvl|severity|@timestamp)\")|\s*\"[^\"\n]*\",?$"
)
_CELL = re.compile(r" {2,}|\t| \| |(?<=[^,\s]),(?=[^,\s])")
_LOGGED = re.compile(r"[\w./-]+\.\w{1,4}:\d+\]|^\S* ?\d\d:\d\d:\d\d")
ROWS = 3
"""Lines that make a table."""
QUOTES = 2
"""Errors in quotation marks that somebody talks about; a person who has one names that one."""
PROSE, _SENTENCE = 40, re.compile(r"\w{2}[.!。](?:\s|$)")
"""Words of a text, and ends of its sentences, that make an essay of it: there even one error is talked about."""
AROUND = 8
"""Characters around a quotation that make a sentence or a row of a table of it."""
_ERRORS = re.compile(
    r"(?<![=:\w\\])[\"`“„«「](?=[^\n]{0,120}(?:fail|error|out of memory|cannot|can't|could not|not found|not compiled"
    r"|no kernel|unable|invalid|denied|mismatch|fallen|illegal|no cuda|unsupported|timed out))"
    r"[^\"`“”„»「」\n]{6,120}[\"`“”»」]",
    re.IGNORECASE,
)


def _hits(lines: Sequence[str], there: Sequence[int]) -> Iterator[int]:
    """The lines that a search found, that a version control tells, or that a chat quotes."""
    yield from _mostly(_HIT, lines, there)
    if there and any(_FILE.match(lines[at - 1]) for at in (there[0], there[0] - 1) if at):
        yield from (at for at in there if _HIT_BELOW.match(lines[at - 1]))
    yield from (at for at in there if _SEARCHES.match(lines[at - 1]))
    yield from (at for at in there if _TERM.match(lines[at - 1]) and _explained(lines[at - 1 : at + 1]))
    if _mostly(_SUBJECT, lines, there) or any(_SUBJECT.match(lines[at - 1]) for at in there[:1]):
        yield from there
    yield from _chatted(lines, there)


def _chatted(lines: Sequence[str], there: Sequence[int]) -> Iterator[int]:
    """What is quoted, or told as solved, where several people talk."""
    said = {at: found for at in there if (found := _SAID.match(lines[at - 1]))}
    if len({one["who"] or one["nick"] for one in said.values()}) > 1 and len(said) * 2 > len(there):
        content = any(_CONTENT.search(one["what"]) for one in list(said.values())[-PARTING:])
        yield from (
            at for at, one in said.items() if content or _STRING.search(one["what"]) or _SOLVED.search(one["what"])
        )


def _discussed(text: str, lines: Sequence[str], there: Sequence[int]) -> Iterator[int]:
    """The lines that quote an error, in a text that quotes several, asks nothing, and in which no program speaks."""
    quoted = {found[0] for found in _ERRORS.finditer(text)}
    least = 1 if len(text.split()) >= PROSE and len(_SENTENCE.findall(text)) > QUOTES else QUOTES
    if len(quoted) < least or is_asked(text) or any(is_printed(lines[at - 1]) for at in there):
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
    collected, tested = _collected(symptoms, form), form.tested and not _raised(ending)

    def quoted(one: Symptom) -> bool:
        return form.over or collected or one.line in form.hits or (tested and one.speaker != "python")

    def judged(one: Symptom) -> Symptom:
        if not _fails(one) or one.seen is not None:
            return one
        return msgspec.structs.replace(
            one, borrowed=one.borrowed or quoted(one), warned=one.warned or one.line in form.warned
        )

    return tuple(map(judged, symptoms))


def _fails(one: Symptom) -> bool:
    return one.role in ("error", "echo")


def _collected(symptoms: Sequence[Symptom], form: Form) -> bool:
    """Whether all that failed stands in rows, and several of them tell of different parts."""
    errors = [one for one in symptoms if _fails(one) and one.speaker not in PLAIN]
    if len({one.signature for one in errors if one.speaker == "cuda"}) >= MANY:
        return True
    several = len({one.speaker for one in errors}) > 1 and len({one.line for one in errors}) > 1
    return several and all(one.line in form.rows for one in errors)


MANY = 4
"""Statuses that no program has one after another."""
PLAIN = ("title", "python")
"""Speakers whose words say little of what failed."""


def _raised(ending: Ending) -> bool:
    """Whether a test ended by what the stack raised, and not by a comparison."""
    all_of = (ending, *ending.chain)
    return any(one.kind == "exception" and not one.name.startswith(("Assertion", "Comparison")) for one in all_of)
