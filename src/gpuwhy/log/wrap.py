"""Wrap: lines that a terminal or a mail program broke are made whole; lines keep their numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from gpuwhy.log.expressions import Expressions
from gpuwhy.log.tracebacks import TRACEBACKS

_E = Expressions("wrap")

NARROW, WIDE = 60, 140
"""Widths at which lines are broken."""
USUAL = (72, 76, 78, 79, 80, 100, 120, 132)
MOSTLY = 0.6
SIGNS = 6
"""Different signs that a line has at least which is no rule."""
SHORTEST = 0.5
"""Of a line that was wrapped, what its shortest part has of the longest."""
Broken = Callable[[str, str], bool]


def unwrapped(text: str) -> str:
    """The text with broken lines made whole, where its shape leaves no doubt."""
    lines = text.split("\n")
    return _cut(lines) or text


def as_one_line(text: str) -> str:
    """A text that can be one line which somebody wrapped, as that line; else ""."""
    parts = [len(one) for one in text.splitlines() if one.strip()][:-1]
    even = not parts or min(parts) >= SHORTEST * max(parts)
    return " ".join(one.strip() for one in text.splitlines()) if even else ""


def _stands_alone(line: str) -> bool:
    return bool(_E.alone.match(line) or TRACEBACKS.status_line.match(line))


def _cut(lines: Sequence[str]) -> str:
    """Lines that were cut at a width, whatever stood there."""
    width = max(map(len, lines), default=0)
    if not NARROW <= width <= WIDE:
        return ""
    full = {one for one in lines if len(one) == width and len(set(one)) > SIGNS}

    def broken(one: str, rest: str) -> bool:
        frame = _E.frame.match(one) and rest[:1] not in "0123456789,"
        return one in full and bool(rest) and not frame

    cuts = [(one, rest) for one, rest in pairwise(lines) if broken(one, rest)]
    goes_on = sum(not _E.new.match(rest) and not _stands_alone(rest) for _, rest in cuts)
    in_words = any(one[-1].isalnum() and rest[0].isalnum() for one, rest in cuts)
    if len(cuts) == 1 and cuts[0][0][-1].islower() and cuts[0][1][0].isupper():
        return ""  # the longest line only happens to stand before another
    sure = (len(cuts) > 1 or width in USUAL) and goes_on >= MOSTLY * len(cuts)
    return _joined(lines, broken) if goes_on and in_words and sure else ""


def _joined(lines: Sequence[str], broken: Broken) -> str:
    """The lines, those that were broken in one; empty ones keep the numbers of the rest."""
    out: list[str] = []
    debt, last = 0, ""
    for line in lines:
        if out and last and broken(last, line):
            out[-1] += line
            debt += 1
        else:
            out += [*[""] * debt, line]
            debt = 0
        last = line
    return "\n".join([*out, *[""] * debt])
