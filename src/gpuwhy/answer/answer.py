"""The Answer of check, explain and run; as JSON it is the contract `gpuwhy.report/1`."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from gpuwhy.advise.remedy import Action
from gpuwhy.answer.tree import Mark

SCHEMA = "gpuwhy.report/1"
FOUND = 0.5
"""From this confidence on a cause is named as the answer."""
SURE = 0.9
"""Of the answers said with so much, 98 % are right (docs/accuracy.md)."""

Status = Literal["healthy", "broken", "degraded", "unknown"]
Verdict = Literal["healthy", "found", "undecided", "unrecognised", "answered"]
"""healthy: nothing wrong was found. found: a cause is named. undecided: several causes fit.
unrecognised: nothing in the text is known. answered: a typed question."""
EXIT_CODES: dict[Verdict, int] = {
    "healthy": 0,
    "answered": 0,
    "found": 1,
    "undecided": 4,
    "unrecognised": 4,
}

MARKS: dict[Verdict, Mark] = {
    "healthy": "ok",
    "answered": "",
    "found": "bad",
    "undecided": "unknown",
    "unrecognised": "unknown",
}


class _Part(msgspec.Struct, frozen=True, omit_defaults=True):
    """A part of the contract: fields may be added, never renamed."""


class Proof(_Part, frozen=True):
    """One checkable thing behind a reason, and where it was seen."""

    text: str
    source: str


class Reason(_Part, frozen=True):
    """One sentence for a cause, with the evidence by kind."""

    text: str
    saw: tuple[Proof, ...] = ()  # read on this machine
    know: tuple[Proof, ...] = ()  # known in general
    told: tuple[Proof, ...] = ()  # stated by the log
    line: int = 0  # of the log


class Fix(msgspec.Struct, frozen=True):
    """A remedy as it is said, and as a value."""

    text: str
    command: str
    safe: bool
    root: bool
    reboot: bool
    check: str  # a command that shows whether it worked; "" where only the program itself can
    action: tuple[Action, ...] = ()
    worked_if: str = ""
    if_not: str = ""
    verified: bool = False


class CauseFound(msgspec.Struct, frozen=True):
    """A cause, with its reasons and what to do."""

    id: str
    title: str
    confidence: float
    subject: str
    because: tuple[Reason, ...]
    explains: tuple[str, ...]
    fixes: tuple[Fix, ...]
    with_gpu: bool = False


class Row(_Part, frozen=True):
    """What one sees, what it means, what to do then."""

    sees: str
    means: str  # a cause
    title: str = ""
    text: str = ""
    command: str = ""


class Question(msgspec.Struct, frozen=True):
    """The one observation that decides."""

    id: str
    text: str
    command: str
    answers: dict[str, str]  # what is seen → cause; for `--answer`
    rows: tuple[Row, ...] = ()


class Layer(msgspec.Struct, frozen=True):
    """One layer of the stack, from the GPU to the program."""

    name: str
    text: str
    mark: Literal["ok", "bad", "warn", "unknown", "none"]
    note: str  # the cause that marks it, or ""


class RuledOut(msgspec.Struct, frozen=True):
    """A cause that an observation excludes."""

    id: str
    because: str


class Open(msgspec.Struct, frozen=True):
    """A cause that could not be decided: what is missing, and what would show it."""

    id: str
    missing: str
    how: str


class Crashed(msgspec.Struct, frozen=True):
    """A cause that gpuwhy failed to judge: a bug of gpuwhy."""

    id: str
    error: str


class Noticed(msgspec.Struct, frozen=True):
    """True, and with no link to how the program ended."""

    id: str | None
    text: str


class Symptom(msgspec.Struct, frozen=True):
    """A message of the text."""

    id: str
    role: str
    line: int
    text: str
    fields: dict[str, str]
    follows: int | None
    times: int
    standing: str = "decides"


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was decided, in the one object that every writer reads."""

    status: Status
    headline: str
    causes: tuple[CauseFound, ...]
    ruled_out: tuple[RuledOut, ...]
    undetermined: tuple[Open, ...]
    crashed: tuple[Crashed, ...]
    layers: tuple[Layer, ...]
    unseen: tuple[str, ...]
    facts: dict[str, Any]
    gpuwhy: str
    took: float
    verdict: Verdict = "healthy"
    schema: str = SCHEMA
    question: Question | None = None
    not_tried: tuple[str, ...] = ()  # what would show more: "importing (gpuwhy check --import)"
    noticed: tuple[Noticed, ...] = ()
    symptoms: tuple[Symptom, ...] = ()
    ending: dict[str, Any] | None = None
    probe: tuple[Layer, ...] = ()
    as_if: str = ""
    knowledge: str = ""
    about: str = ""  # the file or program that it is about
    more: str = ""  # the command that shows the rest: "gpuwhy explain -v train.log"

    @property
    def first(self) -> CauseFound | None:
        """The cause that is named, if one is."""
        return self.causes[0] if self.verdict == "found" and self.causes else None

    @property
    def mark(self) -> Mark:
        """✓ ✗ or ?, "" for a question."""
        return MARKS[self.verdict]

    @property
    def exit_code(self) -> int:
        """0 nothing wrong, or a question answered; 1 a cause is named; 4 undecided or not
        recognised.
        """
        return EXIT_CODES[self.verdict]
