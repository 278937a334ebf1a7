"""Later: an expression that is compiled at its first use: ladders have hundreds, and one text needs a few."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property


class Later:
    """What `re.compile` gives, as far as the ladders ask for it."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.pattern, self.flags = pattern, flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, self.flags)

    def search(self, text: str) -> re.Match[str] | None:
        """The first place."""
        return self._compiled.search(text)

    def match(self, text: str) -> re.Match[str] | None:
        """At the beginning."""
        return self._compiled.match(text)

    def findall(self, text: str) -> list[str]:
        """Every place; only for expressions with one group or none."""
        return [found[1] if self._compiled.groups else found[0] for found in self.finditer(text)]

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Every place, as matches."""
        return self._compiled.finditer(text)
