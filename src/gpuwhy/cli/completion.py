"""`gpuwhy completion SHELL`: the script by which a shell asks us what Tab may offer."""

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from gpuwhy.cli import HEALTHY, UsageError, table
from gpuwhy.cli.table import COMMANDS, Option
from gpuwhy.cli.terminal import write

SHELLS = ("bash", "zsh", "fish")


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
    name = before[0] if before and before[0] in COMMANDS else "check"
    command = table.command(name)
    for action in before[1:]:
        command = command.actions.get(action, command)
    below = {action: one.help for action, one in command.actions.items()}
    asked = [one for one in command.rows if before and before[-1] in one.flags and one.value]
    if not before:
        rows = {one: table.command(one).help for one in COMMANDS}
    elif asked:
        rows = dict.fromkeys(_values(asked[0]), "")
    elif now.startswith("-"):
        rows = {flag: one.help for one in command.every for flag in one.flags}
    else:
        words = (word for one in command.rows if not one.flags for word in _values(one))
        rows = below | dict.fromkeys(words, "")
    return [row for row in rows.items() if row[0].startswith(now)]


def _values(one: Option) -> Iterable[str]:
    """The values that are known of an option."""
    if one.names == "causes":
        from gpuwhy.causes.load import catalogue

        return catalogue().causes
    if one.names == "projects":
        from gpuwhy.knowledge.releases import projects

        return projects()
    return COMMANDS if one.names == "commands" else one.values
