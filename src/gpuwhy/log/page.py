"""Page: a text as one string, with the number of the line at each place."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache

from gpuwhy.log.scan import bounded, literals_of


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
        if words and not any(word in self.lower for word in words):
            return
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
