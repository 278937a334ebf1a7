"""`gpuwhy code 719`, `gpuwhy code cudnn 4`, `gpuwhy code CUDNN_STATUS_INTERNAL_ERROR`: what a status means."""

from __future__ import annotations

import argparse

from gpuwhy.cli import HEALTHY, UsageError
from gpuwhy.cli.terminal import paper, write


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("code", help="what an error number or name means, for each API that has it")
    parser.add_argument(
        "code", nargs="+", metavar="CODE", help="719, 0x2cf, cudnn 4, xid 79, CUBLAS_STATUS_ALLOC_FAILED"
    )
    parser.add_argument("--json", action="store_true", help="the matches as JSON (gpuwhy.code/1)")
    parser.set_defaults(go=go)


def go(options: argparse.Namespace) -> int:
    """Look up and print."""
    from gpuwhy.knowledge import codes
    from gpuwhy.logs import behind
    from gpuwhy.render.code import as_json, render

    asked = " ".join(options.code)
    found = tuple(map(behind, codes.find(asked)))
    if not found:
        raise UsageError(_unknown(asked))
    if options.json:
        write(as_json(asked, found))
        return HEALTHY
    _, rest = codes.split(asked)
    number = codes.as_number(rest)
    write(render(rest if number is None else str(number), found, paper()))
    return HEALTHY


def _unknown(asked: str) -> str:
    from gpuwhy.knowledge import codes

    shown = asked if len(asked) <= 60 else asked[:57] + "…"
    close = codes.near(asked[:200])
    if close:
        return f"no code {shown!r} is known; did you mean {', '.join(close)}?"
    return f"no code {shown!r} is known; give a number or a name, if need be behind one of {', '.join(codes.TITLES)}"
