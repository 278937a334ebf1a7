"""What lint says: mistakes with their places, what could not be read, and the contract of both."""

from typing import Any, Literal

import msgspec

from gpuwhy.facts.fact import Source

SCHEMA = "gpuwhy.lint/1"
Severity = Literal["error", "warning"]


class Place(msgspec.Struct, frozen=True):
    """A line of a file."""

    path: str
    line: int  # from 1; 0 = the file as a whole

    def __str__(self) -> str:
        return f"{self.path}:{self.line}" if self.line else self.path


class Edit(msgspec.Struct, frozen=True):
    """The one certain correction: what stands on the mistake's line, and what to write instead."""

    old: str
    new: str


class Mistake(msgspec.Struct, frozen=True):
    """One mistake: the sentence, the source that makes it one, and what to write instead."""

    rule: str
    severity: Severity
    place: Place
    text: str
    know: Source
    fix: str
    edit: Edit | None = None  # where one edit is certain to be right
    through: Place | None = None  # the line of another file that includes this one


class Problem(msgspec.Struct, frozen=True):
    """What could not be read."""

    place: Place
    text: str


class BadFileError(ValueError):
    """What is not of the kind that it should be; `line` from 1."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.line = line


class Checked(msgspec.Struct, frozen=True):
    """One file: its kind ("" = not known), its mistakes, and what could not be checked."""

    path: str
    kind: str
    mistakes: tuple[Mistake, ...] = ()
    problems: tuple[Problem, ...] = ()
    notes: tuple[Problem, ...] = ()  # left unchecked on purpose
    ignored: int = 0  # mistakes that a comment silences


class Lint(msgspec.Struct, frozen=True):
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

    @property
    def counts(self) -> dict[str, int]:
        """Errors, warnings, and files that could not be read."""
        kinds = [mistake.severity for mistake in self.mistakes]
        unreadable = sum(bool(file.problems) for file in self.files)
        errors, warnings = kinds.count("error"), kinds.count("warning")
        return {"error": errors, "warning": warnings, "unreadable": unreadable}


def know(where: str, detail: str = "") -> Source:
    """The source of a rule."""
    return Source("know", where, detail)


def contract(lint: Lint, version: str) -> dict[str, Any]:
    """The values of `gpuwhy.lint/1`: files as they are, but for lines instead of places."""
    counts, files = lint.counts, msgspec.to_builtins(lint.files)
    for file in files:
        for one in (*file["problems"], *file["notes"], *file["mistakes"]):
            one["line"] = one.pop("place")["line"]
        for one in file["mistakes"]:
            one["know"] = {"where": one["know"]["where"], "detail": one["know"].get("detail", "")}
    status = "found" if counts["error"] or counts["warning"] else "clean"
    status = "unreadable" if counts["unreadable"] else status
    first = {"schema": SCHEMA, "gpuwhy": version, "status": status}
    return {**first, "counts": counts, "files": files}
