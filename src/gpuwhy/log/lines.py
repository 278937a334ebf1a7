"""Lines: decoded bytes become lines without colours, prefixes and escapes, each with its number.

Lines that were wrapped are made whole, and keep their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from gpuwhy.log.expressions import Expressions
from gpuwhy.log.tracebacks import TRACEBACKS

_WRAP = Expressions("wrap")
_E = Expressions("lines")

WIDE = 1 << 16
"""Characters of one line that are kept."""


class Line(NamedTuple):
    """One line, or a piece of one that a carriage return began."""

    number: int  # from 1
    raw: str  # without colours and escapes
    text: str  # without prefixes and the spaces around it
    bare: str  # without prefixes, its indentation kept
    rank: str = ""  # the process of a job that printed it: "1", "pid=812", "app-1"


_ANSI = re.compile(
    rb"\x1b(?:\[[0-9;?]{0,40}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[@-Z\\^_])"
)
_QUOTED = re.compile(rb"""^(?:\{"|b?["'])[^\n]*\\n[^\n]*$""", re.MULTILINE)
_ESCAPED = re.compile(rb"(?<!\\)\\(?:r\\)?n")
_ESCAPES = re.compile(rb"""\\([\\"'/t])""")
_RECORD = re.compile(
    rb'^\{(?![^\n]*"(?:error|err|exception|stack\w*|traceback)":)[^\n]{0,400}?'
    rb'"(?:log|msg|message|text)": ?"((?:[^"\\\n]|\\.)*)"[^\n]*\}[ \t]*$',
    re.MULTILINE,
)
"""A record in JSON: its message is what the program said."""
_CELL = re.compile(rb'^[ \t]*"((?:[^"\\\n]|\\[^n])*)(?:\\n)?",?[ \t]*$', re.MULTILINE)
"""A line of output in a notebook's file, or of a traceback that a record keeps as a list."""
_KEPT = re.compile(
    rb"""(["']?)(Traceback \(most recent call last\):(?:\\n|#012|["'],? ?["'])[^\n]*)$""",
    re.MULTILINE,
)
"""A traceback that is kept in one line: as one text, or as a list of its lines."""
_LISTED = re.compile(rb"""(?<!\\)["'], ?["']""")
_WEB = re.compile(
    rb"</?(?:br|p|pre|code|details|summary|span|div|li|td|tr|samp|kbd|b|i|strong|em)"
    rb"(?: [^<>\n]{0,80})?/?>"
)
_ENTITY = re.compile(rb"&(#39|#x27|apos|quot|gt|lt|amp|nbsp|#10|#xA|#13);", re.IGNORECASE)
_CHARACTERS = {
    b"quot": b'"',
    b"gt": b">",
    b"lt": b"<",
    b"amp": b"&",
    b"nbsp": b" ",
    b"#10": b"\r",
    b"#xa": b"\r",
}
_TYPOGRAPHIC = {
    b"\xe2\x80\x98": b"'",
    b"\xe2\x80\x99": b"'",
    b"\xe2\x80\x9c": b'"',
    b"\xe2\x80\x9d": b'"',
    b"\xc2\xa0": b" ",
    b"\xe2\x80\xaf": b" ",
}
_MARKS = re.compile(b"|".join(_TYPOGRAPHIC))


def _escape(found: re.Match[bytes]) -> bytes:
    return b"\t" if found[1] == b"t" else found[1]


def _unescaped(text: bytes) -> bytes:
    """An escaped text as the lines of it; a carriage return leaves the count of lines as it is."""
    return _ESCAPES.sub(_escape, _ESCAPED.sub(b"\r", text)).rstrip(b"\r")


def _kept(found: re.Match[bytes]) -> bytes:
    """A traceback in one line as the lines of it, and what stands behind it as a further line."""
    text = _LISTED.sub(b"\r", found[2]).replace(b"#012", b"\r")
    return b"\r" + _unescaped(text)


class _Step(NamedTuple):
    """A replacement, done where the text holds `first` and one of `any_of`."""

    first: bytes  # short: it is found at the speed of memory
    any_of: tuple[bytes, ...]
    pattern: re.Pattern[bytes]
    put: bytes | Callable[[re.Match[bytes]], bytes]


_STEPS = (
    _Step(b"\x1b", (b"\x1b",), _ANSI, b""),
    _Step(b"{", (b'": "', b'":"'), _RECORD, lambda found: _unescaped(found[1])),
    _Step(
        b"\\",
        (b'\\n",', b'"Traceback (most recent call last):",'),
        _CELL,
        lambda found: _ESCAPES.sub(_escape, found[1]),
    ),
    _Step(b"\\", (b"\\n",), _QUOTED, lambda found: _unescaped(found[0])),
    _Step(
        b"Traceback (most",
        (b":\\n", b":#012", b':", "', b":', '", b":', \""),
        _KEPT,
        _kept,
    ),
    _Step(b"<", (b"<br", b"</p", b"</code>"), _WEB, b""),
    _Step(
        b"&",
        (b"&quot;", b"&#", b"&lt;", b"&gt;"),
        _ENTITY,
        lambda found: _CHARACTERS.get(found[1].lower(), b"'"),
    ),
)


def plain(data: bytes) -> bytes:
    """Without colours and the marks of a web page; what is kept in one line, as lines of it."""
    if not data.isascii():
        data = _MARKS.sub(lambda found: _TYPOGRAPHIC[found[0]], data)
    for step in _STEPS:
        if step.first in data and any(one in data for one in step.any_of):
            data = step.pattern.sub(step.put, data)
    return data


def unprefixed(line: str) -> str:
    """A line without rank, process, time and the marks of a quotation."""
    line = _unquoted(line) or line
    found = _E.prefix.match(line)
    return line[found.end() :] if found and found.end() < len(line) else line


def _unquoted(line: str) -> str:
    """Without the marks around a quotation; a last backtick stays where it closes one inside."""
    bare = line.strip("`*│ ")
    if bare.count("`") % 2 and line.rstrip("*│ ").endswith("`"):
        return f"{bare}`"
    return bare


def _line(number: int, raw: str, extra: Sequence[re.Pattern[str]]) -> Line:
    raw = raw[:WIDE].rstrip()
    cut = _cut(extra, raw)
    found = _E.prefix.match(raw)
    prefix = found[0] if found else ""
    rank = _rank_of(prefix) if prefix else ""
    return Line(number, raw, unprefixed(cut.strip()), _bare(cut), rank)


def _rank_of(prefix: str) -> str:
    found = _E.rank.search(prefix)
    return next(filter(None, found.groups()), "") if found else ""


def _bare(line: str) -> str:
    """A line without its prefix, its indentation kept."""
    if margin := _E.group_margin.match(line):
        return line[margin.end() :].rstrip()
    if line.startswith("E  "):
        line = _E.pytest.sub("", line)
    if not line or line.startswith((" ", "\t")) or _E.glog_fatal.match(line):
        return line
    if _E.levelled.match(line):
        return line
    found = _E.prefix.match(line)
    return line[found.end() :] if found and found.end() < len(line) else _unquoted(line) or line


def lines_of(data: bytes, first: int = 1, extra: Sequence[str] = ()) -> list[Line]:
    """The lines of a part of a text; `extra` are expressions of further prefixes to cut."""
    data = unmarked(plain(data))
    cut = [re.compile(one) for one in extra]
    return [_line(number, piece, cut) for number, piece in _pieces(data, first)]


def _cut(patterns: Sequence[re.Pattern[str]], line: str) -> str:
    for one in patterns:
        found = one.match(line)
        if found and found.end() < len(line):
            line = line[found.end() :]
    return line


def _pieces(data: bytes, first: int) -> Iterator[tuple[int, str]]:
    text = data.decode("utf-8", "replace")
    for number, line in enumerate(text.split("\n"), first):
        for piece in line.rstrip("\r").split("\r"):
            yield number, piece


def unmarked(data: bytes) -> bytes:
    """The text without what one launcher or logger puts before each line, whatever that is."""
    mark = common_mark(data)
    if mark:
        data = mark.sub(b"", data)
    return data


# ---------------------------------------------------------------- what stands before each line

SAMPLE, MOST = 1 << 15, 200
"""How many bytes and lines of the beginning show what stands before each line."""
FEW = 3
"""Lines that show a mark which is more than some signs."""
LONGEST = 120
"""Bytes of a mark."""
_PADDED = re.compile(rb"^ +(?=\d)")
_DIGITS = re.compile(rb"\d+")
_BEGINS = re.compile(rb"[ \t]|Traceback \(most recent|$")
"""A line behind a mark is indented or empty somewhere, if the mark is not the program's own."""
_ENDS = re.compile(rb"[^\w.(\[{\"'`/<&-]$")
_SIGNS = re.compile(rb"[>#|/*%;:. \t0-]{1,8}")
_NAME = re.compile(rb"\S{2,40}[:|\]] ?")
_OWN = re.compile(
    rb"(?:error|exception|warning|fatal): ?$|failed|bash:|ld:|nvcc|gcc|collect2|\.cu|\.c|\.h\b",
    re.IGNORECASE,
)
"""Names that programs put before their own messages."""
_WORDS = re.compile(rb"\bat\b|\bFile \"|Error: |frame #|\b(?:in|with|from) |npm ERR!")
_COMPOSE = re.compile(
    rb"[\w.-]+ exited with code \d+ *(?:\(restarting\))?"
    rb"|(?:Gracefully stopping|Aborting on container).*"
)
_RANKED = re.compile(rb"rank|pid=|\[0(?:,0)?\][:<]|^\s*$")
"""Marks that show which of several processes prints: they are read later."""


def common_mark(data: bytes) -> re.Pattern[bytes] | None:
    """What stands before each line; None where nothing does, or it may be the program's own."""
    lines = [line.rstrip(b"\r") for line in data[:SAMPLE].split(b"\n")[:MOST] if line.strip()]
    lines = [line for line in lines if not _COMPOSE.fullmatch(line)] or lines
    common = _prefix(lines) if len(lines) > 1 else b""
    few = len(lines) < FEW and not _SIGNS.fullmatch(common)
    if not common.strip() or _WORDS.search(common) or few or _RANKED.search(common):
        return None
    mark = re.compile(rb"^" + _pattern(common), re.MULTILINE)
    behind = [line[found.end() :] for line in lines if (found := mark.match(line))]
    indented = sum(bool(_BEGINS.match(line)) for line in behind[1:])
    return mark if indented >= 1 + (len(behind) > 20) or _foreign(common, behind) else None


def _prefix(lines: Sequence[bytes]) -> bytes:
    """What lines begin with, all numbers being alike, up to a sign that ends such a mark."""
    forms = [_form(line) for line in lines]
    common = _common([form for form in forms if not _only_mark(form, forms)])
    while common and not _ENDS.search(common):
        common = common[:-1]
    return common


def _foreign(mark: bytes, behind: Sequence[bytes]) -> bool:
    """Whether a mark is not the program's own though no line behind it is indented."""
    if _SIGNS.fullmatch(mark):
        return True
    firsts = {line.split(b" ", 1)[0] for line in behind}
    several = len(firsts) >= min(3, len(behind))
    return bool(_NAME.fullmatch(mark)) and not _OWN.search(mark) and several


def _common(forms: Sequence[bytes]) -> bytes:
    """The bytes that all begin with."""
    first, last = min(forms, default=b""), max(forms, default=b"")
    pairs = enumerate(zip(first, last, strict=False))
    return first[: next((at for at, pair in pairs if pair[0] != pair[1]), len(first))]


def _only_mark(form: bytes, forms: Sequence[bytes]) -> bool:
    """Whether a line is only the mark, without the space that others have behind it."""
    return len(form) < LONGEST and all(other.startswith(form) for other in forms[:20])


def _pattern(form: bytes) -> bytes:
    """A form as an expression: digits of any number, spaces that may be cut off at its end."""
    body = form.rstrip()
    spaces = re.escape(form[len(body) :])
    parts = re.split(rb"(0| +)", body)
    made = b"".join(
        rb"\d+" if one == b"0" else rb" *" if one.isspace() else re.escape(one) for one in parts
    )
    start = rb"\ *" if form.startswith(b" ") else b""
    return start + made.removeprefix(rb" *") + (rb"(?:" + spaces + rb")?" if spaces else b"")


def _form(line: bytes) -> bytes:
    """The beginning of a line, all numbers being alike."""
    return _DIGITS.sub(b"0", _PADDED.sub(b" ", line[:LONGEST]))


# ---------------------------------------------------------------- lines that were wrapped

NARROW, BROAD = 60, 140
"""Widths at which lines are broken."""
USUAL = (72, 76, 78, 79, 80, 100, 120, 132)
MOSTLY = 0.6
SIGNS = 6
"""Different signs that a line has at least which is no rule."""
SHORTEST = 0.5
"""Of a line that was wrapped, what its shortest part has of the longest."""


def unwrapped(text: str) -> str:
    """The text with lines that were cut at a width made whole, where that leaves no doubt."""
    lines = text.split("\n")
    width = max(map(len, lines))
    if not NARROW <= width <= BROAD:
        return text
    cuts = [(one, rest) for one, rest in pairwise(lines) if _is_cut(one, rest, width)]
    goes_on = sum(not _WRAP.new.match(rest) and not _stands_alone(rest) for _, rest in cuts)
    in_words = any(one[-1].isalnum() and rest[0].isalnum() for one, rest in cuts)
    if len(cuts) == 1 and cuts[0][0][-1].islower() and cuts[0][1][0].isupper():
        return text  # the longest line only happens to stand before another
    sure = (len(cuts) > 1 or width in USUAL) and goes_on >= MOSTLY * len(cuts)
    return _joined(lines, width) if goes_on and in_words and sure else text


def as_one_line(text: str) -> str:
    """A text that can be one line which somebody wrapped, as that line; else ""."""
    parts = [len(one) for one in text.splitlines() if one.strip()][:-1]
    even = not parts or min(parts) >= SHORTEST * max(parts)
    return " ".join(one.strip() for one in text.splitlines()) if even else ""


def _stands_alone(line: str) -> bool:
    return bool(_WRAP.alone.match(line) or TRACEBACKS.status_line.match(line))


def _is_cut(line: str, rest: str, width: int) -> bool:
    """Whether a line is as wide as lines are, and goes on in the next one."""
    if len(line) != width or len(set(line)) <= SIGNS or not rest:
        return False
    return not _WRAP.frame.match(line) or rest[0] in "0123456789,"


def _joined(lines: Sequence[str], width: int) -> str:
    """The lines, those that were cut in one; empty ones keep the numbers of the rest."""
    out: list[str] = []
    debt, last = 0, ""
    for line in lines:
        if _is_cut(last, line, width):
            out[-1] += line
            debt += 1
        else:
            out += [*[""] * debt, line]
            debt = 0
        last = line
    return "\n".join([*out, *[""] * debt])
