"""Question: what a person asks, as a value; Reply: what is answered."""

from __future__ import annotations

from typing import Literal, Union

import msgspec

from gpuwhy.log.case import Case

Typed = Union[str, dict[str, str]]
"""A command, or one per system: {"linux": …, "windows": …}."""

Verdict = Literal["answered", "undecided", "healthy", "found", "unanswered"]
"""answered: a question. undecided: a failure with several reasons. healthy: nothing is wrong.
found: a failure with its cause. unanswered: nothing is known."""


class Question(msgspec.Struct, frozen=True):
    """The intent, what it is about, and what the question states."""

    intent: str  # a row of knowledge/intents.toml: "requires", "runs_on", "decode" …
    about: tuple[str, ...] = ()  # ids of messages, variables, statuses, causes
    case: Case = Case()
    text: str = ""


class Point(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A row of an answer: a label, a sentence, a command."""

    label: str
    text: str = ""
    command: Typed = ""
    os: str = ""  # only where this system is stated, or none is


class Outcome(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What one sees when one looks, and what that means."""

    sees: str
    text: str
    command: Typed = ""
    means: str = ""  # a cause
    os: str = ""


class Reply(msgspec.Struct, frozen=True):
    """An answer from tables, its names filled in for the system that the person shows."""

    id: str
    headline: str
    verdict: Verdict = "answered"
    cause: str = ""
    points: tuple[Point, ...] = ()
    run: str = ""
    rows: tuple[Outcome, ...] = ()
    source: str = ""
    fact: str = ""  # what is sure, where the reasons are several
    line: int = 0  # of the message or the line of source that it answers
    quoted: str = ""
    os: str = ""  # the system that its commands are for, where one is stated
