"""Runtimes: how other languages than Python, and small tools, tell that their own program ended."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import msgspec

from gpuwhy.log.expressions import Expressions, entry

_E = Expressions("runtimes")

REACH = 6
"""Lines around a line in which its form goes on."""


class Runtime(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One form: the line that tells, and what stands above or below where the line is anybody's."""

    name: str
    line: str
    below: str = ""
    above: str = ""
    next_line: bool = False  # the words stand in the line below
    whole: bool = True  # a whole program ends so


RUNTIMES = tuple(msgspec.convert(one, Runtime) for one in entry("runtimes.runtime"))
WHOLE = frozenset(one.name for one in RUNTIMES if one.whole)
"""Those that end a whole program."""


class RuntimeEnd(NamedTuple):
    """A line by which a runtime ended: its name, its words, the place after it."""

    name: str
    says: str
    after: int


def runtime_end(lines: Sequence[str], at: int) -> RuntimeEnd | None:
    """The end that a line tells in the form of another language."""
    line = lines[at].strip()
    if not _E.hint.search(line[:400]):
        return None
    for one in RUNTIMES:
        found = _compiled(one.line).match(line)
        if not found:
            continue
        below, above = lines[at + 1 : at + 1 + REACH], lines[max(0, at - 2) : at]
        if _stands(one.below, below) and _stands(one.above, above):
            return _end(one, found, lines, at)
    return None


def _stands(wanted: str, lines: Sequence[str]) -> bool:
    return not wanted or any(_compiled(wanted).match(line) for line in lines)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _end(one: Runtime, found: re.Match[str], lines: Sequence[str], at: int) -> RuntimeEnd:
    says = found.groupdict().get("says") or ""
    after = at + 1
    if (one.next_line or not says.strip()) and after < len(lines):
        says, after = lines[after].strip(), after + 1
        if one.below and _compiled(one.below).match(says):
            says = ""  # only where it ended: what was printed above tells why
    return RuntimeEnd(one.name, says.strip(), after)
