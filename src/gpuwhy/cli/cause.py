"""`gpuwhy cause ID`: the page of one cause, in the terminal; without an ID, the list."""

from __future__ import annotations

import argparse

from gpuwhy.cli import HEALTHY, UsageError
from gpuwhy.cli.terminal import paper, write


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("cause", help="the page of one cause")
    parser.add_argument("id", nargs="?", default="", metavar="ID", help="for example cudnn.missing")
    parser.set_defaults(go=go)


def go(options: argparse.Namespace) -> int:
    """Print the page, or the list of causes."""
    from gpuwhy.app import CAUSES, page
    from gpuwhy.render.page import render

    if not options.id:
        rows = (line for one in CAUSES for line in paper().wrap(one.title, f"{one.id:<28} ", " " * 29))
        write("".join(f"{row}\n" for row in rows))
        return HEALTHY
    text = page(options.id)
    if text is None:
        near = ", ".join(c.id for c in CAUSES if options.id.split(".")[-1] in c.id) or "gpuwhy cause"
        raise UsageError(f"there is no cause {options.id!r}; see {near}")
    write(render(text, paper()))
    return HEALTHY
