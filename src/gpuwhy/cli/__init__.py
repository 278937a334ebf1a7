"""The command line: one file per command; the only place that prints or exits."""

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import NoReturn

from gpuwhy._version import __version__
from gpuwhy.machine import FORM, NOTES

HEALTHY, FOUND, USAGE, FAILED, PERHAPS, INTERRUPTED = 0, 1, 2, 3, 4, 130

ASKED: set[str] = set()
"""What `gpuwhy mcp` asks of its commands: FORM, NOTES; programs that we start do not get it."""


class UsageError(Exception):
    """What the user gave cannot be used; the text says what and why."""


def say(text: str) -> None:
    """A line of our own on standard error, whatever names are in it."""
    from gpuwhy.cli.terminal import one_line

    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(one_line(text) + "\n")
        sys.stderr.flush()


@contextlib.contextmanager
def refused(kind: type[Exception], said: str = "", hint: str = "") -> Iterator[None]:
    """An error of this kind is a mistake in what the user gave: said before it, a hint after."""
    try:
        yield
    except kind as error:
        words = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{said}{words}{hint}") from error


def main(argv: list[str]) -> NoReturn:
    """Parse, run, flush, exit. A look that hangs in the kernel cannot hold us: we exit at once."""
    ASKED.update(name for name in (FORM, NOTES) if os.environ.pop(name, ""))
    closed = [] if argv[:1] == ["run"] else _closed()  # a watched program gets what we got
    try:
        code = _run(argv)
        if 1 in closed:
            raise UsageError("cannot write: standard output is closed")
    except UsageError as error:
        say(f"gpuwhy: {error}")
        code = USAGE
    except BrokenPipeError:
        code = HEALTHY
    except KeyboardInterrupt:
        code = INTERRUPTED
    except Exception as error:
        code = _ended(error)
    process = sys.modules.get("gpuwhy.machine.process")
    if process is not None:  # else nothing can have been started
        process.end_all()
    _leave(code)


def _run(argv: list[str]) -> int:
    """Only the module of the command that was asked for is imported."""
    from gpuwhy.cli import output, parser
    from gpuwhy.cli.table import COMMANDS

    if argv[:1] in (["--version"], ["-V"], ["-Vv"]):
        from gpuwhy.cli import help

        return help.version(argv)
    if argv and argv[0] not in COMMANDS and not argv[0].startswith("-"):
        raise UsageError(parser.no_command(argv))
    if argv[:1] in (["-h"], ["--help"]):
        argv = ["help", *argv[1:]]
    elif not argv or argv[0] not in COMMANDS:
        argv = ["check", *argv]
    try:
        options = parser.parsed(argv)
    except SystemExit as stop:
        return USAGE if stop.code else HEALTHY
    output.ready(options)
    code: int = options.go(options)
    return code


def _closed() -> list[int]:
    """The standard streams that were closed when we began; no file of ours takes their place."""
    closed = []
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            closed.append(number)
            with contextlib.suppress(OSError):
                null = os.open(os.devnull, os.O_WRONLY if number else os.O_RDONLY)
                setattr(sys, name, os.fdopen(null, "w" if number else "r"))
    return closed


def _ended(error: Exception) -> int:
    """What the world did to us is said in a sentence; only our own fault is a failure of ours."""
    if isinstance(error, OSError):
        why = f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}"
    elif isinstance(error, (MemoryError, RecursionError)):
        why = "what was given is nested too deeply, or too large for the memory there is"
    elif isinstance(error, (UnicodeError, EOFError)) or "integer string conversion" in str(error):
        why = f"a text that cannot be read or written ({error})"
    else:
        import traceback

        say(f"gpuwhy {__version__} itself failed: {type(error).__name__}: {error}")
        say("Please report this with the lines below and, if you can, the file of `gpuwhy record`.")
        traceback.print_exception(error)
        return FAILED
    say(f"gpuwhy: cannot go on: {why}")
    return USAGE


def _leave(code: int) -> NoReturn:
    for stream in filter(None, (sys.stdout, sys.stderr)):  # None: closed when we were started
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
