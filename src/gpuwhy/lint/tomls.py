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
DEEPEST = 200
_DEEP = re.compile(r"(?:[\w\"'-]{1,40}[ \t]{0,4}\.[ \t]{0,4}){200}|[\[{]{200}")


class BadTomlError(ValueError):
    """What is no TOML; `line` from 1."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.line = line


def parse(text: str) -> dict[str, Any]:
    """The values; raises BadTomlError."""
    if len(text) > _LIMIT:
        raise BadTomlError(0, f"{len(text)} characters, more than {_LIMIT}")
    try:
        if deep := _DEEP.search(text):
            line = text.count("\n", 0, deep.start()) + 1
            raise BadTomlError(line, f"nested more than {DEEPEST} levels deep")
        values: dict[str, Any] = tomllib.loads(text.replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"\(at line (\d+), column \d+\)", str(error))
        last = text.count("\n") + 1
        reason = re.sub(r"\s*\(at .*\)$", "", str(error))
        raise BadTomlError(int(found[1]) if found else last, f"no TOML: {reason}") from error
    except RecursionError as error:
        raise BadTomlError(0, "nested too deep") from error
    except BadTomlError:
        raise
    except ValueError as error:  # a number of thousands of digits, a date that no calendar has
        raise BadTomlError(0, f"no TOML: {error}") from error
    return values


class Finder:
    """Where things stand in a TOML text."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self._starts: dict[str, int] = {}
        for number, line in enumerate(self.lines):
            found = re.match(r"\s*\[+\s*([^\]]+?)\s*\]", line)
            if found and line.lstrip().startswith("["):
                self._starts.setdefault(re.sub(r"[\"'\s]", "", found[1]), number)

    def value(self, text: str, section: str = "", below: str = "") -> int:
        """The line of a quoted string, at or below a section, and below a key of it."""
        start = self._starts.get(section, 0)
        start = self.key(below, section) - 1 if below else start
        for quoted in (f'"{text}"', f"'{text}'"):
            for number in range(start, len(self.lines)):
                if quoted in self.lines[number]:
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
