"""The parser: commands in the order people need them, help with examples and exit codes, and near names for a typo."""

from __future__ import annotations

import argparse
import difflib
import importlib
import os
import re
import shutil
import textwrap
from collections.abc import Iterator
from typing import Any, NoReturn

from gpuwhy._version import __version__
from gpuwhy.cli import UsageError

GROUPS = (
    ("when something fails", ("check", "explain", "run", "prove", "fix")),
    ("before you install or start a job", ("plan", "fit", "lint", "releases")),
    ("to look something up", ("ask", "code", "cause", "inspect")),
    ("for somebody else, or for many machines", ("record", "report", "fleet")),
    ("for agents, and about gpuwhy", ("mcp", "help", "completion")),
)
COMMANDS = tuple(name for _, names in GROUPS for name in names)


class Parser(argparse.ArgumentParser):
    """Says what is wrong as everything else of ours does; keeps the lines of its examples as they are."""

    def __init__(self, **given: Any) -> None:
        given.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(**given)

    def error(self, message: str) -> NoReturn:
        """Raise UsageError with the usage in one line."""
        raise UsageError(f"{_with_near(message)}; see {self.prog} --help")


def _with_near(message: str) -> str:
    """What argparse says of a wrong choice, with the near one."""
    found = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
    near = difflib.get_close_matches(found[1], re.split(r"[', ]+", found[2]), 1) if found else []
    return f"{message}; did you mean {near[0]!r}?" if near else message


class _Main(Parser):
    """The program itself: its help lists the commands by what people come for."""

    def format_help(self) -> str:
        """Every command with one line, in groups."""
        from gpuwhy.cli.examples import overview

        return overview({name: one for name, one, _ in commands_of(self)})


def parsed(argv: list[str]) -> argparse.Namespace:
    """The options of a command line; raises UsageError, and SystemExit after --help and --version."""
    parser = program(argv[:1] if argv[0] in COMMANDS else COMMANDS)
    options, surplus = parser.parse_known_args(argv)
    if surplus:
        raise UsageError(_surplus(parser, options.command, surplus))
    return options


def program(names: list[str] | tuple[str, ...] = COMMANDS) -> argparse.ArgumentParser:
    """The parser with these commands."""
    parser = _Main(prog="gpuwhy", description="Why does my GPU stack fail, and what do I do about it?")
    parser.add_argument("-V", "--version", action="version", version=f"gpuwhy {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for name in names:
        importlib.import_module(f"gpuwhy.cli.{name}").add(commands)
    from gpuwhy.cli.examples import epilog

    for name, help_, one in commands_of(parser):
        one.description = one.description or "\n".join(textwrap.wrap(f"{help_[:1].upper()}{help_[1:]}", 78))
        one.epilog = epilog(name)
    return parser


def commands_of(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str, argparse.ArgumentParser]]:
    """The commands below a parser, each with its one line."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            lines = {one.dest: one.help or "" for one in action._choices_actions}
            yield from ((name, lines.get(name, ""), one) for name, one in action.choices.items())


def options_of(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """The options of a command and of the actions below it."""
    for action in parser._actions:
        if action.option_strings and action.help != argparse.SUPPRESS:
            yield action
    for _, _, below in commands_of(parser):
        yield from options_of(below)


def no_command(argv: list[str]) -> str:
    """What to say of a first word that is no command: a typo, a log, a program."""
    word = argv[0]
    near = difflib.get_close_matches(word, COMMANDS, 1)
    if near:
        return f"there is no command {word!r}; did you mean {near[0]!r}?"
    if os.path.isfile(word) and not os.access(word, os.X_OK):
        return f"there is no command {word!r}; did you mean gpuwhy explain {word}?"
    if shutil.which(word):
        return f"there is no command {word!r}; did you mean gpuwhy run -- {' '.join(argv)}?"
    return f"there is no command {word!r}; see gpuwhy --help"


def _surplus(parser: argparse.ArgumentParser, command: str, words: list[str]) -> str:
    word = next((one for one in words if one.startswith("-")), words[0])
    see = f"see gpuwhy help {command}"
    if not word.startswith("-"):
        log = command == "check" and os.path.isfile(word)
        return f"{command} takes no {word!r}; " + (f"did you mean gpuwhy explain {word}?" if log else see)
    name = word.partition("=")[0]
    owners = [other for other, _, one in commands_of(program()) if name in _strings(one)]
    near = _near(parser, command, name, bool(owners))
    if near:
        return f"{command} has no option {name}; did you mean {near[0]}?"
    has = f" (gpuwhy {owners[0]} has)" if owners else ""
    return f"{command} has no option {name}{has}; {see}"


def _strings(parser: argparse.ArgumentParser) -> list[str]:
    return [string for action in options_of(parser) for string in action.option_strings]


def _near(parser: argparse.ArgumentParser, command: str, name: str, others: bool) -> list[str]:
    """Options of a command that may have been meant; the same word elsewhere asks for more likeness."""
    mine = next((one for own, _, one in commands_of(parser) if own == command), parser)
    known = _strings(mine)
    near = difflib.get_close_matches(name, known, 1, 0.85 if others else 0.6)
    return near if near or others else [one for one in known if _alike(one, name)]


def _alike(option: str, name: str) -> bool:
    """Whether two names differ in dashes and case only, or one begins with the other."""
    one, two = option.strip("-").replace("-", "").lower(), name.strip("-").replace("-", "").replace("_", "").lower()
    return len(two) > 2 and (one.startswith(two) or two.startswith(one)) and len(one) > 1
