"""Stated: the Case of a text, from one table of expressions and from the messages that were found."""

from __future__ import annotations

from collections.abc import Sequence

from gpuwhy.log.case import Case, Release, Stated
from gpuwhy.log.endings import Course
from gpuwhy.log.lines import Line
from gpuwhy.log.message import Message
from gpuwhy.log.programs import Speakers


def case_of(
    lines: Sequence[Line],
    text: str,
    messages: Sequence[Message],
    course: Course,
    speakers: Speakers,
) -> Case:
    """What the text states."""
    return Case(
        programs=tuple(Stated(name, line) for name, line in speakers.names),
        packages=tuple(
            Release(one.get("name").lower(), one.get("version"), one.line)
            for one in messages
            if one.id == "told.package" and one.get("version")
        ),
    )
