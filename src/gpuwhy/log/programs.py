"""Programs: which known program prints each line, and whose messages count there."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpuwhy.causes.load import Catalogue
from gpuwhy.log.lines import Line
from gpuwhy.log.match import Found
from gpuwhy.log.scan import bounded, literals_of

PERSON = "person"
"""The speaker of what people say in their own words."""


class Speakers:
    """The program of each line: within what one process prints, the last that was recognised."""

    def __init__(self, catalogue: Catalogue, lines: Sequence[Line], text: str) -> None:
        self._programs = catalogue.programs
        self._known: dict[str, list[tuple[int, str]]] = {}
        self._ranks = {one.number: one.rank for one in lines if one.rank}
        lower = text.lower()
        for name, program in catalogue.programs.items():
            for pattern in program.knows:
                words = literals_of(pattern)
                if words and not any(word in lower for word in words):
                    continue
                expression = re.compile(bounded(pattern), re.IGNORECASE)
                self._recognise(name, expression, lines)
        for places in self._known.values():
            places.sort()
        self._raised = _traceback_lines(lines)

    def _recognise(self, name: str, expression: re.Pattern[str], lines: Sequence[Line]) -> None:
        for line in lines:
            if expression.search(line.raw[:1000]):
                self._known.setdefault(line.rank, []).append((line.number, name))

    @property
    def names(self) -> list[tuple[str, int]]:
        """The programs that were recognised, each with its first line."""
        first: dict[str, int] = {}
        for line, name in sorted(place for places in self._known.values() for place in places):
            first.setdefault(name, line)
        return list(first.items())

    def of(self, line: int, rank: str = "") -> str:
        """The program that prints a line; "" where none is known."""
        places = self._known.get(rank) or self._known.get("") or []
        if line in self._raised:  # no server that is not written in Python prints a traceback
            places = [one for one in places if self._programs[one[1]].python]
        before = [name for number, name in places if number <= line]
        return before[-1] if before else places[0][1] if places else ""

    def counts(self, one: Found) -> bool:
        """Whether the program of its line can print a message; sets that program."""
        one.program = self.of(one.line, one.rank)
        if not one.speakers or not one.program or PERSON in one.speakers:
            return True
        return not self._uses(one.program).isdisjoint(one.speakers)

    def _uses(self, name: str) -> frozenset[str]:
        """A program with all that it uses, and what those use."""
        known, waiting = set[str](), [name]
        while waiting:
            one = waiting.pop()
            if one not in known:
                known.add(one)
                program = self._programs.get(one)
                waiting += program.uses if program else ()
        return frozenset(known)


def _traceback_lines(lines: Sequence[Line]) -> set[int]:
    """The numbers of the lines of Python's tracebacks, with what was raised."""
    out: set[int] = set()
    inside: dict[str, bool] = {}
    for line in lines:
        if "Traceback (most recent call" in line.bare:
            inside[line.rank] = True
        elif inside.get(line.rank):
            inside[line.rank] = not line.bare or line.bare.startswith((" ", "\t"))
        else:
            continue
        out.add(line.number)
    return out


def prefixes_in(text: str, catalogue: Catalogue) -> list[str]:
    """The expressions of what known programs put before their lines, those that the text has."""
    known = (one for program in catalogue.programs.values() for one in program.prefix)
    return [one for one in known if re.search(one, text, re.MULTILINE)]
