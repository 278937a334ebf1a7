"""The command line: one file per command; the only place that prints or exits."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from typing import NoReturn

from gpuwhy._version import __version__

HEALTHY, FOUND, USAGE, FAILED, PERHAPS = 0, 1, 2, 3, 4
COMMANDS = ("check", "explain", "run", "record", "cause", "inspect", "releases", "code", "plan", "fix", "lint", "prove")


class UsageError(Exception):
    """What the user gave cannot be used; the text says what and why."""


def main(argv: list[str]) -> NoReturn:
    """Parse, run, flush, exit. A look that hangs in the kernel cannot hold us: the exit is immediate."""
    try:
        code = _run(argv)
    except UsageError as error:
        print(f"gpuwhy: {error}", file=sys.stderr)
        code = USAGE
    except BrokenPipeError:
        os._exit(HEALTHY)
    except KeyboardInterrupt:
        code = 130
    except Exception as error:
        code = _failed(error)
    _leave(code)


def _leave(code: int) -> NoReturn:
    for stream in filter(None, (sys.stdout, sys.stderr)):  # None: closed when we were started
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _failed(error: Exception) -> int:
    import traceback

    print(f"gpuwhy {__version__} itself failed: {type(error).__name__}: {error}", file=sys.stderr)
    print(
        "Please report this with the lines below and, if you can, the file that `gpuwhy record` writes.",
        file=sys.stderr,
    )
    traceback.print_exception(error)
    return FAILED


def _no_command(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name, COMMANDS, 1)
    return f"there is no command {name!r}" + (f"; did you mean {near[0]!r}?" if near else "; see gpuwhy --help")


def _run(argv: list[str]) -> int:
    if argv and argv[0] not in COMMANDS and not argv[0].startswith("-"):
        raise UsageError(_no_command(argv[0]))
    if not argv or argv[0] not in (*COMMANDS, "-h", "--help", "-V", "--version"):
        argv = ["check", *argv]
    parser = argparse.ArgumentParser(
        prog="gpuwhy", description="Why does my GPU stack fail, and what do I do about it?"
    )
    parser.add_argument("-V", "--version", action="version", version=f"gpuwhy {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    from gpuwhy.cli import cause, check, explain, fix, inspect, lint, plan, prove, record, releases, run
    from gpuwhy.cli import code as codes

    for module in (check, explain, run, record, cause, inspect, releases, codes, plan, fix, lint, prove):
        module.add(commands)
    argv, rest = run.split(argv)
    try:
        options = parser.parse_args(argv)
    except SystemExit as stop:
        return USAGE if stop.code else HEALTHY
    options.rest = rest
    code: int = options.go(options)
    return code
