"""Rooms: what all causes together say of a text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from importlib import import_module

from msgspec import structs

from gpuwhy.model.cause import Cause
from gpuwhy.model.symptom import Clue, Symptom
from gpuwhy.rooms import CAUSES
from gpuwhy.rooms.text.meant import of_output
from gpuwhy.rooms.text.room import Text


@cache
def rooms() -> dict[str, Text]:
    """The text half of every cause: causes/<layer>/<name>_text.py."""
    return {cause.id: _room(cause) for cause in CAUSES}


def _room(cause: Cause) -> Text:
    """Its room; where only a program's output shows the cause, the next output is also what checks a remedy."""
    text: Text = import_module(f"gpuwhy.rooms.{cause.id}_text").TEXT
    return structs.replace(text, remedies=of_output(text.remedies)) if cause.needs_log else text


@cache
def clues() -> tuple[Clue, ...]:
    """All clues."""
    return tuple(clue for room in rooms().values() for clue in room.weighed())


@cache
def admits() -> dict[str, frozenset[str]]:
    """Message → the causes that it admits."""
    out: dict[str, set[str]] = defaultdict(set)
    for room in rooms().values():
        for message in room.admitted_by:
            out[message].add(room.cause)
    return {message: frozenset(causes) for message, causes in out.items()}


def admitted(symptoms: Iterable[Symptom]) -> frozenset[str]:
    """The causes that vague messages do not exclude; any other is the machine's own matter, and counts for less."""
    return frozenset(cause for one in symptoms if one.follows < 0 for cause in admits().get(one.signature, ()))
