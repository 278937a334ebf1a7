"""Lines: decoded bytes become lines without colours, prefixes and escapes, each with its number."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from gpuwhy.log.expressions import Expressions
from gpuwhy.log.marks import common_mark

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
_CLOSED = {
    mark: re.compile(rb"(?<!\\)" + mark + rb"(?=\s*(?:$|[\]}),;]|\w+=))") for mark in (b'"', b"'")
}
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
    if found[1] and (end := _CLOSED[found[1]].search(text)):
        text = text[: end.start()] + b"\r" + text[end.end() :]
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
