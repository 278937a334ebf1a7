"""Quoted: whether a text only quotes a failure, in a string, a search's hit, a chat, a table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gpuwhy.log.document import is_printed, somebody_asks

_STRING = re.compile(
    r"\"(?:[^\"\\\n]|\\.){0,600}\"|(?<!\w)'(?:[^'\\\n]|\\.|'(?=\w)){0,600}'(?!\w)"
    r"|``?[^`\n]{0,600}``?|“[^”\n]{0,600}”"
)
_CALLED = re.compile(r"(?P<name>\w+)[!?]?\((?:[^()\"'`\n]{0,80}, ?)?f?$")
_THROWN = re.compile(
    r"(?:err(?:or)?|exception|warning|failure|fault|ok|exit|abort|panic)$", re.IGNORECASE
)
"""Names whose argument is what was thrown: so an exception is printed."""
_OPERATOR = re.compile(r"(?:==|!=|=~|\b(?:in|eq|is|contains|match(?:es)?|includes?|case|when))\s*$")
_OPERATED = re.compile(r"\s*(?:==|!=|\bin\b|\bnot in\b)")
_SET = re.compile(r"(?:^|[(,{]\s*)(?:\w+ ){0,2}\w+(?:\[\])? = $")
_SLOT = re.compile(r"\t|%-?\d*[sdiufxv]\b|\{\w*\}(?!\})|\{\{ ?[$.]|\$\{?\w+\.\w")
"""Where a value is put into a message: this is the message's source."""
_COMMENT = re.compile(r"\s*(?://|/\*|\*\s|<!--|--\s)")
_ATTRIBUTE = re.compile(r"<[a-zA-Z][\w-]*(?: [^<>]*)? [\w-]+=$")
_STATEMENT = re.compile(
    r"\s*(?:insert into|update \w+ set|values ?\(|msg(?:id|str)\b|\(r?['\"]"
    r"|\w+\{.*\} [\d.e+]+$)",
    re.IGNORECASE,
)
"""How a line begins that puts a text into a table or a list, translates or counts it."""
TERSE = frozenset(
    ("cuda", "cudnn", "cublas", "nccl", "nvml", "nvidia", "kernel", "memory", "loader", "program")
)
"""Families whose messages are printed without a word before them."""
_RECORDED = re.compile(r"[:=\[{,]\s*$|[:=]\s*[({\[]\s*$|\bcaused\s*$|\.\w{1,4}:\d+: ")
"""What stands before a value that a program prints in quotes."""
_COMPLAINS = re.compile(
    r"\b(?:it|still|always|just|keeps?)\b.{0,60}"
    r"\b(?:gets?|got|getting|receives?|encounters?|hits?|stuck)\b"
    r"|\b(?:fail(?:s|ing|ed)?|crash\w*|exit(?:s|ed)?|dies|stop(?:s|ped)?|end(?:s|ed)?) with\b"
    r"|\b(?:error|fatal|critical|exception|panic|warning)\b\W{0,3}(?:$|:|\])",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(?:i|i'm|i've|we|we're|my|our)\b", re.IGNORECASE)
_SPOKEN = re.compile(r"(?<![\w./-])[A-Za-z]?[a-z]+(?![\w./-])")
_MEANT = re.compile(r"\W{0,3}(?:means?|stands? for)\b", re.IGNORECASE)
WORDS = 2
"""Words before a quotation that make it a part of a sentence."""
_LINKS = re.compile(
    r"\b(?:the|an?|is|are|was|were|to|of|in|on|for|with|and|or|that|this|it|be|by|from|at|as|when"
    r"|if|after|before|should|will|can|but|so|only|which|than|says?|said|fix(?:es|ed)?|around"
    r"|handle|add)\b",
    re.IGNORECASE,
)
_SUFFERS = re.compile(
    r"\b(?:i|i'm|we|my|our|fail\w*|unable|cannot|can't|can not|could not|couldn't|errors?"
    r"|exception|gets?|got|getting|crash\w*|return(?:s|ed)?|results?|help|not|stuck|due|because"
    r"|terminated|killed|exit(?:s|ed)?|aborted)\b"
    r"|: |[=\]]\s*$|[?\[\](){}=]|\d\d:\d\d:\d\d",
    re.IGNORECASE,
)
_TYPE = re.compile(r"\b\w+(?:Error|Exception): $")


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


_HEADED = re.compile(r"\W{0,4}(?:[\w'-]+ ){0,8}warnings?:?\W{0,4}$", re.IGNORECASE)
_PROMPT = re.compile(r"\S{0,60}[$#>❯] \S")
_OVER = re.compile(
    r"\W{0,3}(?:resolved|recovered|closed|cleared)\b(?! to)|\s*\.\. [a-z-]{3,20}::"
    r"|.{0,200}\b(?:post-?mortem|(?:status|state)\W{1,3}(?:resolved|closed|recovered|fixed"
    r"|done)\b)",
    re.IGNORECASE,
)
_TERM = re.compile(r"[*_=\s]{0,8}(?:[\w-]+ ){0,4}[\"“`].{4,200}[\"”`][*_=:\s]{0,8}$")
_RUNNER = re.compile(
    r"\b\d+ (?:passed|failed|failing|failures?|examples?)\b|^--- FAIL|^FAIL\b"
    r"|\bTests run: \d|^test result: |\[  FAILED  \]|^FAILED \(|\d+% tests passed|^not ok \d"
    r"|^# fail \d",
    re.MULTILINE,
)
_LABEL = re.compile(
    r"\W*(?:E\s+)?[-+]?\s*(?:expected|want(?:ed)?|left|right|actual|got|received|found|which is"
    r"|input|diff|regex)\b[^:\n]{0,24}:|.*(?:\bbut (?:was|got)\b|, want \S|\.to(?:_|\b)\w*"
    r"|\bexpect\(|\bassert\w*!?[ (]|\bwhere .{1,200} = \w|\bnot found in\b)|E +[-+?] ",
    re.IGNORECASE,
)
_ASKS_STACK = re.compile(
    r"\bcu(?:da|blas|dnn|fft|rand|sparse|solver)?[A-Z]\w+\(|torch\.cuda|is_available"
    r"|list_physical|device_count|nvml[A-Z]\w+\(|cuda\(\)|device=|devices\("
)
_HIT = re.compile(
    r"(?:\./)?[\w@+][\w./@+-]{0,200}\.\w{1,8}[:-]"
    r"(?:\d+[:-](?!\d+:)(?:\s{2,}|(?=\S))|(?=\S)(?![\d\\/:-]))"
)
"""What a search puts before a line of a file: its name, and its number."""
_HIT_BELOW = re.compile(r"\d{1,6}[:-](?!\d)(?=\S|\s{2,}\S)")
_FILE = re.compile(r"(?:\./)?[\w@+][\w./@+-]{0,200}\.\w{1,8}$")
_SUBJECT = re.compile(r"\^?[0-9a-f]{7,40} (?=[(\"A-Za-z])|\* [0-9a-f]{7,12} |commit [0-9a-f]{40}$")
_SAID = re.compile(
    r"(?:\[?\d{1,2}:\d\d(?::\d\d)?(?: ?[AaPp][Mm])?[\]:]? ?<?(?P<who>[A-Za-z][\w.-]{0,24})>?: "
    r"|<(?P<nick>[A-Za-z][\w.-]{0,24})> )(?P<what>.*)"
)
_SOLVED = re.compile(
    r"\b(?:solved|fixed|resolved|works(?: now)?|since then fine|(?:fine|gone) now)\b",
    re.IGNORECASE,
)
_CONTENT = re.compile(
    r"\ball (?:is |are |looks? )?(?:green|good|fine|well)\b"
    r"|\b(?:solved|fixed|resolved|works|gone|great|healthy|closing)\b"
    r"|back to normal|looks? good|no (?:more )?(?:errors|xids?|problems)\b",
    re.IGNORECASE,
)
PARTING = 3
_SEARCHES = re.compile(
    r"\s*(?:\S*[$#%>❯]|PS [^>]{0,200}>) *(?:sudo )?"
    r"(?:[zefb]?grep|rg|ag|ack|git (?:grep|log)|findstr|Select-String|sls)\b"
)
_COUNTED = re.compile(r"\s{2,}\d+ \S")
_ITEM = re.compile(
    r"\s*(?:[-*•+]|\d{1,2}[.)]) |\s*\d{1,3} {2,}\S"
    r"|\s*\{(?!.*\"(?:time\w*|ts|t|level|lvl|severity|@timestamp)\")|\s*\"[^\"\n]*\",?$"
)
_CELL = re.compile(r" {2,}|\t| \| |(?<=[^,\s]),(?=[^,\s])")
_LOGGED = re.compile(r"[\w./-]+\.\w{1,4}:\d+\]|^\S* ?\d\d:\d\d:\d\d")
ROWS = 3
QUOTES, PROSE, AROUND = 2, 40, 8
_SENTENCE = re.compile(r"\w{2}[.!。](?:\s|$)")
_ERRORS = re.compile(
    r"(?<![=:\w\\])[\"`“„«「](?=[^\n]{0,120}(?:fail|error|out of memory|cannot|can't|could not"
    r"|not found|not compiled|no kernel|unable|invalid|denied|mismatch|fallen|illegal|no cuda"
    r"|unsupported|timed out))[^\"`“”„»「」\n]{6,120}[\"`“”»」]",
    re.IGNORECASE,
)


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


def _mostly(form: re.Pattern[str], lines: Sequence[str], there: Sequence[int]) -> list[int]:
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
