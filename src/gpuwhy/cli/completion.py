"""`gpuwhy completion SHELL`: the script by which a shell asks us what Tab may offer."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from gpuwhy.cli import HEALTHY, UsageError, table
from gpuwhy.cli.table import COMMANDS, Option
from gpuwhy.cli.terminal import write

SHELLS = ("bash", "zsh", "fish")


def go(options: argparse.Namespace) -> int:
    """Print the script; or, where a script asks, what may stand at the cursor."""
    if not options.rest and not options.shell:
        raise UsageError(f"completion for which shell? {', '.join(SHELLS)}")
    if options.rest:
        found = offered(options.rest[1:], options.offer)
        write("".join(f"{word}\t{text}\n" for word, text in found))
    else:
        write(script(options.shell), orders=True)
    return HEALTHY


def script(shell: str) -> str:
    """The script for one shell."""
    return (Path(__file__).parent / "shells" / f"gpuwhy.{shell}").read_text("utf-8")


def offered(before: Sequence[str], now: str) -> list[tuple[str, str]]:
    """The words that may stand where `now` is typed, each with its line; [] where a file may."""
    return [row for row in _possible(before, now) if row[0].startswith(now)]


def _possible(before: Sequence[str], now: str) -> Iterable[tuple[str, str]]:
    if not before:
        return [(name, table.command(name).help) for name in COMMANDS]
    command = table.command(before[0] if before[0] in COMMANDS else "check")
    for name, action in command.below.items():
        if name in before[1:]:
            command = action
    asked = [one for one in command.rows if before[-1] in one.flags and one.value]
    if asked:
        return [(word, "") for word in _values(asked[0])]
    if now.startswith("-"):
        return [(flag, one.help) for one in command.every for flag in one.flags]
    words = [(word, "") for one in command.rows if not one.flags for word in _values(one)]
    return [*((name, one.help) for name, one in command.below.items()), *words]


def _values(one: Option) -> Iterable[str]:
    """The values that are known of an option."""
    if one.names == "causes":
        from gpuwhy.causes.load import catalogue

        return catalogue().causes
    if one.names == "projects":
        from gpuwhy.knowledge.releases import projects

        return projects()
    return COMMANDS if one.names == "commands" else one.values
