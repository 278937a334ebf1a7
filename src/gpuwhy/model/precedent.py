"""Precedent: what others whose program said the same found, and what cured it."""

from __future__ import annotations

from typing import Literal

import msgspec

Kind = Literal[
    "any", "linux", "host", "engine", "driver", "wsl", "across", "cmd", "powershell", "code", "dockerfile"
]  # fmt: skip


class Precedent(msgspec.Struct, frozen=True, rename={"unless": "not"}, forbid_unknown_fields=True):
    """The phrases of a text (all of them), the cause that was behind them, and the cure: a sentence, typed commands."""

    says: tuple[str, ...]
    cause: str
    do: str
    run: tuple[tuple[Kind, str], ...] = ()
    unless: tuple[str, ...] = ()
    source: str = ""
    only: bool = False  # the general ways of its cause would mislead here


class Alike(msgspec.Struct, frozen=True):
    """A precedent that fits a text: the words its places stand for, and how much of the text it knows."""

    row: Precedent
    names: dict[str, str]
    known: int  # characters that the phrases fix

    def filled(self, text: str) -> str:
        """A sentence or a command with the words of the text in its places."""
        for name, value in self.names.items():
            text = text.replace(f"<{name}>", value)
        return text
