"""A plan for a person (what to install first, then why) and as JSON (`gpuwhy.plan/1`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from gpuwhy.border.shared import as_json as shared_json
from gpuwhy.model.plan import Choice, Conflict, Line, Passed, Plan, Proposal, Way
from gpuwhy.render.terminal import Paper, put

SCHEMA = "gpuwhy.plan/1"
_SHORT = ("uv", "pip")
_PASSED = 6


def plan_dict(plan: Plan) -> dict[str, Any]:
    """The plan in plain values, in the contract's shape."""
    out: dict[str, Any] = {"schema": SCHEMA, "status": "proposal" if plan.proposal else "conflict"}
    out |= msgspec.to_builtins(plan)
    return out


def as_json(plan: Plan) -> str:
    """Indented JSON, ending in a newline."""
    return shared_json(plan_dict(plan))


def schema() -> dict[str, Any]:
    """The JSON Schema of the contract, from the nouns themselves; docs/plan.schema.json is a copy of it."""
    out = msgspec.json.schema(Plan)
    definition = out["$defs"]["Plan"]
    definition["properties"] |= {"schema": {"const": SCHEMA}, "status": {"enum": ["proposal", "conflict"]}}
    definition["required"] = ["schema", "status", *definition["required"]]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": SCHEMA, **out}


def render(plan: Plan, paper: Paper, all_ways: bool = False, verbose: bool = False) -> str:
    """The whole plan as text."""
    if plan.proposal:
        lines = list(_proposal(plan.proposal, paper, all_ways, verbose, "?" if plan.proposal.unsure else "✓"))
    else:
        assert plan.conflict is not None
        lines = list(_conflict(plan.conflict, paper, all_ways, verbose))
    return put(lines, paper)


def _proposal(plan: Proposal, paper: Paper, all_ways: bool, verbose: bool, glyph: str) -> Iterator[str]:
    yield from _first_line(plan, paper, glyph)
    yield ""
    ways = [way for way in plan.ways if all_ways or way.kind in (*_SHORT, "apt", "archive", "windows")]
    for way in ways:
        yield from _way(way, paper)
    yield from _needs(plan, paper)
    yield from _evidence(plan, paper)
    yield from _besides(plan, paper, verbose)
    yield from _passed(plan.passed, paper, verbose)
    if not all_ways:
        more = ", ".join(way.title for way in plan.ways if way not in ways)
        yield from paper.wrap(f"{more} (--all shows, --write FOLDER writes them)", "  more     ", "           ")


def _first_line(plan: Proposal, paper: Paper, glyph: str) -> list[str]:
    named = ", ".join(_name(c) for c in plan.choices or [c for c in plan.libraries if c.asked])
    doubt, colour = (" may work, which is not known", "1;33") if plan.unsure else ("", "1;32")
    return paper.wrap(f"{named} on Python {plan.python}{doubt}", paper.tint(colour, f"{glyph} "), "  ")


def _evidence(plan: Proposal, paper: Paper) -> Iterator[str]:
    """What is known, what is not, and what to note."""
    limits = [Line("know", f"{cap.requirement}: {cap.because}", cap.source) for cap in plan.caps]
    for line in (*plan.lines, *limits):
        yield from _line(line, paper)
    for why in plan.unsure:
        yield from paper.wrap(why, "  unknown  ", "           ")
    if plan.removes:
        said = (
            f"something of this set brings {' and '.join(plan.removes)}, which owns the same files: it is removed again"
        )
        yield from paper.wrap(said, "  note     ", "           ")
    for note in plan.notes:
        yield from paper.wrap(note, "  note     ", "           ")


def _besides(plan: Proposal, paper: Paper, verbose: bool) -> Iterator[str]:
    """What was not planned, the wheels of the set, and the other Pythons."""
    if plan.others:
        names = ", ".join(wish.name or wish.url for wish in plan.others)
        yield from paper.wrap(f"{names}: not planned here, left to the installer", "  others   ", "           ")
    if verbose:
        pins = ", ".join(f"{c.package} {c.version}" for c in plan.libraries)
        yield from paper.wrap(pins or "none", "  wheels   ", "           ")
    also = [python for python in plan.pythons if python != plan.python]
    if also:
        yield f"  also on  Python {', '.join(also)}"


def _name(choice: Choice) -> str:
    return f"{choice.package} {choice.version}" + (f" ({choice.backend})" if choice.backend else "")


def _way(way: Way, paper: Paper) -> Iterator[str]:
    yield paper.tint("1", f"  {way.title}") + (f"  {way.file}" if way.file else "")
    yield from (f"    {line}" for line in way.text.rstrip().splitlines())
    if way.note:
        yield from paper.wrap(way.note, "    # ", "    # ")
    yield ""


def _needs(plan: Proposal, paper: Paper) -> Iterator[str]:
    for part in plan.system:
        what = f"{part.name} {part.version}".rstrip() + (" or newer" if part.name == "driver" else "")
        yield from paper.wrap(f"{what}: {part.why}", "  needs    ", "           ")


def _line(line: Line, paper: Paper) -> list[str]:
    source = f"  [{line.source}]" if line.source else ""
    return paper.wrap(f"{line.text}{source}", f"  {line.kind:<8} ", "           ")


def _passed(passed: Sequence[Passed], paper: Paper, verbose: bool) -> Iterator[str]:
    shown = passed if verbose else passed[:_PASSED]
    for each in shown:
        colon = ":" if each.kind == "platform" else ""
        yield from paper.wrap(f"{each.package} {_span(each)}{colon} {each.why}", "  passed   ", "           ")
    if len(passed) > len(shown):
        yield f"  passed   {len(passed) - len(shown)} more groups of releases (--verbose lists them)"


def _span(passed: Passed) -> str:
    versions = passed.versions
    return versions[0] if len(versions) == 1 else f"{versions[-1]} … {versions[0]} ({len(versions)} releases)"


def _conflict(conflict: Conflict, paper: Paper, all_ways: bool, verbose: bool) -> Iterator[str]:
    yield from paper.wrap(conflict.text, paper.tint("1;31", "✗ "), "  ")
    yield ""
    yield from (line for each in conflict.lines for line in _line(each, paper))
    if conflict.nearest is None:
        yield "  nearest  nothing that is known works on this machine"
        return
    yield from paper.wrap(conflict.gives_up, "  nearest  ", "           ")
    for move in conflict.migration:
        yield from paper.wrap(move, "  code     ", "           ")
    yield ""
    nearest = msgspec.structs.replace(conflict.nearest, lines=())
    yield from _proposal(nearest, paper, all_ways, verbose, "→")
