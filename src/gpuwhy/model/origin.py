"""Origin: which program prints a line, where, in which releases, and what a reader of that code made of it."""

from __future__ import annotations

import msgspec


class Label(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a reader of the code made of a message: likely causes, best first, the stage, one sentence."""

    keys: tuple[str, ...]
    where: str  # package · module · function
    causes: tuple[str, ...]
    stage: str
    says: str

    @property
    def package(self) -> str:
        """The program in which it was read."""
        return self.where.partition(" · ")[0]


class Place(msgspec.Struct, frozen=True):
    """Where a package says it."""

    package: str
    module: str  # the source file, or the library where the file is not known
    function: str  # "" where it is not known
    kind: str  # the exception type, or the level of a log line; "" where it is not known
    releases: tuple[str, ...]  # those read that have it, oldest first
    read: tuple[str, ...]  # all that were read

    @property
    def span(self) -> str:
        """Which releases have it, as far as they were read."""
        first, last = self.releases[0], self.releases[-1]
        oldest, newest = first == self.read[0], last == self.read[-1]
        if oldest and newest:
            return f"in every release from {first} to {last}" if len(self.read) > 1 else f"in {first}"
        if newest:
            return f"since {first} (not yet in {self.read[self.read.index(first) - 1]})"
        if oldest:
            return f"up to {last} (no longer in {self.read[self.read.index(last) + 1]})"
        return f"from {first} to {last}" if first != last else f"in {first}"

    @property
    def text(self) -> str:
        """As one clause: raised by jax, jax/_src/xla_bridge.py, in `backends`, since 0.4.30."""
        logged = not self.kind or self.kind.isupper()
        verb = "printed" if logged else "warned" if self.kind.endswith("Warning") else "raised"
        inside = f", in `{self.function}`" if self.function else ""
        return f"{verb} by {self.package}, {self.module}{inside}, {self.span}"


class Origin(msgspec.Struct, frozen=True):
    """Where a line comes from: one place per package that has the text, the likeliest first, and its label."""

    key: str
    places: tuple[Place, ...]
    share: float
    label: Label | None = None
    prior: dict[str, float] = {}  # cause → share: the label's, or that of its module

    @property
    def package(self) -> str:
        """The package that prints it."""
        return self.places[0].package

    @property
    def module(self) -> str:
        """The source file, or the library where the file is not known."""
        return self.places[0].module

    @property
    def function(self) -> str:
        """The function; "" where it is not known."""
        return self.places[0].function

    @property
    def kind(self) -> str:
        """The exception type, or the level of a log line; "" where it is not known."""
        return self.places[0].kind

    @property
    def first(self) -> str:
        """The first release read that has it."""
        return self.places[0].releases[0]

    @property
    def last(self) -> str:
        """The last release read that has it."""
        return self.places[0].releases[-1]

    @property
    def text(self) -> str:
        """Where it comes from, in one clause."""
        others = ", ".join(place.package for place in self.places[1:])
        return self.places[0].text + (f" (the same text also in {others})" if others else "")
