"""`gpuwhy completion SHELL`: what the shell completes after `gpuwhy`, as a script made from the parser.

The script holds every name itself, so that pressing Tab starts no Python.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

from gpuwhy.cli import HEALTHY, UsageError
from gpuwhy.cli.terminal import write

SHELLS = ("bash", "zsh", "fish", "powershell")
_FILES = ("FILE", "PATH", "FOLDER", "PLACE", "FILE.svg")


class Option(NamedTuple):
    """One option: its names, its one line, and what follows it: nothing, a file, anything, or one of these words."""

    names: tuple[str, ...]
    text: str
    takes: str  # "", "file", "word"
    words: tuple[str, ...] = ()


class Command(NamedTuple):
    """One command: its options, the words that may stand behind it, and whether a program or a file may."""

    name: str
    text: str
    options: tuple[Option, ...]
    words: tuple[str, ...]
    program: bool
    file: bool


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("completion", help="print the completion script for bash, zsh, fish or PowerShell")
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))
    parser.set_defaults(go=go)


def go(options: argparse.Namespace) -> int:
    """Print the script."""
    write(script(options.shell), orders=True)
    return HEALTHY


def script(shell: str) -> str:
    """The script for one shell."""
    from gpuwhy.cli import shells

    makers = {"bash": shells.bash, "zsh": shells.zsh, "fish": shells.fish, "powershell": shells.powershell}
    if shell not in makers:
        raise UsageError(f"no completion for {shell!r}; there is {', '.join(SHELLS)}")
    return makers[shell](known())


def known() -> list[Command]:
    """Every command as the parser has it."""
    from gpuwhy.cli import parser

    return [_command(name, text, one) for name, text, one in parser.commands_of(parser.program())]


def _command(name: str, text: str, parser: argparse.ArgumentParser) -> Command:
    from gpuwhy.cli.parser import options_of

    options: dict[tuple[str, ...], Option] = {}
    for action in options_of(parser):
        options.setdefault(tuple(action.option_strings), _option(action))
    places = [one for one in parser._actions if not one.option_strings]
    program = any(one.nargs == argparse.REMAINDER for one in places)
    file = any(one.metavar in _FILES for one in places)
    words = [str(word) for one in places for word in one.choices or ()]
    return Command(name, text, tuple(options.values()), (*words, *_names(name)), program, file)


def _option(action: argparse.Action) -> Option:
    text = (action.help or "").replace("\n", " ")
    if action.nargs == 0:
        return Option(tuple(action.option_strings), text, "")
    words = tuple(map(str, action.choices or ()))
    file = action.metavar in _FILES
    return Option(tuple(action.option_strings), text, "file" if file else "word", words)


def _names(command: str) -> tuple[str, ...]:
    """The names that a command takes: causes, projects, commands."""
    from gpuwhy.cli import parser

    if command == "help":
        return parser.COMMANDS
    if command in ("cause", "fix"):
        from gpuwhy.causes.load import catalogue

        return tuple(catalogue().causes)
    if command in ("releases", "plan"):
        from gpuwhy.knowledge.releases import projects

        return tuple(sorted(projects()))
    return ()
