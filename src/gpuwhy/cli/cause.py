"""`gpuwhy cause ID`: what a cause means, and how to fix it, in the terminal; without an ID, the list."""

from __future__ import annotations

import argparse

from gpuwhy.cli import HEALTHY, UsageError
from gpuwhy.cli.terminal import paper, write

SCHEMA = "gpuwhy.cause/1"


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("cause", help="what a cause means, and how to fix it")
    parser.add_argument("id", nargs="?", default="", metavar="ID", help="for example cudnn.missing")
    parser.add_argument("--json", action="store_true", help="the page, or the list, as JSON (gpuwhy.cause/1)")
    parser.set_defaults(go=go)


def go(options: argparse.Namespace) -> int:
    """Print the page, or the list of causes."""
    from gpuwhy.app import CAUSES, page
    from gpuwhy.render.page import render

    if options.json:
        write(_as_json(options.id))
        return HEALTHY
    if not options.id:
        rows = (line for one in CAUSES for line in paper().wrap(one.title, f"{one.id:<28} ", " " * 29))
        write("".join(f"{row}\n" for row in rows))
        return HEALTHY
    text = page(options.id)
    if text is None:
        raise _unknown(options.id)
    write(render(text, paper()))
    return HEALTHY


def _unknown(asked: str) -> UsageError:
    from gpuwhy.app import CAUSES

    near = ", ".join(c.id for c in CAUSES if asked.split(".")[-1] in c.id) or "gpuwhy cause"
    return UsageError(f"there is no cause {asked!r}; see {near}")


def _as_json(asked: str) -> str:
    """The contract `gpuwhy.cause/1`."""
    from gpuwhy.app import CAUSES, page
    from gpuwhy.border.shared import as_json

    titles = {one.id: one.title for one in CAUSES}
    if not asked:
        return as_json({"schema": SCHEMA, "causes": [{"id": name, "title": title} for name, title in titles.items()]})
    text = page(asked)
    if text is None or asked not in titles:
        raise _unknown(asked)
    return as_json({"schema": SCHEMA, "id": asked, "title": titles[asked], "page": text})
