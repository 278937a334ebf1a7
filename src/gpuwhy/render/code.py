"""Status codes for a person and as JSON (`gpuwhy.code/1`): a block for each of few, a line for each of many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from gpuwhy.border.shared import as_json as shared_json
from gpuwhy.model.code import Code, Number
from gpuwhy.render.terminal import Paper

SCHEMA = "gpuwhy.code/1"
_FEW = 3


def as_json(asked: str, codes: Sequence[Code]) -> str:
    """The contract's shape: one match per API and status."""
    matches = [{**msgspec.to_builtins(code), "source": str(code.source)} for code in codes]
    out = {"schema": SCHEMA, "asked": asked, "matches": matches}
    return shared_json(out)


def render(asked: str, codes: Sequence[Code], paper: Paper) -> str:
    """All that the text may stand for."""
    if len(codes) <= _FEW:
        return "\n".join(line for code in codes for line in (*_block(code, paper), "")).rstrip() + "\n"
    head = f"{asked} depends on who says it (gpuwhy code API {asked} tells more):"
    width = max(len(code.api) for code in codes)
    lines = [line for code in codes for line in _line(asked, code, width, paper)]
    return "\n".join([paper.tint("1", head), *lines]) + "\n"


def _block(code: Code, paper: Paper) -> Iterator[str]:
    title = " · ".join(code.names) or str(code.numbers[0].code)
    yield from (paper.tint("1", line) for line in paper.wrap(f"{code.title}: {title}", "", "  "))
    if code.meaning:
        yield from paper.wrap(code.meaning, "  ", "  ")
    if code.names:
        yield from paper.wrap(", ".join(map(_number, code.numbers)), "  number  ", "          ")
    elif code.numbers[0].where:
        yield from paper.wrap(code.numbers[0].where, "  from    ", "          ")
    if code.says:
        yield from paper.wrap(" / ".join(code.says), "  prints  ", "          ")
    if code.causes:
        yield from paper.wrap(" ".join(code.causes), "  causes  ", "          ")
    yield from paper.wrap(str(code.source), "  know    ", "          ")


def _number(number: Number) -> str:
    return f"{number.code} ({number.where})" if number.where else str(number.code)


def _line(asked: str, code: Code, width: int, paper: Paper) -> Iterator[str]:
    where = next((n.where for n in code.numbers if str(n.code) == asked and n.where), "")
    name = code.names[0] if code.names else ""
    text = ": ".join(part for part in (name + (f" ({where})" if where and name else ""), code.meaning) if part)
    yield from paper.wrap(text, f"  {code.api:<{width}}  ", " " * (width + 4))
