"""TOML with line numbers: the parser's values, and where in the text they stand."""

from __future__ import annotations

import re
import sys
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_LIMIT = 2_000_000
_DEEP = re.compile(r"(?:[\w\"'-]{1,40}[ \t]{0,4}\.[ \t]{0,4}){200}|[\[{]{200}")


class BadTomlError(ValueError):
    """What is no TOML; `line` from 1."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.line = line


def parse(text: str) -> dict[str, Any]:
    """The values; raises BadTomlError."""
    deep = _DEEP.search(text)
    if len(text) > _LIMIT or deep:
        line = text.count("\n", 0, deep.start()) + 1 if deep else 0
        raise BadTomlError(line, "too long, or nested too deep")
    try:
        values: dict[str, Any] = tomllib.loads(text.replace("\r\n", "\n"))
    except (ValueError, RecursionError) as error:
        found = re.search(r"\(at line (\d+), column \d+\)", str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        reason = re.sub(r"\s*\(at .*\)$", "", str(error))
        raise BadTomlError(line, f"no TOML: {reason}") from None
    return values


class Finder:
    """Where things stand in a TOML text."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self._starts: dict[str, int] = {}
        for number, line in enumerate(self.lines):
            found = re.match(r"\s*\[+\s*([^\]]+?)\s*\]", line)
            if found:
                self._starts.setdefault(re.sub(r"[\"'\s]", "", found[1]), number)

    def value(self, text: str, section: str = "", below: str = "") -> int:
        """The line of a quoted string, at or below a section, and below a key of it."""
        start = self.key(below, section) - 1 if below else self._starts.get(section, 0)
        quoted = (f'"{text}"', f"'{text}'")
        for number in range(start, len(self.lines)):
            if any(one in self.lines[number] for one in quoted):
                return number + 1
        return start + 1

    def key(self, name: str, section: str) -> int:
        """The line of a key in a section."""
        start = self._starts.get(section)
        if start is None:
            head, _, last = section.rpartition(".")
            return self.key(last, head) if head else 1
        pattern = re.compile(rf"\s*[\"']?{re.escape(name)}[\"']?\s*[=.]", re.IGNORECASE)
        for number in range(start + 1, len(self.lines)):
            if self.lines[number].startswith("["):
                break
            if pattern.match(self.lines[number]):
                return number + 1
        return self._starts.get(f"{section}.{name}", start) + 1
