"""The options of every command, as commands/NAME.toml lists them.

The parser, the help, completion and the schemas of `gpuwhy mcp` are made of these rows.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec

GROUPS = (
    ("when something fails", ("check", "explain", "run", "prove", "fix")),
    ("before you install or start a job", ("plan", "fit", "lint", "releases")),
    ("to look something up", ("ask", "code", "cause", "inspect")),
    ("for somebody else, or for many machines", ("record", "report", "fleet")),
    ("for agents, and about gpuwhy", ("mcp", "help", "completion")),
)
COMMANDS = tuple(name for _, names in GROUPS for name in names)
USUAL = {
    "0": "nothing wrong found, or a question answered",
    "1": "a cause is named",
    "2": "bad usage, or an input that cannot be read",
    "3": "gpuwhy itself failed",
    "4": "undecided, or not recognised",
}


class Option(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One row; its key spells it as a usage line does: `-v --verbose`, `--gpu G…`, `[FILE…]`.

    What follows a name is a placeholder, or the possible values with | between; […] is optional,
    … means several.
    """

    key: str
    help: str = ""
    to: str = ""  # the name under which a command finds the value
    names: Literal["", "causes", "projects", "commands"] = ""  # what completion offers
    choices: tuple[str, ...] = ()
    default: str | float | int | None = None
    const: str = ""  # the value where an optional one is left out
    type: Literal["", "count", "number"] = ""
    hidden: bool = False

    @property
    def flags(self) -> list[str]:
        """How it is typed; [] for an argument without a name."""
        return [word for word in self.key.split() if word.startswith("-") and word != "--"]

    @property
    def value(self) -> str:
        """What follows the names, as the key spells it; "" for a switch."""
        return " ".join(word for word in self.key.split() if word not in self.flags)

    @property
    def word(self) -> str:
        """The placeholder alone."""
        return self.value.removeprefix("-- ").strip("[]… ")

    @property
    def many(self) -> bool:
        """Whether several values are possible."""
        return "…" in self.value

    @property
    def values(self) -> tuple[str, ...]:
        """The only values that are possible, where they are listed."""
        return self.choices or (tuple(self.word.split("|")) if "|" in self.word else ())

    @property
    def name(self) -> str:
        """The name under which it is found: gpu_memory."""
        long = [one[2:] for one in self.flags if one.startswith("--")]
        return self.to or (long[0] if long else self.word.lower()).replace("-", "_")


class Command(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One command, or one action of a command."""

    help: str
    usage: str = ""
    shares: tuple[str, ...] = ()  # groups of shared.toml
    options: dict[str, Any] = {}
    conflicts: dict[str, str] = {}  # pairs of options, and what to say then
    examples: dict[str, str] = {}
    exits: dict[str, str] = msgspec.field(default_factory=USUAL.copy)
    actions: dict[str, Command] = {}

    @property
    def rows(self) -> list[Option]:
        """Its own options, then the shared ones."""
        out = []
        for table in (self.options, *(_file("shared")[group] for group in self.shares)):
            for key, row in table.items():
                values = {"help": row} if isinstance(row, str) else row
                out.append(msgspec.convert({"key": key, **values}, Option))
        return out

    @property
    def every(self) -> list[Option]:
        """Its options and those of its actions, as far as help shows them."""
        rows = self.rows + [row for one in self.actions.values() for row in one.rows]
        return [row for row in rows if row.flags and not row.hidden]


@cache
def command(name: str) -> Command:
    """A command of COMMANDS, with what its shared options exclude."""
    made = msgspec.convert(_file(name), Command)
    if "target" in made.shares:
        made.conflicts.update(_file("shared")["conflicts"])
    return made


@cache
def _file(name: str) -> dict[str, Any]:
    file = Path(__file__).parent / "commands" / f"{name}.toml"
    return msgspec.toml.decode(file.read_bytes(), type=dict[str, Any])
