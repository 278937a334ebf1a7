"""Whether a model fits, for a person (the answer, a bar of the parts, what would make it fit) and as `gpuwhy.fit/1`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from gpuwhy.border.shared import as_json as shared_json
from gpuwhy.model.fit import Change, Fit, Part, Share
from gpuwhy.render.terminal import Paper, put

SCHEMA = "gpuwhy.fit/1"
_GLYPH = {"fits": ("✓", "1;32"), "only_just": ("!", "1;33"), "does_not_fit": ("✗", "1;31"), "unknown": ("?", "1;36")}
_SHADES = "█▓▒░"
_COLOURS = ("34", "36", "35", "32", "33", "31")
GIB = 1 << 30


def fit_dict(found: Fit) -> dict[str, Any]:
    """The answer in plain values, in the contract's shape."""
    out: dict[str, Any] = {"schema": SCHEMA}
    out |= msgspec.to_builtins(found)
    return out


def as_json(found: Fit) -> str:
    """Indented JSON, ending in a newline."""
    return shared_json(fit_dict(found))


def schema() -> dict[str, Any]:
    """The JSON Schema of the contract, from the nouns themselves; docs/fit.schema.json is a copy of it."""
    out = msgspec.json.schema(Fit)
    definition = out["$defs"]["Fit"]
    definition["properties"] |= {"schema": {"const": SCHEMA}}
    definition["required"] = ["schema", *definition["required"]]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": SCHEMA, **out}


def gib(size: float) -> str:
    """Bytes for a person."""
    return f"{size / GIB:.1f} GiB" if abs(size) >= GIB else f"{size / (1 << 20):.0f} MiB"


def render(found: Fit, paper: Paper, verbose: bool = False) -> str:
    """The whole answer as text."""
    glyph, colour = _GLYPH[found.status]
    lines = paper.wrap(found.headline, paper.tint(colour, f"{glyph} "), "  ")
    lines += ["", *_bar(found.shares[0], paper), ""]
    for one in found.shares[0].parts:
        lines += _part(one, paper, verbose)
    lines += ["", *_about(found, paper)]
    if found.changes:
        lines += ["", "  what would make it fit" if found.margin < 0 else "  what would make it fit safely"]
        lines += [line for change in found.changes for line in _change(change, paper)]
    if verbose:
        lines += ["", *(line for share in found.shares[1:] for line in _share(share, paper))]
    return put(lines, paper)


def _bar(share: Share, paper: Paper) -> Iterator[str]:
    """One line as long as the GPU's memory, or as what is needed where that is more."""
    wide = paper.width - 4
    whole = max(share.card.room, share.bytes, 1)
    drawn, place = "", 0.0
    for number, one in enumerate(share.parts):
        end = place + one.bytes / whole * wide
        drawn += paper.tint(
            _COLOURS[number % len(_COLOURS)], _SHADES[number % len(_SHADES)] * (round(end) - round(place))
        )
        place = end
    limit = round(share.card.room / whole * wide)
    yield f"  {drawn}{'·' * max(0, limit - round(place))}"
    over = share.bytes > share.card.room
    mark = f"{gib(share.card.room)} can be had ↑" if over else f"{gib(share.card.room)} can be had"
    yield "  " + (mark.rjust(min(limit, wide)) if over else mark.rjust(wide))


def _part(one: Part, paper: Paper, verbose: bool) -> list[str]:
    number = f"{gib(one.bytes):>9}"
    bounds = f" ({gib(one.least)} to {gib(one.most)})" if verbose else ""
    source = f"  [{one.source}]" if verbose and one.source else ""
    text = f"{one.text}{bounds}{source}"
    return paper.wrap(text, f"  {one.name:<14}{number}  {one.how:<8} ", " " * 36)


def _about(found: Fit, paper: Paper) -> Iterator[str]:
    card = found.shares[0].card
    yield from paper.wrap(f"{card.name}: {card.text}", f"  {card.how:<8} ", "           ")
    model = found.model
    what = (
        f"{model.parameters:,} parameters in {model.format}, {gib(model.bytes)}, {model.files} files; nothing was run"
    )
    yield from paper.wrap(what, f"  {model.how:<8} ", "           ")
    if found.largest and found.largest != found.use.batch:
        yield f"  largest  a batch of {found.largest} would be the most by this count"
    for note in found.notes:
        yield from paper.wrap(note, "  assumed  ", "           ")
    for one in found.unknown:
        yield from paper.wrap(one, "  unknown  ", "           ")


def _change(one: Change, paper: Paper) -> list[str]:
    just = ", only just" if one.status == "only_just" else ""
    text = f"{one.text}: {gib(one.bytes)} of {gib(one.room)}{just}; costs {one.cost}"
    return [*paper.wrap(text, "  → ", "    "), f"      {one.options}"]


def _share(share: Share, paper: Paper) -> Iterator[str]:
    yield f"  GPU {share.gpu}  {share.card.name}: {gib(share.bytes)} of {gib(share.card.room)}, {share.status}"
