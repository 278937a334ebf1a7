"""`gpuwhy code 719`, `gpuwhy code cudnn 4`: what a status number or name means."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import msgspec

from gpuwhy.answer.blocks import pair, pairs, table
from gpuwhy.answer.tree import Block, Code, Document, Heading, Paragraph, Soft
from gpuwhy.cli import HEALTHY, UsageError, output
from gpuwhy.diagnose.status import behind
from gpuwhy.knowledge import codes

if TYPE_CHECKING:
    from gpuwhy.knowledge.codes import Code as Status

_FEW = 3


def go(options: argparse.Namespace) -> int:
    """Look up and print: a part for each of few, a line for each of many."""
    asked = " ".join(options.code)
    found = [behind(one) for one in codes.find(asked)]
    if not found:
        near, apis = codes.near(asked[:200]), ", ".join(codes.apis())
        hint = f"did you mean {', '.join(near)}?" if near else f"name one of {apis} too"
        raise UsageError(f"no code {asked[:60]!r} is known; {hint}")
    matches = [{**msgspec.to_builtins(one), "source": str(one.source)} for one in found]
    values = {"schema": "gpuwhy.code/1", "asked": asked, "matches": matches}
    _, rest = codes.split(asked)
    number = codes.as_number(rest)
    shown = rest if number is None else str(number)
    blocks = [block for one in found for block in _one(one)]
    if len(found) > _FEW:
        head = f"{shown} depends on the library; gpuwhy code API {shown} says more"
        rows = []
        for one in found:
            where = next((n.where for n in one.numbers if str(n.code) == shown and n.where), "")
            named = "".join(one.names[:1]) + (f" ({where})" if where and one.names else "")
            rows.append((one.api, ": ".join(filter(None, (named, one.meaning)))))
        blocks = [Heading((head,)), table(("API", "meaning"), rows)]
    output.put(options, Document(tuple(blocks), title=f"gpuwhy code {shown}"), values)
    return HEALTHY


def _one(one: Status) -> list[Block]:
    title = " · ".join(one.names) or str(one.numbers[0].code)
    numbers = ", ".join(f"{n.code} ({n.where})" if n.where else str(n.code) for n in one.numbers)
    where = one.numbers[0].where
    rows = pairs(
        pair("Number", numbers) if one.names else pair("From", where) if where else None,
        pair("Prints", " / ".join(one.says)) if one.says else None,
        pair("Causes", *((Code(cause),) for cause in one.causes)) if one.causes else None,
        pair("Source", (Soft(str(one.source)),)),
    )
    meaning = [Paragraph((one.meaning,))] if one.meaning else []
    return [Heading((f"{one.title}: {title}",)), *meaning, rows]
