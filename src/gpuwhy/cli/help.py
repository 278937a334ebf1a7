"""`gpuwhy help [COMMAND]`, with examples that work as they stand; and `gpuwhy --version`."""

import argparse
import os
import sys
import textwrap

from gpuwhy._version import __version__
from gpuwhy.cli import HEALTHY, UsageError, output, parser, table
from gpuwhy.cli.table import COMMANDS, GROUPS, USUAL, Command
from gpuwhy.cli.terminal import write

WIDTH = 78


def go(options: argparse.Namespace) -> int:
    """Print it."""
    if options.topic and options.topic not in COMMANDS:
        raise UsageError(parser.no_command([options.topic]))
    write(parser.parser_of(options.topic).format_help() if options.topic else overview())
    return HEALTHY


def overview() -> str:
    """The help of the program: the commands by what people come for."""
    out = ["usage: gpuwhy [COMMAND] [options]", ""]
    out += ["Why does my GPU stack fail, and what do I do about it?"]
    for title, names in GROUPS:
        out += ["", f"{title}:"]
        for name in names:
            out += _wrapped(table.command(name).help, f"  {name:<11} ")
    out += ["", "gpuwhy alone means gpuwhy check. Options, examples, exit codes: gpuwhy help check"]
    out += ["The version: gpuwhy --version", "", *_exits(USUAL)]
    return "\n".join(out) + "\n"


def description(command: Command) -> str:
    """What a command is for, as a sentence."""
    return textwrap.fill(f"{command.help[:1].upper()}{command.help[1:]}", WIDTH)


def epilog(command: Command) -> str:
    """Examples and exit codes of a command."""
    rows = command.examples
    width = max(map(len, rows), default=0)
    beside = all(width + len(text) + 4 <= WIDTH for text in rows.values())
    form = f"  {{:<{width}}}  {{}}" if beside else "  {}\n      {}"
    shown = (form.format(*row) for row in rows.items())
    return "\n".join(["examples:", *shown, "", *_exits(command.exits)])


def _exits(codes: dict[str, str]) -> list[str]:
    lines = [line for code in codes for line in _wrapped(codes[code], f"  {code}  ")]
    return ["exit codes:", *lines] if codes else ["exit code: the program's own, always"]


def _wrapped(text: str, start: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=start, subsequent_indent=" " * len(start))


def version(argv: list[str]) -> int:
    """Print the version; with -v what a report of a bug of ours should say."""
    if not set(argv) <= {"--version", "-V", "-Vv", "-v", "--verbose"}:
        raise UsageError(f"--version takes no {argv[-1]!r}; see gpuwhy --help")
    text = f"gpuwhy {__version__}\n"
    if argv[1:] or argv == ["-Vv"]:
        import platform

        from gpuwhy.knowledge.releases import newest, projects

        folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        libc = " ".join(platform.libc_ver())
        text += f"""  python     {platform.python_version()}, {sys.executable}
  system     {platform.system()} {platform.machine()}, {libc}
  installed  {folder}
  knowledge  {len(projects())} projects, files up to {newest()}
"""
    write(output.shareable(text))
    return HEALTHY
