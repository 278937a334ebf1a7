"""The Answer of check, explain and run; as JSON it is the contract `gpuwhy.report/1`."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from gpuwhy.advise.remedy import Action
from gpuwhy.answer.tree import Language, Mark

SCHEMA = "gpuwhy.report/1"
FOUND = 0.5
"""From this confidence on a cause is named as the answer."""
SURE = 0.9
"""Of the answers said with so much, 98 % are right (docs/accuracy.md)."""
CERTAIN = 0.95
"""The word "certain"; "likely" from FOUND on, "possible" below."""
NOT_GPU = "other.not_gpu"
"""The cause that says: this is no matter of the GPU stack."""

Status = Literal["healthy", "broken", "degraded", "unknown"]
Verdict = Literal["healthy", "found", "undecided", "unrecognised", "answered"]
"""healthy: nothing wrong was found. found: a cause is named. undecided: several causes fit.
unrecognised: nothing in the text is known. answered: a typed question."""


def certainty(confidence: float) -> str:
    """A confidence in a word."""
    return "certain" if confidence >= CERTAIN else "likely" if confidence >= FOUND else "possible"


Id = Annotated[str, Meta(pattern=r"^[a-z]+\.[a-z0-9_]+$")]
Said = Annotated[str, Meta(min_length=1)]


class _Part(msgspec.Struct, frozen=True, omit_defaults=True):
    """A part of the contract: fields may be added, never renamed."""


class Proof(_Part, frozen=True):
    """One checkable thing behind a reason, and where it was seen."""

    text: Said
    source: str


class Reason(_Part, frozen=True):
    """One sentence for a cause, with the evidence by kind."""

    text: Said  # subject, requirement, observation, with the numbers
    saw: tuple[Proof, ...] = ()  # read on this machine
    know: tuple[Proof, ...] = ()  # known in general
    told: tuple[Proof, ...] = ()  # stated by the log
    line: int = 0  # the line of the log that decides


class Fix(msgspec.Struct, frozen=True):
    """A remedy as it is said, and as a value."""

    text: Said
    command: str  # to be copied; may have several lines; empty where there is none
    safe: bool  # changes nothing outside this shell or this Python environment, and can be undone
    root: bool
    reboot: bool
    check: str  # the command that shows whether it helped; empty where only the program itself can
    action: tuple[Action, ...] = ()  # the same as values: what `gpuwhy fix --apply` carries out
    worked_if: str = ""  # what one sees when it helped
    if_not: str = ""  # what to look at if it did not help
    verified: bool = False  # it was carried out on a real break, and the program ran
    language: Language = "sh"  # what the command is typed into


class CauseFound(msgspec.Struct, frozen=True):
    """A cause, with its reasons and what to do."""

    id: Id
    title: Said  # the state of the machine
    confidence: Annotated[float, Meta(ge=0, le=1)]  # from 0.5 on it is found: exit code 1
    subject: str  # the framework or GPU it concerns; empty for the machine
    because: Annotated[tuple[Reason, ...], Meta(min_length=1)]
    explains: tuple[str, ...]  # messages and other causes that this one accounts for
    fixes: tuple[Fix, ...]  # the one to try first, first
    # nothing is wrong on this machine, which has no GPU; it would show on one that has one
    with_gpu: bool = False


class Row(_Part, frozen=True):
    """What one sees, what it means, what to do then."""

    sees: Said
    means: str  # the cause that it points to
    title: str = ""  # that cause in words
    text: str = ""  # what to do then
    command: str = ""


class Question(msgspec.Struct, frozen=True):
    """The one observation that decides."""

    id: str
    text: str
    command: str
    answers: dict[str, Id]  # what is seen → the cause; for `explain --answer`
    rows: tuple[Row, ...] = ()  # the same as a table, with what to do
    language: Language = "sh"


class Layer(msgspec.Struct, frozen=True):
    """One layer of the stack, from the GPU to the program."""

    name: Said
    text: str
    mark: Literal["ok", "bad", "warn", "unknown", "none"]
    note: str  # the cause that marks this layer, or empty


class RuledOut(msgspec.Struct, frozen=True):
    """A cause that an observation excludes."""

    id: Id
    because: Said


class Open(msgspec.Struct, frozen=True):
    """A cause that could not be decided: what is missing, and what would show it."""

    id: Id
    missing: Said
    how: str


class Crashed(msgspec.Struct, frozen=True):
    """A cause that gpuwhy failed to judge: a bug of gpuwhy."""

    id: Id
    error: str


class Noticed(msgspec.Struct, frozen=True):
    """True, and with no link to how the program ended."""

    id: Id | None
    text: str


class Untried(msgspec.Struct, frozen=True):
    """Something that was not looked at, and the command that would look."""

    text: Said
    command: str = ""


class Point(_Part, frozen=True):
    """A row of an answered question: what it is about, the answer, where it is known from."""

    label: Said
    text: str
    command: str = ""
    source: str = ""


class LogLine(msgspec.Struct, frozen=True):
    """A line of the text that was read."""

    line: int
    text: str


class Symptom(msgspec.Struct, frozen=True):
    """A message of the text."""

    id: str
    role: Literal["error", "echo", "aside", "harmless", "context", "told"]
    line: Annotated[int, Meta(ge=1)]
    text: str
    fields: dict[str, str]
    follows: int | None  # the place in this list of the message that explains it
    times: Annotated[int, Meta(ge=1)]
    standing: str = "decides"  # decides, follows, noted, quoted or harmless, in this text


class Frame(msgspec.Struct, frozen=True):
    """One place in the stack."""

    file: str
    line: int
    function: str
    owner: str  # "user", "python", or the package


class Raised(msgspec.Struct, frozen=True):
    """An exception of the chain."""

    type: str
    message: str


class Ended(msgspec.Struct, frozen=True):
    """How the program ended."""

    kind: Literal["exception", "signal", "status", "fatal", "exit", "timeout"]
    type: str
    message: str
    line: int | None
    exit_code: int | None
    own: bool  # for a reason of its own, to which nothing printed before leads
    frame: Frame | None
    wrappers: tuple[str, ...]
    chain: tuple[Raised, ...]


class Answer(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="schema", tag=SCHEMA):
    """What `gpuwhy check`, `explain` and `run` print with `--json`.

    Fields may be added in later releases, never renamed or removed: readers ignore what they do
    not know.
    """

    # healthy: nothing wrong found (a machine without a GPU and without a claim to one is
    # healthy). broken: a cause stops GPU work. degraded: a cause slows or narrows it. unknown:
    # too little could be seen
    status: Status
    headline: Said  # the answer in one line
    causes: tuple[CauseFound, ...]  # best first
    ruled_out: tuple[RuledOut, ...]
    undetermined: tuple[Open, ...]
    crashed: tuple[Crashed, ...]
    layers: tuple[Layer, ...]  # from the GPU to the program
    unseen: tuple[Said, ...]  # what could not be observed, as sentences
    facts: dict[str, Any]  # everything observed, by subject; every field is a fact
    gpuwhy: Said  # the version that made the report
    took: Annotated[float, Meta(ge=0)]  # seconds spent observing
    verdict: Verdict
    question: Question | None = None
    not_tried: tuple[Untried, ...] = ()  # what would show more, and the command for it
    tried: str = ""  # what `--import` imported, and what its sandbox held
    noticed: tuple[Noticed, ...] = ()
    symptoms: tuple[Symptom, ...] = ()  # the messages of the text, in order
    ending: Ended | None = None
    probe: tuple[Layer, ...] = ()  # `check --probe`: one row per live stage
    points: tuple[Point, ...] = ()  # the rows of an answered question
    last_line: LogLine | None = None  # of a text that was not recognised, its last line
    as_if: str = ""  # the machine that was judged instead of this one, described
    knowledge: str = ""  # the date of the newest published file behind the tables
    command: str = ""  # "check", "explain", "run" or "ask"
    about: str = ""  # the file or program that it is about
    made_on: str = ""  # the day: 2026-11-18
    more: str = ""  # the command that shows the rest

    @property
    def first(self) -> CauseFound | None:
        """The cause that is named, if one is."""
        return self.causes[0] if self.verdict == "found" and self.causes else None

    @property
    def mark(self) -> Mark:
        """✓ ✗ or ?, "" for a question."""
        marks: dict[Verdict, Mark] = {"healthy": "ok", "found": "bad", "answered": ""}
        return marks.get(self.verdict, "unknown")

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from gpuwhy.answer import blocks, html

        return html.fragment(blocks.document(self, 1))

    @property
    def exit_code(self) -> int:
        """0 nothing wrong, or a question answered; 1 a cause is named; 4 everything else."""
        return {"healthy": 0, "answered": 0, "found": 1}.get(self.verdict, 4)
