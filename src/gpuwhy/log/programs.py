"""Programs: which known program prints each line, and whose messages count there."""

import re
from collections.abc import Sequence

from gpuwhy.causes.load import Catalogue
from gpuwhy.log.lines import Line
from gpuwhy.log.message import Message
from gpuwhy.log.scan import bounded, literals_of


class Speakers:
    """The program of each line: within what one process prints, the last that was recognised."""

    def __init__(self, catalogue: Catalogue, lines: Sequence[Line], text: str) -> None:
        self._programs = catalogue.programs
        self._known: dict[str, list[tuple[int, str]]] = {}  # of each process, by line
        self.names: dict[str, int] = {}  # those that were recognised, each with its first line
        self._raised = _traceback_lines(lines)
        lower, found = text.lower(), []
        for name, program in catalogue.programs.items():
            for pattern in program.knows:
                words = literals_of(pattern)
                if not words or any(word in lower for word in words):
                    says = re.compile(bounded(pattern), re.IGNORECASE)
                    hits = (one for one in lines if says.search(one.raw[:1000]))
                    found += [(one.number, name, one.rank) for one in hits]
        for number, name, rank in sorted(found):
            self._known.setdefault(rank, []).append((number, name))
            self.names.setdefault(name, number)

    def counts(self, one: Message) -> bool:
        """Whether the program of its line can print a message; sets that program."""
        places = self._known.get(one.rank) or self._known.get("") or []
        if one.line in self._raised:  # no server that is not written in Python prints a traceback
            places = [place for place in places if self._programs[place[1]].python]
        before = [name for number, name in places if number <= one.line]
        one.program = before[-1] if before else places[0][1] if places else ""
        if not one.speakers or not one.program or "person" in one.speakers:
            return True
        return not self._uses(one.program).isdisjoint(one.speakers)

    def _uses(self, name: str) -> set[str]:
        """A program with all that it uses, and what those use."""
        known, waiting = set[str](), [name]
        while waiting:
            one = waiting.pop()
            if one not in known:
                known.add(one)
                program = self._programs.get(one)
                waiting += program.uses if program else ()
        return known


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
