"""The parser, made of the tables: what is wrong is said in one line, with the near name."""

from __future__ import annotations

import argparse
import difflib
import importlib
import os
import re
import shutil
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from gpuwhy._version import __version__
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
        near = (
            difflib.get_close_matches(found[1], re.split(r"[', ]+", found[2]), 1) if found else ""
        )
        meant = f"; did you mean {near[0]!r}?" if near else ""
        raise UsageError(f"{message}{meant}; see {self.prog} --help")


class Once(argparse.Action):
    """An option that a machine has one value of: given twice it contradicts itself."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Take the value, or say that there was one."""
        before = getattr(namespace, self.dest)
        if before and before != values:
            parser.error(f"{option_string} is given twice: {before} and {values}")
        setattr(namespace, self.dest, values)


def parsed(argv: Sequence[str]) -> argparse.Namespace:
    """The options of a command line; raises UsageError, and SystemExit after --help."""
    ours, rest = split(argv)
    main = Parser(prog="gpuwhy")
    main.add_argument("-V", "--version", action="version", version=f"gpuwhy {__version__}")
    _add(main.add_subparsers(dest="command"), [ours[0]] if ours[0] in COMMANDS else COMMANDS)
    options, surplus = main.parse_known_args(ours)
    if surplus:
        raise UsageError(_surplus(options.command, surplus))
    options.rest = rest
    options.go = importlib.import_module(f"gpuwhy.cli.{options.command}").go
    return options


def split(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """What is ours, and what follows the first `--` of a command that starts a program."""
    if argv[0] not in PROGRAMS or "--" not in argv:
        return list(argv), []
    place = argv.index("--")
    return list(argv[:place]), list(argv[place + 1 :])


def help_of(name: str) -> str:
    """The help of a command: its options, examples and exit codes."""
    main = Parser(prog="gpuwhy").add_subparsers()
    _add(main, [name])
    text: str = main.choices[name].format_help()
    return text


def _add(commands: Any, names: Iterable[str]) -> None:
    from gpuwhy.cli.help import description, epilog

    for name in names:
        one = table.command(name)
        about = {"description": description(one), "epilog": epilog(one)}
        parser = commands.add_parser(name, help=one.help, usage=one.usage or None, **about)
        _fill(parser, one)


def _fill(parser: argparse.ArgumentParser, command: Command) -> None:
    for one in command.rows:
        if one.flags:
            parser.add_argument(*one.flags, dest=one.name, **_settings(one))
        else:
            parser.add_argument(one.name, **_settings(one))
    if command.actions:
        below = parser.add_subparsers(dest="action", metavar="ACTION", parser_class=Parser)
        for name, inner in command.below.items():
            _fill(below.add_parser(name, help=inner.help, usage=inner.usage or None), inner)


def _settings(one: Option) -> dict[str, Any]:
    """A row as argparse wants it."""
    said: dict[str, Any] = {"help": one.help.replace("%", "%%")}
    if one.hidden:
        said["help"] = argparse.SUPPRESS
    if not one.value:
        return said | ({"action": "count", "default": 0} if "-v" in one.flags else _SWITCH)
    said |= {"metavar": one.word, "type": _TYPES[one.type]}
    if one.values:
        said["choices"] = [_TYPES[one.type](value) for value in one.values]
    optional = one.value.startswith("[")
    if not one.flags:
        if one.value.startswith("--"):
            return said | {"nargs": argparse.REMAINDER}
        if one.many:
            return said | {"nargs": "*" if optional else "+"}
        # a default that is a text would have to be one of the choices
        return said | ({"nargs": "?", "default": None if one.values else ""} if optional else {})
    if one.many:
        several: dict[str, Any] = {"nargs": "+"} if " …" in one.value else {"action": "append"}
        return said | several | {"default": []}
    if one.once:
        said["action"] = Once
    if optional:
        said |= {"nargs": "?", "const": one.const}
    return said | {"default": (0 if one.type else "") if one.default is None else one.default}


def _count(text: str) -> int:
    plain = text.replace("_", "")
    number = int(plain) if plain.isdecimal() and len(plain) < 11 else 0
    if not 1 <= number <= 1 << 31:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of things")
    return number


_SWITCH = {"action": "store_true"}
_TYPES: dict[str, Any] = {"": str, "count": _count, "number": float}


# ---------------------------------------------------------------- what was meant


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
    word = next((one for one in words if one.startswith("-")), words[0])
    see = f"see gpuwhy help {command}"
    if not word.startswith("-"):
        log = command == "check" and os.path.isfile(word)
        meant = f"did you mean gpuwhy explain {word}?" if log else see
        return f"{command} takes no {word!r}; {meant}"
    name = word.partition("=")[0]
    owners = [other for other in COMMANDS if name in _flags(other)]
    # the same word elsewhere asks for more likeness
    near = difflib.get_close_matches(name, _flags(command), 1, 0.85 if owners else 0.6)
    if near:
        return f"{command} has no option {name}; did you mean {near[0]}?"
    has = f" (gpuwhy {owners[0]} has)" if owners else ""
    return f"{command} has no option {name}{has}; {see}"


def _flags(command: str) -> list[str]:
    return [flag for one in table.command(command).every for flag in one.flags]
