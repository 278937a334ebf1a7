"""Symptom and Told: what a failing program printed, and what was said of the machine along with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Literal

import msgspec

from gpuwhy.model.ending import Ending
from gpuwhy.model.fact import Source

SOURCE, QUESTION = "source code", "a question"
"""The notes of a text that is no output of a program."""
MISSPELT = "misspelt"
"""The note of a text that says something only once its spelling is set right."""
_SIZE = re.compile(r"([\d.]+) ?([KMGT]?)", re.IGNORECASE)
_UNIT = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
Role = Literal["error", "echo", "aside", "harmless", "context", "told"]
"""error: it decides. echo: says that something failed, not what. aside: an error that the program outlived and that its
ending has no link to. harmless: taken for an error, and none. context: tells where a line comes from. told: a fact
about the machine, pasted along."""


class Symptom(msgspec.Struct, frozen=True):
    """One known message in a text: which, its fields, and where it stands."""

    signature: str  # "loader.cannot_open"
    line: int  # from 1
    text: str  # the line, cleaned and cut
    order: int = 0  # among the symptoms of the text
    role: Role = "error"
    fields: dict[str, str] = {}
    follows: int = -1  # the order of the symptom that explains this one
    times: int = 1  # how often the same was said
    last: int = 0  # the line where it was said last, where that is another
    seen: Source | None = None  # where it was not printed but observed: by what
    borrowed: bool = False  # the text only quotes it: a string of source, a search's hit, a value that a test compares
    warned: bool = False  # its line calls itself a warning or a note, or is one after which a framework goes on

    @property
    def speaker(self) -> str:
        """The part of the signature before the dot."""
        return self.signature.split(".", 1)[0]

    def within(self, ending: Ending) -> bool:
        """Whether the ending says it, though it may have been said before."""
        return ending.holds(self.line) or (self.last > 0 and ending.holds(self.last))

    def quoted(self, ending: Ending) -> bool:
        """Whether it stands only in the source text that a traceback shows."""
        return ending.quotes(self.line) and (not self.last or ending.quotes(self.last))

    def get(self, name: str) -> str:
        """A field, "" where the message did not say it."""
        return self.fields.get(name) or ""

    def size(self, name: str) -> float:
        """The bytes of a field such as '2.50 GiB'; -1 where it is none."""
        match = _SIZE.match(self.get(name))
        return float(match[1].rstrip(".") or 0) * _UNIT[match[2].upper()] if match and match[1].strip(".") else -1


class Told(msgspec.Struct, frozen=True):
    """What the text says of the machine: claims, not observations."""

    versions: dict[str, tuple[str, ...]] = {}  # "torch": ("2.1.2+cpu",), "cudnn": …, "driver": …, "driver_cuda": …
    gpus: tuple[str, ...] = ()
    files: tuple[str, ...] = ()  # paths that a listing in the text shows to exist
    os: Literal["", "linux", "windows", "wsl", "macos"] = ""
    container: bool = False

    def version(self, name: str) -> str:
        """The first version told of a thing, or ""."""
        return next(iter(self.versions.get(name, ())), "")


class Reading(msgspec.Struct, frozen=True):
    """A text as it was understood."""

    symptoms: tuple[Symptom, ...] = ()
    told: Told = Told()
    lines: int = 0
    left_out: int = 0  # symptoms beyond the number that is kept
    notes: tuple[str, ...] = ()  # what the text was: gzip, UTF-16, binary
    ending: Ending = Ending()
    excerpt: str = ""  # its beginning and its end, for the words; never part of a report
    foreign: bool = False  # no part of the GPU stack, no framework and no library speaks in it
    mute: bool = False  # not even a word stands in it that may be meant of the stack
    service: str = ""  # the container whose name stood before each line, as compose writes it

    def has(self, *prefixes: str) -> bool:
        """Whether a signature that starts so was found."""
        return any(s.signature.startswith(prefixes) for s in self.symptoms)

    def all(self, *prefixes: str) -> Iterator[Symptom]:
        """The symptoms whose signature starts so, in order."""
        return (s for s in self.symptoms if s.signature.startswith(prefixes))

    @property
    def errors(self) -> tuple[Symptom, ...]:
        """The symptoms that decide: errors that no earlier one explains."""
        return tuple(s for s in self.symptoms if s.role == "error" and s.follows < 0)


Condition = Callable[[Symptom, Reading], bool]


def always(symptom: Symptom, reading: Reading) -> bool:
    """The condition of a clue that needs none."""
    return True


class Clue(msgspec.Struct, frozen=True):
    """How much one message speaks for (or, below zero, against) one cause.

    The weight is in natural log-odds against "nothing is wrong": 3 means about twenty to one where nothing else is
    known. `text` is a sentence; {names} in it are fields of the symptom.
    """

    cause: str
    signature: str
    weight: float
    text: str
    when: Condition = always


class Question(msgspec.Struct, frozen=True):
    """One cheap test that separates causes: a command, and which cause each outcome speaks for."""

    id: str
    text: str
    command: str
    answers: dict[str, str]  # outcome → cause
    windows: str = ""  # the command there, where it is another
