"""Signature: one message that a program is known to print, as data."""

from __future__ import annotations

import msgspec

from gpuwhy.model.symptom import Role


class Signature(msgspec.Struct, frozen=True):
    """A message: its id, its expression, and literals of which every matching line holds at least one.

    Anchors are lower case and found in one pass over the text; the expression (case ignored) is tried only on lines
    that hold one. Named groups become fields. `table` names the status table that turns the `name`, `says` or `number`
    group into the last part of the id. `covers`: signatures that say less about the same line;
    `yields`: any other message of the line says more.
    """

    id: str
    pattern: str
    anchors: tuple[str, ...]
    role: Role = "error"
    table: str = ""
    covers: tuple[str, ...] = ()
    yields: bool = False

    @property
    def speaker(self) -> str:
        """The part of the id before the dot."""
        return self.id.split(".", 1)[0]


def error(name: str, pattern: str, *anchors: str, covers: tuple[str, ...] = (), table: str = "") -> Signature:
    """A message that decides."""
    return Signature(name, pattern, anchors, "error", table, covers)


def vague(name: str, pattern: str, *anchors: str) -> Signature:
    """A failure told in general words: it counts only where its line says nothing else."""
    return Signature(name, pattern, anchors, "error", yields=True)


def echo(name: str, pattern: str, *anchors: str, covers: tuple[str, ...] = ()) -> Signature:
    """A message that says that something failed, not what."""
    return Signature(name, pattern, anchors, "echo", covers=covers)


def harmless(name: str, pattern: str, *anchors: str, covers: tuple[str, ...] = ()) -> Signature:
    """A message that people take for an error."""
    return Signature(name, pattern, anchors, "harmless", covers=covers)


def context(name: str, pattern: str, *anchors: str, covers: tuple[str, ...] = ()) -> Signature:
    """A line that says where we are."""
    return Signature(name, pattern, anchors, "context", covers=covers)


def told(name: str, pattern: str, *anchors: str) -> Signature:
    """A fact about the machine, pasted along."""
    return Signature(name, pattern, anchors, "told")
