"""The parser, made of the tables: what is wrong is said in one line, with the near name."""

import argparse
import difflib
import importlib
import os
import re
import shutil
from collections.abc import Sequence
from typing import Any, NoReturn

from gpuwhy.cli import UsageError, table
from gpuwhy.cli.table import COMMANDS, Command, Option

PROGRAMS = ("run", "prove", "fleet", "completion")
"""What stands behind the first `--` of these is not ours."""


class Parser(argparse.ArgumentParser):
    """Says what is wrong as everything else of ours does; keeps the lines of its examples."""

    def __init__(self, **given: Any) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **given)

    def error(self, message: str) -> NoReturn:
        """Raise UsageError with the usage in one line."""
        found = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
        choices = re.split(r"[', ]+", found[2]) if found else []
        near = difflib.get_close_matches(found[1], choices, 1) if found else []
        meant = f"; did you mean {near[0]!r}?" if near else ""
        raise UsageError(f"{message}{meant}; see {self.prog} --help")


def parsed(argv: Sequence[str]) -> argparse.Namespace:
    """The options of a command line; raises UsageError, and SystemExit after --help."""
    ours, rest = list(argv), []
    if ours[0] in PROGRAMS and "--" in ours:
        place = ours.index("--")
        ours, rest = ours[:place], ours[place + 1 :]
    options, surplus = parser_of(ours[0]).parse_known_args(ours[1:])
    if surplus:
        raise UsageError(_surplus(ours[0], surplus))
    command, given = table.command(ours[0]), {}
    for row in command.rows:
        given.update(dict.fromkeys(row.flags, bool(getattr(options, row.name))))
    for pair, text in command.conflicts.items():
        one, other = pair.split()
        if given.get(one) and given.get(other.lstrip("!")) is (other[0] != "!"):
            raise UsageError(text)
    options.command, options.rest = ours[0], rest
    options.go = importlib.import_module(f"gpuwhy.cli.{ours[0]}").go
    return options


def parser_of(name: str) -> Parser:
    """The parser of a command; it prints the help as well."""
    from gpuwhy.cli.help import description, epilog

    one = table.command(name)
    about = {"description": description(one), "epilog": epilog(one)}
    parser = Parser(prog=f"gpuwhy {name}", usage=one.usage or None, **about)
    _fill(parser, one)
    if one.actions:
        below = parser.add_subparsers(dest="action", metavar="ACTION", parser_class=Parser)
        for action, inner in one.actions.items():
            _fill(below.add_parser(action, help=inner.help, usage=inner.usage or None), inner)
    return parser


def _fill(parser: argparse.ArgumentParser, command: Command) -> None:
    for one in command.rows:
        named: dict[str, Any] = {"dest": one.name} if one.flags else {}
        parser.add_argument(*(one.flags or [one.name]), **named, **_settings(one))


def _settings(one: Option) -> dict[str, Any]:
    """A row as argparse wants it."""
    said: dict[str, Any] = {
        "help": argparse.SUPPRESS if one.hidden else one.help.replace("%", "%%")
    }
    if not one.value:
        counted = {"action": "count", "default": 0}
        return said | (counted if "-v" in one.flags else {"action": "store_true"})
    kind: Any = {"": str, "count": _count, "number": float}[one.type]
    said |= {"metavar": one.word, "type": kind}
    if one.values:
        said["choices"] = [kind(value) for value in one.values]
    optional = one.value.startswith("[")
    if one.flags and one.many:
        several = {"nargs": "+"} if " …" in one.value else {"action": "append"}
        return said | several | {"default": []}
    if one.flags:
        said["default"] = (0 if one.type else "") if one.default is None else one.default
        return said | ({"nargs": "?", "const": one.const} if optional else {})
    if one.value.startswith("--"):
        return said | {"nargs": argparse.REMAINDER}
    if one.many:
        return said | {"nargs": "*" if optional else "+"}
    # a default that is a text would have to be one of the choices
    return said | ({"nargs": "?", "default": None if one.values else ""} if optional else {})


def _count(text: str) -> int:
    plain = text.replace("_", "")
    number = int(plain) if plain.isdecimal() and len(plain) < 11 else 0
    if not 1 <= number <= 1 << 31:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of things")
    return number


def no_command(argv: Sequence[str]) -> str:
    """What to say of a first word that is no command: a typo, a log, a program."""
    word = argv[0]
    near = difflib.get_close_matches(word, COMMANDS, 1)
    meant = "; see gpuwhy --help"
    if near:
        meant = f"; did you mean {near[0]!r}?"
    elif os.path.isfile(word) and not os.access(word, os.X_OK):
        meant = f"; did you mean gpuwhy explain {word}?"
    elif shutil.which(word):
        meant = f"; did you mean gpuwhy run -- {' '.join(argv)}?"
    return f"there is no command {word!r}{meant}"


def _surplus(command: str, words: list[str]) -> str:
    """What to say of a word, or an option, that a command does not take."""
    name = next((one for one in words if one.startswith("-")), words[0]).partition("=")[0]
    if not name.startswith("-"):
        return f"{command} takes no {name!r}; see gpuwhy help {command}"
    flags = {one: [f for row in table.command(one).every for f in row.flags] for one in COMMANDS}
    owners = [other for other in COMMANDS if name in flags[other]]
    # the same word elsewhere asks for more likeness
    if near := difflib.get_close_matches(name, flags[command], 1, 0.85 if owners else 0.6):
        return f"{command} has no option {name}; did you mean {near[0]}?"
    has = f" (gpuwhy {owners[0]} has)" if owners else ""
    return f"{command} has no option {name}{has}; see gpuwhy help {command}"
