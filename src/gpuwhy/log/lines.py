"""Lines: a decoded text becomes lines without colours, prefixes and escapes, each with its number.

Lines that were wrapped are made whole, and keep their numbers.
"""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from gpuwhy.log.expressions import Expressions
from gpuwhy.log.tracebacks import TRACEBACKS

_E, _MARKS, _WRAP = Expressions("lines"), Expressions("marks"), Expressions("wrap")

WIDE = 1 << 16
"""Characters of one line that are kept."""


class Line(NamedTuple):
    """One line, or a piece of one that a carriage return began."""

    number: int  # from 1
    raw: str  # without colours and escapes
    text: str  # without prefixes and the spaces around it
    bare: str  # without prefixes, its indentation kept
    rank: str = ""  # the process of a job that printed it: "1", "pid=812", "app-1"


def lines_of(text: str, first: int = 1, extra: Sequence[str] = ()) -> list[Line]:
    """The lines of a part of a text; `extra` are expressions of further prefixes to cut."""
    cuts = [re.compile(one) for one in extra]
    out = []
    for number, whole in enumerate(unmarked(plain(text)).split("\n"), first):
        for piece in whole.rstrip("\r").split("\r"):
            cut = raw = piece[:WIDE].rstrip()
            for one in cuts:
                found = one.match(cut)
                if found and found.end() < len(cut):
                    cut = cut[found.end() :]
            prefix = _E.prefix.match(raw)
            rank = _E.rank.search(prefix[0]) if prefix else None
            process = next(filter(None, rank.groups()), "") if rank else ""
            out.append(Line(number, raw, unprefixed(cut.strip()), _bare(cut), process))
    return out


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


def _bare(line: str) -> str:
    """A line without its prefix, its indentation kept."""
    if margin := _E.group_margin.match(line):
        return line[margin.end() :].rstrip()
    if line.startswith("E  "):
        line = _E.pytest.sub("", line)
    if not line or line.startswith((" ", "\t")):
        return line
    if _E.glog_fatal.match(line) or _E.levelled.match(line):
        return line
    found = _E.prefix.match(line)
    return line[found.end() :] if found and found.end() < len(line) else _unquoted(line) or line


# ---------------------------------------------------------------- colours, escapes, web pages

_TYPOGRAPHIC = str.maketrans("‘’“”\u00a0\u202f", "''\"\"  ")


def plain(text: str) -> str:
    """Without colours and the marks of a web page; what is kept in one line, as lines of it.

    Those begin with a carriage return, which leaves the count of lines as it is.
    """
    if not text.isascii():
        text = text.translate(_TYPOGRAPHIC)
    for first, any_of, name, put in _STEPS:
        if first in text and any(one in text for one in any_of):
            text = getattr(_MARKS, name).sub(put, text)
    return text


def _unescaped(text: str) -> str:
    lines = _MARKS.line_end.sub("\r", text)
    return _MARKS.escape.sub(_escape, lines).rstrip("\r")


def _escape(found: re.Match[str]) -> str:
    return "\t" if found[1] == "t" else found[1]


def _character(found: re.Match[str]) -> str:
    from html import unescape

    return unescape(found[0]).replace("\n", "\r").replace("\u00a0", " ")


_STEPS: tuple[tuple[str, tuple[str, ...], str, Callable[[re.Match[str]], str]], ...] = (
    ("\x1b", ("",), "colour", lambda found: ""),
    ("{", ('": "', '":"'), "record", lambda found: _unescaped(found[1])),
    (
        "\\",
        ('\\n",', '"Traceback (most recent call last):",'),
        "cell",
        lambda found: _MARKS.escape.sub(_escape, found[1]),
    ),
    ("\\", ("\\n",), "escaped_line", lambda found: _unescaped(found[0])),
    (
        "Traceback (most",
        (":\\n", ":#012", ':", "', ":', '", ":', \""),
        "kept",
        lambda found: "\r" + _unescaped(_MARKS.kept_between.sub("\r", found[2])),
    ),
    ("<", ("<br", "</p", "</code>"), "tag", lambda found: ""),
    ("&", ("&quot;", "&#", "&lt;", "&gt;"), "entity", _character),
)
"""Replacements: done where a text holds the first string, which is found fast, and one of the
others; the name of the expression; what is put there."""


# ---------------------------------------------------------------- what stands before each line

SAMPLE, MOST = 1 << 15, 200
"""How many characters and lines of the beginning show what stands before each line."""
FEW = 3
"""Lines that show a mark which is more than some signs."""
LONGEST = 120
"""Characters of a mark."""


def unmarked(text: str) -> str:
    """The text without what one launcher or logger puts before each line, whatever that is."""
    lines = [line.rstrip("\r") for line in text[:SAMPLE].split("\n")[:MOST] if line.strip()]
    lines = [line for line in lines if not _MARKS.compose.fullmatch(line)] or lines
    if len(lines) < 2:
        return text
    # what lines begin with, all numbers being alike; one may be only the mark, its end cut off
    forms = [re.sub(r"\d+", "0", re.sub(r"^ +(?=\d)", " ", line[:LONGEST])) for line in lines]
    starts = [
        one
        for one in forms
        if len(one) >= LONGEST or not all(other.startswith(one) for other in forms[:20])
    ]
    first, last = min(starts, default=""), max(starts, default="")
    same = enumerate(zip(first, last, strict=False))
    common = first[: next((at for at, (a, b) in same if a != b), len(first))]
    while common and not _MARKS.mark_end.search(common):
        common = common[:-1]
    if _MARKS.no_mark.search(common):
        return text
    mark = _as_expression(common)
    behind = [line[found.end() :] for line in lines if (found := mark.match(line))]
    indented = sum(bool(_MARKS.below_mark.match(line)) for line in behind[1:])
    # no program indents nothing: where no line is, the mark must look like one, or be a name
    several = len({line.split(" ", 1)[0] for line in behind}) >= min(3, len(behind))
    named = _MARKS.name.fullmatch(common) and not _MARKS.own_name.search(common) and several
    sure = len(lines) >= FEW and (indented >= 1 + (len(behind) > 20) or named)
    return mark.sub("", text) if sure or _MARKS.signs.fullmatch(common) else text


def _as_expression(mark: str) -> re.Pattern[str]:
    """A mark with numbers of any length, and spaces that may be cut off at its end."""
    body = mark.rstrip()
    made = "".join(
        r"\d+" if one == "0" else " *" if one.isspace() else re.escape(one)
        for one in re.split(r"(0| +)", body)
    )
    spaces = mark[len(body) :]
    return re.compile(rf"^{made}" + (f"(?:{re.escape(spaces)})?" if spaces else ""), re.MULTILINE)


# ---------------------------------------------------------------- lines that were wrapped

NARROW, BROAD = 60, 140
"""Widths at which lines are broken."""
USUAL = (72, 76, 78, 79, 80, 100, 120, 132)
MOSTLY = 0.6
SIGNS = 6
"""Different signs that a line has at least which is no rule."""


def unwrapped(text: str) -> str:
    """The text with lines that were cut at a width made whole, where that leaves no doubt."""
    lines = text.split("\n")
    width = max(map(len, lines))
    if not NARROW <= width <= BROAD:
        return text
    cuts = [(one, rest) for one, rest in pairwise(lines) if _is_cut(one, rest, width)]
    rests = [rest for _, rest in cuts if not (_WRAP.new.match(rest) or _WRAP.alone.match(rest))]
    goes_on = sum(not TRACEBACKS.status_line.match(rest) for rest in rests)
    in_words = any(one[-1].isalnum() and rest[0].isalnum() for one, rest in cuts)
    if not in_words or not goes_on or goes_on < MOSTLY * len(cuts):
        return text
    one, rest = cuts[0]
    if len(cuts) == 1 and (width not in USUAL or (one[-1].islower() and rest[0].isupper())):
        return text  # the longest line only happens to stand before another
    out: list[str] = []
    debt, last = 0, ""
    for line in lines:  # empty lines keep the numbers of the rest
        if _is_cut(last, line, width):
            out[-1] += line
            debt += 1
        else:
            out += [*[""] * debt, line]
            debt = 0
        last = line
    return "\n".join([*out, *[""] * debt])


def _is_cut(line: str, rest: str, width: int) -> bool:
    """Whether a line is as wide as lines are, and goes on in the next one."""
    if len(line) != width or len(set(line)) <= SIGNS or not rest:
        return False
    return not _WRAP.frame.match(line) or rest[0] in "0123456789,"
