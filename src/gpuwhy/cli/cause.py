"""`gpuwhy cause ID`: the page of one cause, in the terminal; without an ID, the list."""

from __future__ import annotations

import argparse

from gpuwhy.cli import HEALTHY, UsageError
from gpuwhy.cli.check import write


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("cause", help="the page of one cause")
    parser.add_argument("id", nargs="?", default="", metavar="ID", help="for example cudnn.missing")
    parser.set_defaults(go=go)


def go(options: argparse.Namespace) -> int:
    """Print the page, or the list of causes."""
    from gpuwhy.app import CAUSES, page

    if not options.id:
        write("".join(f"{cause.id:<28} {cause.title}\n" for cause in CAUSES))
        return HEALTHY
    text = page(options.id)
    if text is None:
        near = ", ".join(c.id for c in CAUSES if options.id.split(".")[-1] in c.id) or "gpuwhy cause"
        raise UsageError(f"there is no cause {options.id!r}; see {near}")
    write(text)
    return HEALTHY
