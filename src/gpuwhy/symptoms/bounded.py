"""Bounded: an expression whose repetitions all end, so that no text makes it take long.

A backtracking engine takes, for each place where a match may begin, as many steps as its repetitions can share the text
in. A line is searched in windows; with every repetition bounded, what one window can cost is bounded too, and a text
costs no more than its length times that. tests/border/test_stall.py attacks every expression.
"""

from __future__ import annotations

import re

WIDE, LONG, WORD, FEW = 240, 160, 48, 24
"""The most of any characters, of those of a path or a symbol, of a word, and of spaces, digits or groups."""

_PART = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?P?[<!=:]*|.", re.DOTALL)
_OPEN_ENDED = re.compile(r"([*+]|\{(\d*),\})")
_FEW = {r"\d": FEW, r"\s": FEW, " ": FEW, "[ ]": FEW, "[0-9]": FEW, r"[\d.]": FEW, r"\W": FEW, r"\w": WORD}


def bounded(pattern: str) -> str:
    """The same expression with every `*`, `+` and `{n,}` ending at a number."""
    out, at, last = [], 0, ""
    while at < len(pattern):
        open_ended = _OPEN_ENDED.match(pattern, at)
        if open_ended and last:
            least = {"*": "0", "+": "1"}.get(open_ended[1], open_ended[2] or "0")
            out.append(f"{{{least},{max(_most(last), int(least))}}}")
            at, last = open_ended.end(), ""
            continue
        part = _PART.match(pattern, at)
        assert part is not None
        out.append(part[0])
        last, at = ("" if part[0].startswith("(") else part[0]), part.end()
    return "".join(out)


WINDOW = 1024


def found_in(expression: re.Pattern[str], line: str) -> re.Match[str] | None:
    """The first match in a line, searched in windows that overlap by half."""
    if len(line) <= WINDOW:
        return expression.search(line)
    for start in range(0, len(line) - WINDOW // 2, WINDOW // 2):
        end = start + WINDOW
        match = expression.search(line, start, end)
        if match and (match.end() < end or match.start() < start + WINDOW // 2 or end >= len(line)):
            return match  # else it may go on in the next window, which holds all of it
    return None


SHOWN = 2048


def for_words(text: str) -> str:
    """A text without the middle of lines that nobody typed: what goes over all of it is not bounded."""
    lines = text.split("\n")
    return "\n".join(one if len(one) <= SHOWN else f"{one[: SHOWN // 2]} … {one[-SHOWN // 2 :]}" for one in lines)


def _most(repeated: str) -> int:
    if repeated in _FEW:
        return _FEW[repeated]
    if repeated == ")":  # a group: of words, of parts of a version
        return FEW
    return WIDE if repeated == "." or repeated.startswith("[^") else LONG
