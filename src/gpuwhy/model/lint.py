"""Lint: what is wrong in a file that describes an installation, a container or a job, before it runs."""

from __future__ import annotations

from typing import Literal

import msgspec

from gpuwhy.model.fact import Source
from gpuwhy.model.rich import Rich

Severity = Literal["error", "warning"]


class Place(msgspec.Struct, frozen=True):
    """A line of a file."""

    path: str
    line: int  # from 1; 0 = the file as a whole


class Rule(msgspec.Struct, frozen=True):
    """One kind of mistake; single mistakes of an error rule may be warnings where something could still save them."""

    id: str
    severity: Severity
    title: str

    def mistake(
        self,
        place: Place,
        text: str,
        know: Source,
        fix: str,
        severity: Severity | None = None,
        edit: Edit | None = None,
    ) -> Mistake:
        """A mistake under this rule, with its severity unless another is given."""
        return Mistake(self.id, severity or self.severity, place, text, know, fix, edit)


class Edit(msgspec.Struct, frozen=True):
    """The one certain correction: what stands on the mistake's line, and what to write instead."""

    old: str
    new: str


class Mistake(msgspec.Struct, frozen=True):
    """One mistake: the sentence with its numbers, what is known that makes it one, and what to write instead."""

    rule: str
    severity: Severity
    place: Place
    text: str
    know: Source
    fix: str
    edit: Edit | None = None  # where one edit is certain to be right
    through: Place | None = None  # the line of another file that takes this one in, where that shows the mistake


class Problem(msgspec.Struct, frozen=True):
    """What could not be read."""

    place: Place
    text: str


class Checked(msgspec.Struct, frozen=True):
    """One file: its kind ('' = none that is known), what is wrong in it, and what could not be checked."""

    path: str
    kind: str
    mistakes: tuple[Mistake, ...] = ()
    problems: tuple[Problem, ...] = ()
    notes: tuple[Problem, ...] = ()  # left unchecked on purpose: a template, a value that only the build knows
    ignored: int = 0  # mistakes silenced by a comment


class Lint(msgspec.Struct, Rich, frozen=True):
    """Everything that was asked for."""

    files: tuple[Checked, ...]

    @property
    def mistakes(self) -> tuple[Mistake, ...]:
        """The mistakes of all files, in order."""
        return tuple(mistake for file in self.files for mistake in file.mistakes)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What could not be read, of all files."""
        return tuple(problem for file in self.files for problem in file.problems)
