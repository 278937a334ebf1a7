"""Ways: the remedies that a program has of its own, as fixes; and the small sentences that ladders share."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.causes.text.asked import Asked
from gpuwhy.knowledge.programs import Way
from gpuwhy.model import on
from gpuwhy.model.cause import Fix


def tried(text: str, command: str = "", *, safe: bool = True, root: bool = False, look: bool = False) -> Fix:
    """A fix that the next output shows to have helped."""
    return Fix(text, command, safe, root, check="gpuwhy explain LOG", role="look" if look else "remedy")


def of_way(way: Way, **given: str) -> Iterator[Fix]:
    """The way as a fix, with what it leaves open filled in; nothing where there is none."""
    text, command = way
    for name, value in given.items():
        text, command = text.replace(f"{{{name}}}", value), on.like(command.replace(f"{{{name}}}", value), command)
    if text:
        yield tried(text, command)


def own_ways(case: Asked, field: str, **given: str) -> Iterator[Fix]:
    """The ways of the programs that speak, for one kind of remedy; the application before what it stands on."""
    for program in case.programs:
        found = getattr(program, field)
        for way in found if field == "less" else (found,):
            yield from of_way(way, **given)
