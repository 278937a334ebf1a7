"""`gpuwhy completion SHELL`: the script by which a shell asks us what Tab may offer."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from gpuwhy.cli import HEALTHY, UsageError, table
from gpuwhy.cli.table import COMMANDS, Option
from gpuwhy.cli.terminal import write

SHELLS = ("bash", "zsh", "fish", "powershell")


def go(options: argparse.Namespace) -> int:
    """Print the script; or, where a script asks, what may stand at the cursor."""
    if options.rest:
        found = offered(options.rest[1:], options.offer)
        write("".join(f"{word}\t{text}\n" for word, text in found))
    elif options.shell:
        write(script(options.shell), orders=True)
    else:
        raise UsageError(f"completion for which shell? {', '.join(SHELLS)}")
    return HEALTHY


def script(shell: str) -> str:
    """The script for one shell."""
    return (Path(__file__).parent / "shells" / f"gpuwhy.{shell}").read_text("utf-8")


def offered(before: Sequence[str], now: str) -> list[tuple[str, str]]:
    """The words that may stand where `now` is typed, each with its line; [] where a file may."""
    return [row for row in _possible(list(before), now) if row[0].startswith(now)]


def _possible(before: list[str], now: str) -> Iterable[tuple[str, str]]:
    if not before:
        yield from ((name, table.command(name).help) for name in COMMANDS)
        yield from (("--help", "what there is"), ("--version", "the version"))
        return
    command = table.command(before[0] if before[0] in COMMANDS else "check")
    for name, action in command.below.items():
        if name in before[1:]:
            command = action
    asked = [one for one in command.rows if before[-1] in one.flags and one.value]
    if asked:
        yield from ((word, "") for word in _values(asked[0]))
    elif now.startswith("-"):
        yield from ((flag, one.help) for one in command.every for flag in one.flags)
    else:
        yield from ((name, one.help) for name, one in command.below.items())
        yield from ((w, "") for one in command.rows if not one.flags for w in _values(one))


def _values(one: Option) -> Iterable[str]:
    """The values that are known of an option."""
    if one.names == "commands":
        return COMMANDS
    if one.names == "causes":
        from gpuwhy.causes.load import catalogue

        return catalogue().causes
    if one.names == "projects":
        from gpuwhy.knowledge.releases import projects

        return projects()
    return one.values
