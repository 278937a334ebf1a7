"""Question: what a person asks, as a value; Reply: what is answered; Known: what is known of both.

The rows are knowledge/{intents,claims,notes,relations,topics,versions}.toml; unknown keys are
rejected.
"""

import re
from functools import cache
from pathlib import Path
from typing import Literal, Union

import msgspec

from gpuwhy.causes.schema import Row

FOLDER = Path(__file__).parent.parent / "knowledge"
KINDS = ("claims", "notes", "relations", "topics", "versions")
Typed = Union[str, dict[str, str]]
"""A command, or one per system: {"linux": …, "windows": …}."""

Verdict = Literal["answered", "undecided", "healthy", "found", "unanswered"]
"""answered: a question. undecided: a failure with several reasons. healthy: nothing is wrong.
found: a failure with its cause. unanswered: nothing is known."""


class Question(msgspec.Struct, frozen=True):
    """What is asked, what it is about, and its words."""

    intents: tuple[str, ...]  # rows of knowledge/intents.toml, best first: "requires", "decode" …
    about: tuple[str, ...]  # words of it: ids of messages, variables, statuses, causes
    words: str  # in one line and lower case


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
    os: str = ""  # the system that its commands are for, where one is stated
    line: int = 0  # of the message or the line of source that it answers
    quoted: str = ""


class Intent(Row, frozen=True, rename={"not_": "not"}):
    """What a person wants to know, and how people ask it."""

    id: str
    phrases: tuple[str, ...]  # expressions; one of them
    matches: tuple[str, ...] = ()
    not_: tuple[str, ...] = ()

    def asked(self, words: str) -> bool:
        """Whether the words ask this."""
        return any(expression(one).search(words) for one in self.phrases)


class Entry(Row, frozen=True, rename={"not_": "not"}):
    """An answer that is known, and what it answers: a question, a message, or a line of source."""

    id: str
    first: str | tuple[str, ...] = ""  # the headline; of several the first whose names are known
    fact: str = ""  # the part of it that is sure
    # a question
    intents: tuple[str, ...] = ()  # one of them; empty: however it is asked
    about: tuple[str, ...] = ()  # words of intents.toml; all of them, "a|b" is one of two
    without: tuple[str, ...] = ()  # none of them
    says: tuple[str, ...] = ()  # or: one of these expressions, whatever it is about
    # a program's line, or a line of source
    on: tuple[str, ...] = ()  # ids or families of messages
    alone: bool = False  # only where no other message of the text is an error
    # stated names ("os", "code") and their values
    when: dict[str, str | list[str]] = msgspec.field(default_factory=dict)
    in_source: tuple[str, ...] = ()  # expressions on one line of a program's source
    # the answer
    verdict: Verdict = "answered"
    cause: str = ""  # what it is, where that is decided
    release: str = ""  # the release whose versions are named where none is stated
    points: tuple[Point, ...] = ()
    run: Typed = ""  # the observation that decides
    rows: tuple[Outcome, ...] = ()
    source: str = ""
    matches: tuple[str, ...] = ()
    not_: tuple[str, ...] = ()

    @property
    def headlines(self) -> tuple[str, ...]:
        """The alternatives of the headline."""
        return (self.first,) if isinstance(self.first, str) else self.first


class Known(Row, frozen=True, rename={"intents": "intent"}):
    """Everything in these files."""

    words: dict[str, str]
    stated: dict[str, str]
    tests: dict[str, str]
    intents: tuple[Intent, ...]
    entries: dict[str, tuple[Entry, ...]]  # by file, in their order

    def expression(self, name: str) -> re.Pattern[str]:
        """An expression for what a question states."""
        pattern = self.stated[name]
        for part in ("between", "number"):
            pattern = pattern.replace(f"{{{part}}}", self.stated[part])
        return expression(pattern)

    def test(self, kind: str, framework: str) -> str:
        """The command that shows the GPUs a framework sees, or whether it is built with CUDA."""
        return self.tests.get(f"{kind}_{framework}", self.tests[f"{kind}_tensorflow"])

    @property
    def all(self) -> tuple[Entry, ...]:
        """Every entry, claims first."""
        return tuple(entry for kind in KINDS for entry in self.entries[kind])


@cache
def known() -> Known:
    """The data of this installation."""
    files = {
        name: msgspec.toml.decode((FOLDER / f"{name}.toml").read_bytes())
        for name in ("intents", *KINDS)
    }
    entries = {kind: files[kind].pop("entry") for kind in KINDS}
    if left := [name for name in KINDS if files[name]]:
        raise ValueError(f"{', '.join(left)}: more than entries")
    return msgspec.convert({**files["intents"], "entries": entries}, type=Known)


@cache
def expression(pattern: str) -> re.Pattern[str]:
    """An expression of the data, case ignored."""
    return re.compile(pattern, re.IGNORECASE)
