"""Fact: what is known of one thing, and how. Known, Absent or Unknown; never a bare boolean."""

from __future__ import annotations

from typing import Generic, Literal, NoReturn, TypeVar, Union

import msgspec

T = TypeVar("T")
U = TypeVar("U")

Why = Literal[
    "",
    "denied",  # no permission to read
    "loop",  # symbolic links that lead in a circle
    "long",  # a name longer than the system takes
    "foreign",  # not of the format that was asked for
    "left out",  # the user asked not to look
    "ended",  # a child was started, and ended before it said anything
    "cut",  # of that format, and shorter than its headers say
    "offline",  # files alone: nothing there can be run or asked
    "refused",  # the loader's search ends at a file that it does not take
    "not tried",  # `check` does not run it; an option does
]
"""Why something is not known, for code that decides by it; "" where nobody does."""

SourceKind = Literal["file", "folder", "env", "call", "command", "log", "know", "package", "none"]


class Source(msgspec.Struct, frozen=True, omit_defaults=True):
    """How we know: the file, call, command, variable or table row a value came from."""

    kind: SourceKind
    where: str
    detail: str = ""

    def __str__(self) -> str:
        shown = f"${self.where}" if self.kind == "env" else self.where
        return f"{shown} ({self.detail})" if self.detail else shown


class Undetermined(Exception):  # noqa: N818 - it is an answer, not an error
    """Raised by `need()` on an Unknown fact: whoever asked cannot decide without it."""

    def __init__(self, unknown: Unknown) -> None:
        super().__init__(unknown.reason)
        self.unknown = unknown


class _NoTruth:
    """Facts have three states, so `if fact:` is a mistake and says so."""

    def __bool__(self) -> NoReturn:
        name = type(self).__name__
        raise TypeError(f"{name} has no truth value; ask .need() or match on its state")


class Known(msgspec.Struct, _NoTruth, Generic[T], frozen=True, tag_field="state", tag="known"):
    """A value that was seen, and where."""

    value: T
    source: Source

    def need(self) -> T:
        """Return the value."""
        return self.value


class Absent(msgspec.Struct, _NoTruth, frozen=True, tag_field="state", tag="absent"):
    """We looked in the right place and it is not there."""

    source: Source

    def need(self) -> None:
        """Return None: absence is knowledge."""
        return


class Unknown(
    msgspec.Struct, _NoTruth, frozen=True, omit_defaults=True, tag_field="state", tag="unknown"
):
    """We could not find out; `how` says what would show it, where something would."""

    reason: str  # for people: nobody decides by its words
    how: str = ""
    kind: Why = ""

    def need(self) -> NoReturn:
        """Raise Undetermined: nobody may decide on what was not seen."""
        raise Undetermined(self)


Fact = Union[Known[T], Absent, Unknown]

NOT_OBSERVED = Unknown("not observed")


def known(value: T, kind: SourceKind, where: str, detail: str = "") -> Known[T]:
    """Build a Known fact with its source in one line."""
    return Known(value, Source(kind, where, detail))


def absent(kind: SourceKind, where: str, detail: str = "") -> Absent:
    """Build an Absent fact with its source in one line."""
    return Absent(Source(kind, where, detail))


def value_or(fact: Fact[T], default: U) -> T | U:
    """Return the value where it is known, else `default`: for display, never for a decision."""
    return fact.value if isinstance(fact, Known) else default


def or_unknown(fact: Fact[T], reason: str, how: str = "") -> Unknown:
    """Return the fact where it is Unknown, else an Unknown for this reason."""
    return fact if isinstance(fact, Unknown) else Unknown(reason, how)


def source_of(fact: Fact[T]) -> Source:
    """Return where a fact came from; an Unknown's source is its reason."""
    return Source("none", fact.reason) if isinstance(fact, Unknown) else fact.source


Manager = Literal["", "pip", "conda", "dpkg", "rpm", "pacman", "python"]
"""Who installed something; "python" where it is Python itself, "" where nobody is known to."""


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Frozen, and strict when read back; a field that nobody filled is Unknown("not observed")."""


class Owner(Record, frozen=True, omit_defaults=True):
    """The package that a file or a claim belongs to."""

    name: str  # as its manager writes it, normalised: nvidia-cudnn-cu12
    version: str = ""
    manager: Manager = ""

    def __str__(self) -> str:
        return f"{self.name} {self.version}".rstrip()
