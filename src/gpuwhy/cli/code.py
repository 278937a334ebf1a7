"""`gpuwhy code 719`, `gpuwhy code cudnn 4`: what a status number or name means."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from gpuwhy.answer.blocks import pair, pairs, table
from gpuwhy.answer.tree import Block, Code, Document, Heading, Paragraph, Soft
from gpuwhy.cli import HEALTHY, UsageError, forms, output

if TYPE_CHECKING:
    from gpuwhy.knowledge.code import Code as Status

SCHEMA = "gpuwhy.code/1"
_FEW = 3


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("code", help="what an error number or name means, for each API")
    example = "719, 0x2cf, cudnn 4, xid 79, CUBLAS_STATUS_ALLOC_FAILED"
    parser.add_argument("code", nargs="+", metavar="CODE", help=example)
    parser.add_argument("--json", action="store_true", help="the matches as JSON (gpuwhy.code/1)")
    forms.add_forms(parser)
    parser.set_defaults(go=go)


def go(options: argparse.Namespace) -> int:
    """Look up and print."""
    forms.ready(options)
    from gpuwhy.knowledge import codes
    from gpuwhy.diagnose.status import behind

    asked = " ".join(options.code)
    found = tuple(map(behind, codes.find(asked)))
    if not found:
        raise UsageError(_unknown(asked))
    matches = [{**msgspec.to_builtins(one), "source": str(one.source)} for one in found]
    values = {"schema": SCHEMA, "asked": asked, "matches": matches}
    _, rest = codes.split(asked)
    number = codes.as_number(rest)
    shown = rest if number is None else str(number)
    output.put(options, Document(_blocks(shown, found), title=f"gpuwhy code {shown}"), values)
    return HEALTHY


def _blocks(asked: str, found: Sequence[Status]) -> tuple[Block, ...]:
    """A part for each of few; a line for each of many."""
    if len(found) <= _FEW:
        return tuple(block for one in found for block in _one(one))
    head = f"{asked} depends on who says it; gpuwhy code API {asked} tells more"
    rows = [(one.api, _short(asked, one)) for one in found]
    return (Heading((head,)), table(("API", "meaning"), rows))


def _one(one: Status) -> tuple[Block, ...]:
    title = " · ".join(one.names) or str(one.numbers[0].code)
    numbers = ", ".join(f"{n.code} ({n.where})" if n.where else str(n.code) for n in one.numbers)
    where = one.numbers[0].where
    causes = [(Code(cause),) for cause in one.causes]
    return (
        Heading((f"{one.title}: {title}",)),
        *((Paragraph((one.meaning,)),) if one.meaning else ()),
        pairs(
            pair("Number", numbers) if one.names else pair("From", where) if where else None,
            pair("Prints", " / ".join(one.says)) if one.says else None,
            pair("Causes", *causes) if causes else None,
            pair("Source", (Soft(str(one.source)),)),
        ),
    )


def _short(asked: str, one: Status) -> str:
    where = next((n.where for n in one.numbers if str(n.code) == asked and n.where), "")
    name = one.names[0] if one.names else ""
    named = f"{name} ({where})" if where and name else name
    return ": ".join(part for part in (named, one.meaning) if part)


def _unknown(asked: str) -> str:
    from gpuwhy.knowledge import codes

    shown = asked if len(asked) <= 60 else asked[:57] + "…"
    close = codes.near(asked[:200])
    if close:
        return f"no code {shown!r} is known; did you mean {', '.join(close)}?"
    apis = ", ".join(codes.TITLES)
    return f"no code {shown!r} is known; give a number or a name, if need be behind one of {apis}"
