"""`gpuwhy help [COMMAND]`: the same as `gpuwhy COMMAND --help`."""

from __future__ import annotations

import argparse

from gpuwhy.cli import HEALTHY, UsageError
from gpuwhy.cli.terminal import write


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("help", help="what a command does, with examples and exit codes")
    parser.add_argument("topic", nargs="?", default="", metavar="COMMAND", help="for example check")
    parser.set_defaults(go=go)


def go(options: argparse.Namespace) -> int:
    """Print it."""
    from gpuwhy.cli import parser

    if not options.topic:
        write(parser.program().format_help())
        return HEALTHY
    if options.topic not in parser.COMMANDS:
        raise UsageError(parser.no_command([options.topic]))
    for _, _, one in parser.commands_of(parser.program([options.topic])):
        write(one.format_help())
    return HEALTHY
