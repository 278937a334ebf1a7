"""Scan: one pass over a text for the literals of all messages; expressions run where one stands."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ahocorasick_rs import BytesAhoCorasick

SMALL = 1 << 14
"""Bytes up to which a plain search is faster than building an automaton."""
SHORTEST = 3
"""Characters that a literal taken from an expression has at least."""


class Literals:
    """Finds which literals (lower case) stand where; some can be taken out."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = tuple(dict.fromkeys(word.lower() for word in words if word))
        self._wanted = {number: word.encode() for number, word in enumerate(self.words)}
        self._automaton: BytesAhoCorasick | None = None

    def without(self, numbers: Iterable[int]) -> None:
        """Look for these no more."""
        for number in numbers:
            self._wanted.pop(number, None)
        self._automaton = None

    def found(self, text: bytes) -> Iterator[tuple[int, int]]:
        """Number and start of each literal in a lower-case text, overlapping ones too."""
        if len(text) > SMALL and self.fast:
            if self._automaton is None:
                from ahocorasick_rs import BytesAhoCorasick

                self._automaton = BytesAhoCorasick(self._wanted.values())
            numbers = list(self._wanted)
            for at, start, _ in self._automaton.find_matches_as_indexes(text, overlapping=True):
                yield numbers[at], start
            return
        for number, word in self._wanted.items():
            at = text.find(word)
            while at >= 0:
                yield number, at
                at = text.find(word, at + 1)

    @cached_property
    def fast(self) -> bool:
        """Whether the automaton is installed."""
        try:
            import ahocorasick_rs  # noqa: F401
        except ImportError:
            return False
        return True


_PART = re.compile(
    r"\\(?P<escaped>.)|(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])|(?P<many>[*+?]|\{\d*,?\d*\})\??"
    r"|(?P<open>\()|(?P<close>\))|(?P<or>\|)|(?P<mark>[.^$])|(?P<plain>.)",
    re.DOTALL,
)


@cache
def literals_of(pattern: str) -> tuple[str, ...]:
    """Literals of which one stands, in lower case, wherever the expression matches; () if none."""
    longest, run, depth = [""], "", 0  # of each alternative; what stands in groups is left out
    for found in _PART.finditer(pattern):
        depth += bool(found["open"]) - bool(found["close"])
        sign = found["plain"] or found["escaped"] or ""
        if not depth and (found["plain"] or (sign and not sign.isalnum())):
            run += sign
            continue
        if found["many"] not in (None, "+"):
            run = run[:-1]  # no match need have it
        longest[-1] = max(longest[-1], run, key=len)
        run = ""
        if found["or"] and not depth:
            longest.append("")
    longest[-1] = max(longest[-1], run, key=len)
    if any(len(one) < SHORTEST for one in longest):
        return ()
    return tuple(dict.fromkeys(one.lower() for one in longest))


WIDE, LONG, WORD, FEW = 240, 160, 48, 24
"""The most repetitions of any character, of those of a path, of a word, and of spaces or groups."""
_FEW = (r"\d", r"\s", " ", "[ ]", "[0-9]", r"[\d.]", r"\W", ")")
_LIMITS = {**dict.fromkeys(_FEW, FEW), r"\w": WORD, ".": WIDE}
_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?P?[<!=:]*|.", re.DOTALL)
_OPEN_ENDED = re.compile(r"([*+]|\{(\d*),\})")


def bounded(pattern: str) -> str:
    """The same expression with every repetition ending at a number: it bounds what a text costs."""
    out, at, last = [], 0, ""
    while at < len(pattern):
        open_ended = _OPEN_ENDED.match(pattern, at)
        if open_ended and last:
            least = {"*": "0", "+": "1"}.get(open_ended[1], open_ended[2] or "0")
            most = _LIMITS.get(last, WIDE if last.startswith("[^") else LONG)
            out.append(f"{{{least},{max(most, int(least))}}}")
            at, last = open_ended.end(), ""
            continue
        token = _TOKEN.match(pattern, at)
        assert token is not None
        out.append(token[0])
        last, at = ("" if token[0].startswith("(") else token[0]), token.end()
    return "".join(out)


WINDOW = 1024


def search(expression: re.Pattern[str], line: str) -> re.Match[str] | None:
    """The first match in a line, searched in windows that overlap by half."""
    if len(line) <= WINDOW:
        return expression.search(line)
    for start in range(0, len(line) - WINDOW // 2, WINDOW // 2):
        end = start + WINDOW
        found = expression.search(line, start, end)
        whole = found and (found.end() < end or found.start() < start + WINDOW // 2)
        if found and (whole or end >= len(line)):
            return found  # else it may go on in the next window, which holds all of it
    return None


class Page:
    """The parts of a text that are read whole, as one string."""

    def __init__(self, text: str, head_lines: int = 0, skipped: int = 0) -> None:
        self.text = text
        self.lower = text.lower()
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]
        self._head, self._skipped = head_lines, skipped

    def line(self, place: int) -> int:
        """The number of the line at a place, from 1."""
        number = bisect_right(self._starts, place)
        return number + self._skipped if self._head and number > self._head else number

    def finditer(self, says: str) -> Iterator[re.Match[str]]:
        """The matches of an expression, case ignored, ^ and $ at every line."""
        words = literals_of(says)
        if not words or any(word in self.lower for word in words):
            yield from _compiled(says).finditer(self.text)

    def search(self, says: str) -> re.Match[str] | None:
        """The first match."""
        return next(self.finditer(says), None)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(bounded(pattern), re.IGNORECASE | re.MULTILINE)


def group(found: re.Match[str], name: str) -> str:
    """The first stated group of a name: `value`, `value2` …"""
    groups = found.groupdict().items()
    return next((text for key, text in groups if text and key.rstrip("0123456789") == name), "")
