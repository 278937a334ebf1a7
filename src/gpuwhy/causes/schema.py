"""The rows of the cause, message and program files.

Unknown keys are rejected; docs/data.md explains each.
"""

from typing import Any, Literal, Union

import msgspec

Role = Literal["error", "echo", "harmless", "context", "fact", "healthy"]
"""Of a row of the data. error: states a failure. echo: says that something failed, not what.
harmless: often taken for an error. context: shows which program prints. fact: states something of
the machine. healthy: shows success."""

When = Union[str, list[str], dict[str, Any]]
"""A condition: the name of a predicate, several of them, or a table. A key of the table is a field
of the message, a field of the Case, "version.<package>", the name of a predicate, or a word of
WORDS; its value is what it must be: "x" (equal, case ignored) · ["x", "y"] (one of) ·
"~expression" (found in it) · "*" (stated) · "" (not stated) · "> 0.6" (a number) · true / false (a
predicate that must, or must not, hold). In `when` all must hold; in `unless` none may."""

WORDS = frozenset(
    (
        *("line", "beside", "and_beside", "alone", "alone_beside", "nothing_else", "no_errors"),
        *("call", "differ", "of", "of_wanted", "missing", "share_free"),
    )
)
"""Keys with a meaning of their own. line: an expression on the message's line. beside: another
message of these ids or families is there; and_beside: one of these as well. alone: no other error
decides. alone_beside: none but these. nothing_else: only general words fail. no_errors: nothing is
an error. call: the family of the call that returned the status. differ: two fields differ. of: the
kind of library that the message names (cudnn, cuda, nccl, driver …); of_wanted: that of the one
which the first one misses; missing: a library of this kind is not found either. share_free: which
part of the memory was free."""


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A row of a data file."""


class Clue(Row, frozen=True):
    """What a message means for this cause.

    The weight is in natural log-odds, in half steps; 3 is about 20 to 1.
    """

    on: tuple[str, ...]  # ids of messages, or families that end in "."
    weight: float
    says: str  # one sentence; {fields} of the message or the Case
    when: When | None = None
    unless: When | None = None


class ForCause(Row, frozen=True):
    """The same, written in a program's file: what its message means for a cause."""

    cause: str
    weight: float
    says: str
    when: When | None = None
    unless: When | None = None


class MessageRow(Row, frozen=True, rename={"not_": "not", "for_": "for"}):
    """A message that programs print."""

    id: str
    pattern: str | tuple[str, ...]  # a list: alternatives with the same fields
    role: Role = "error"
    speaker: (
        str | tuple[str, ...]
    ) = ()  # programs that print it; empty: any. "person": in a person's own words
    literals: tuple[
        str, ...
    ] = ()  # one of them stands in every line that matches; derived where empty
    codes: str = ""  # a table of statuses: the id becomes <id>.<status>
    covers: tuple[str, ...] = ()  # ids or families that say less on the same line
    yields: bool = False  # gives way to any message that says what failed
    once: bool = False  # the first line that says it is enough
    matches: tuple[str, ...] = ()  # lines in which the reader must find it
    not_: tuple[str, ...] = ()  # lines in which it must not
    source: str = ""
    for_: tuple[ForCause, ...] = ()

    @property
    def patterns(self) -> tuple[str, ...]:
        """The alternatives."""
        return (self.pattern,) if isinstance(self.pattern, str) else self.pattern

    @property
    def speakers(self) -> tuple[str, ...]:
        """The programs that print it."""
        return (self.speaker,) if isinstance(self.speaker, str) else self.speaker


class RemedyRow(Row, frozen=True, rename={"for_": "for"}):
    """One thing to do about a cause: an action, or the name of a maker in advise/makers.py."""

    do: (
        dict[str, Any] | tuple[dict[str, Any], ...]
    ) = ()  # decoded as advise.remedy.Action; several: steps
    make: str = ""
    text: str = ""  # what to do, in one sentence; empty: `say` makes it of the actions
    placed: bool = False  # its text says already on which machine
    fits: int = 0  # how closely it belongs to its messages; 0: counted from its conditions
    on: tuple[str, ...] = ()  # only for these messages
    for_: tuple[str, ...] = ()  # in a program's file: only for these causes
    when: When | None = None
    unless: When | None = None
    why: str = ""
    worked_if: str = ""
    if_not: str = ""  # where to go if it did not help
    root: bool = False
    reboot: bool = False
    reversible: bool = True
    source: str = ""


class Outcome(Row, frozen=True):
    """What one sees when one runs a question's command, and what that means."""

    sees: str
    means: str  # a cause
    says: str = ""  # what that means here, and what to do where nothing is typed; else its title
    do: dict[str, Any] | None = None  # where it is not the cause's first remedy


class QuestionRow(Row, frozen=True):
    """The one observation that separates causes."""

    between: tuple[str, ...]
    run: str | dict[str, str]  # by system: any, linux, windows
    answers: tuple[Outcome, ...]
    when: When | None = None
    when_to_run: str = ""
    source: str = ""


class CauseFile(Row, frozen=True):
    """causes/<id>.toml."""

    id: str
    title: str  # the state of the machine: lower case, no full stop
    effect: str = ""  # "{framework} does not use the GPU"
    worked_if: str = ""  # what one sees when it is gone, where the remedy's row does not say it
    explains: tuple[str, ...] = ()  # causes that this one explains when facts show both
    maybe: tuple[str, ...] = ()  # messages, or sets "messages:name", that do not exclude it
    likely: float = 0.0  # added where the text does not decide: how common it is, in log-odds
    clues: tuple[Clue, ...] = ()
    message: tuple[MessageRow, ...] = ()
    remedy: tuple[RemedyRow, ...] = ()
    question: tuple[QuestionRow, ...] = ()


class ProgramFile(Row, frozen=True):
    """knowledge/programs/<id>.toml: all there is about one program."""

    id: str
    title: str
    knows: tuple[str, ...] = ()  # expressions on a line by which it is recognised
    uses: tuple[str, ...] = ()  # libraries and programs whose messages it prints: "cuda", "ggml"
    prefix: tuple[str, ...] = ()  # expressions of what stands before its lines
    python: bool = False  # it is a Python package, and takes Python's remedies
    framework: str = ""  # the framework that it runs on
    on_gpu: tuple[str, ...] = ()  # messages that say that it runs on the GPU
    on_cpu: tuple[str, ...] = ()  # messages after which it runs on the CPU: the headline says so
    message: tuple[MessageRow, ...] = ()
    remedy: tuple[RemedyRow, ...] = ()
    source: str = ""


class MessagesFile(Row, frozen=True):
    """knowledge/messages/<name>.toml: messages that several causes share and no program owns."""

    message: tuple[MessageRow, ...] = ()
    sets: dict[str, tuple[str, ...]] = {}  # names for messages that mean one thing: no_gpu_seen
