"""Situations: what a text tells of place, program and fault together, and the way that leads out of exactly that."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.ways import tried

LIBRARIES = (
    "cuda.missing_library cudnn.missing env.path cuda.version_mismatch cudnn.version_mismatch cudnn.dependency_missing"
)
UNSEEN = "driver.missing container.no_gpu device.selection framework.cpu_only driver.permission wsl.setup"


class Situation(msgspec.Struct, frozen=True):
    """Its causes, the words that show it (all of them), those that speak against it, where it is, and its ways."""

    causes: tuple[str, ...]
    spoken: tuple[Later, ...]
    ways: tuple[tuple[str, str], ...]
    unless: Later | None = None
    place: str = ""  # windows, wsl, or a tool that must have spoken
    alone: bool = False  # nothing else can be done there


def situation(causes: str, spoken: str | tuple[str, ...], *ways: tuple[str, str], unless: str = "", place: str = "", alone: bool = False) -> Situation:  # fmt: skip
    """A row of a table; {cuda}, {python} and {major} in its ways are what the text tells of them."""
    flags = re.IGNORECASE | re.MULTILINE
    words = (spoken,) if isinstance(spoken, str) else spoken
    shown = tuple(Later(one, flags) for one in words)
    return Situation(tuple(causes.split()), shown, ways, Later(unless, flags) if unless else None, place, alone)


def holds(one: Situation, cause: str, case: Asked) -> bool:
    """Whether a row is for this cause and this text."""
    there = not one.place or (case.windows if one.place == "windows" else one.place in case.tools)
    if not there or not cause.startswith(one.causes):
        return False
    spoken = all(words.search(case.text) for words in one.spoken)
    return spoken and not (one.unless and one.unless.search(case.text))


_TOLD = Later(r"compute capability:? (\d\.\d)", re.IGNORECASE)


def _capability(case: Asked) -> str:
    found = _TOLD.search(case.text)
    return case.gpu or (found[1] if found else "5.2")


_TORCH = Later(r"(\d+\.\d+(?:\.\d+)?)\+(cu1\d\d)\b")


def _built(case: Asked) -> str:
    """What a compiled wheel must be for, in the words of its file's name."""
    torch = _TORCH.search(case.text)
    tag = f"cp{case.python.replace('.', '')}" if case.python else "the cp number of this Python"
    if not torch:
        return f'{tag} and the torch and cu numbers that python -c "import torch; print(torch.__version__)" prints, as they stand in its name'
    return f"{torch[2]}, torch{torch[1]} and {tag}, as they stand in its name"


def fixes_of(one: Situation, case: Asked) -> Iterator[Fix]:
    """The ways of a row as fixes, with what the text tells filled in."""
    given = {
        "python": case.python or "3.10",
        "cuda": case.cuda or "12.4",
        "major": str(case.cuda_major or 12),
        "capability": _capability(case),
        "built": _built(case),
    }
    for text, command in one.ways:
        for name, value in given.items():
            text = on.as_said(text.replace(f"{{{name}}}", value), text)
            command = on.like(command.replace(f"{{{name}}}", value), command)
        yield tried(text, command, safe="sudo" not in command, root="sudo" in command)


def situated(rows: tuple[Situation, ...], cause: str, case: Asked) -> tuple[tuple[Fix, ...], bool]:
    """The ways of the rows that hold, the first row's first; and whether the first row's are all."""
    found = [one for one in rows if holds(one, cause, case)]
    if found and found[0].alone:
        return tuple(fixes_of(found[0], case)), True
    return tuple(fix for one in found[:2] for fix in fixes_of(one, case)), False
