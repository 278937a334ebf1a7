"""The command line: one file per command; the only place that prints or exits."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import NoReturn

from gpuwhy._version import __version__
from gpuwhy.machine.process import end_all
from gpuwhy.cli.plain import one_line

HEALTHY, FOUND, USAGE, FAILED, PERHAPS = 0, 1, 2, 3, 4


def say(text: str) -> None:
    """A line of our own on standard error, whatever names are in it."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(one_line(text) + "\n")
        sys.stderr.flush()


class UsageError(Exception):
    """What the user gave cannot be used; the text says what and why."""


@contextlib.contextmanager
def refused(kind: type[Exception], said: str = "") -> Iterator[None]:
    """An error of this kind is a mistake in what the user gave, told behind `said`."""
    try:
        yield
    except kind as error:
        words = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{said}{words}") from error


def main(argv: list[str]) -> NoReturn:
    """Parse, run, flush, exit. A look that hangs in the kernel cannot hold us: the exit is immediate."""
    closed = [] if argv[:1] == ["run"] else _closed()  # a watched program gets the streams that we got
    try:
        code = _run(argv)
        if 1 in closed:
            raise UsageError("cannot write: standard output is closed")
    except UsageError as error:
        say(f"gpuwhy: {error}")
        code = USAGE
    except BrokenPipeError:
        end_all()
        os._exit(HEALTHY)
    except KeyboardInterrupt:
        code = 130
    except Exception as error:
        code = _ended(error)
    end_all()
    _leave(code)


def _closed() -> list[int]:
    """The standard streams that were closed when we were started; no file of ours takes their place."""
    closed = []
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            closed.append(number)
            with contextlib.suppress(OSError):
                mode = "w" if number else "r"
                setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY if number else os.O_RDONLY), mode))
    return closed


def _ended(error: Exception) -> int:
    """What the world did to us is told in a sentence; only what is our own fault is a failure of ours."""
    if isinstance(error, OSError):
        where = f": {error.filename}" if error.filename else ""
        say(f"gpuwhy: cannot go on: {error.strerror or error}{where}")
        return USAGE
    if isinstance(error, (MemoryError, RecursionError)):
        say("gpuwhy: cannot go on: what was given is nested too deeply, or too large for the memory there is")
        return USAGE
    if isinstance(error, ValueError) and "integer string conversion" in str(error):
        say("gpuwhy: cannot go on: what was given holds a number of thousands of digits")
        return USAGE
    if isinstance(error, (UnicodeError, EOFError)):
        say(f"gpuwhy: cannot go on: a text that cannot be read or written ({error})")
        return USAGE
    return _failed(error)


def _leave(code: int) -> NoReturn:
    for stream in filter(None, (sys.stdout, sys.stderr)):  # None: closed when we were started
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _failed(error: Exception) -> int:
    import traceback

    say(f"gpuwhy {__version__} itself failed: {type(error).__name__}: {error}")
    print(
        "Please report this with the lines below and, if you can, the file that `gpuwhy record` writes.",
        file=sys.stderr,
    )
    traceback.print_exception(error)
    return FAILED


def _run(argv: list[str]) -> int:
    """Only the module of the command that was asked for is imported."""
    from gpuwhy.cli import parser

    if argv[:1] in (["--version"], ["-V"], ["-Vv"]) and argv not in (["--version"], ["-V"]):
        from gpuwhy.cli import version

        if argv in version.ASKED:
            return version.go()
    if argv and argv[0] not in parser.COMMANDS and not argv[0].startswith("-"):
        raise UsageError(parser.no_command(argv))
    if not argv or argv[0] not in (*parser.COMMANDS, "-h", "--help", "-V", "--version"):
        argv = ["check", *argv]
    from gpuwhy.cli.rest import split

    argv, rest = split(argv)
    try:
        options = parser.parsed(argv)
    except SystemExit as stop:
        return USAGE if stop.code else HEALTHY
    options.rest = rest
    code: int = options.go(options)
    return code
