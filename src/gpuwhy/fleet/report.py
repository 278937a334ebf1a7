"""The fleet as a document: who is odd and why, who gave no answer, the groups of equal nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpuwhy.answer.text import counted
from gpuwhy.answer.tree import (
    Block,
    Code,
    Document,
    Fold,
    Heading,
    Item,
    Items,
    Line,
    Mark,
    Pair,
    Pairs,
    Paragraph,
)
from gpuwhy.fleet.answer import Differs, Fleet, Group, Odd, Value, is_grave
from gpuwhy.fleet.kinds import title
from gpuwhy.fleet.names import fold

MOST_ODD, MOST_ROWS, MOST_SILENT, MOST_GROUPS = 5, 6, 20, 6
NAMES = 60
_MARKS: dict[str, Mark] = {"healthy": "ok", "broken": "bad", "degraded": "warn"}


def document(fleet: Fleet, verbose: bool = False) -> Document:
    """The whole comparison."""
    blocks: list[Block] = [Heading((headline(fleet),), _mark(fleet))]
    alike = _alike(fleet.odd)
    shown = alike if verbose else alike[:MOST_ODD]
    for same in shown:
        blocks += _odd(same, verbose)
    if len(shown) < len(alike):
        left = sum(map(len, alike[len(shown) :]))
        blocks.append(Paragraph((f"and {counted(left, 'more node')} that differ (-v lists them)",)))
    blocks += _silent(fleet, verbose)
    blocks += _groups(fleet, verbose)
    notes = tuple(Item(((note,),)) for note in _notes(fleet, verbose))
    if notes:
        blocks.append(Items(notes))
    return Document(tuple(blocks), title=headline(fleet))


def _mark(fleet: Fleet) -> Mark:
    if fleet.silent or any(map(is_grave, fleet.odd)) or _broken(fleet):
        return "bad"
    return "warn" if fleet.odd else "ok"


def _broken(fleet: Fleet) -> list[Group]:
    return [group for group in fleet.groups if group.status == "broken"]


def headline(fleet: Fleet) -> str:
    """The answer in one sentence."""
    nodes = counted(fleet.nodes + len(fleet.silent), "node")
    said = []
    if fleet.odd:
        said.append(_differing(fleet, nodes))
    if fleet.silent:
        said.append(f"{_which([one.node for one in fleet.silent], nodes)} gave no answer")
    broken = _broken(fleet)
    if not said and broken:
        count = sum(len(group.nodes) for group in broken)
        said.append(f"{count:,} of {nodes} broken alike: {broken[0].headline}")
    return "; ".join(said) or f"{nodes}, all equal in what was compared"


def _differing(fleet: Fleet, nodes: str) -> str:
    grave = [one for one in fleet.odd if is_grave(one)]
    odd = [one.node for one in grave or fleet.odd]
    differs = f"differ{'s' * (len(odd) == 1)} from {fleet.baseline or 'the others'}"
    what = " in what can make a job fail" if grave else ", in nothing known to fail jobs"
    return f"{_which(odd, nodes)} {differs}{what}"


def _which(names: Sequence[str], nodes: str) -> str:
    return names[0] if len(names) == 1 else f"{len(names):,} of {nodes}"


def _alike(odd: Sequence[Odd]) -> list[list[Odd]]:
    """Odd nodes with the same differences together, in their order."""
    out: dict[object, list[Odd]] = {}
    for one in odd:
        out.setdefault(one.differs, []).append(one)
    return list(out.values())


def _folded(names: Sequence[str], verbose: bool) -> str:
    text = fold(names)
    return text if verbose or len(text) <= NAMES else f"{text[: NAMES - 1]}…"


def _odd(same: Sequence[Odd], verbose: bool) -> Iterator[Block]:
    one = same[0]
    count = f" ({len(same):,} nodes)" if len(same) > 1 else ""
    shown = one.differs if verbose else one.differs[:MOST_ROWS]
    rows = [Item((_sentence(row),)) for row in shown]
    if left := len(one.differs) - len(shown):
        rows.append(Item(((f"and {counted(left, 'smaller difference')} (-v)",),)))
    mark: Mark = "bad" if is_grave(one) else "warn"
    names = _folded([node.node for node in same], verbose)
    yield Heading((f"{names}{count}",), mark, level=2)
    yield Items(tuple(rows))


def _sentence(row: Differs) -> Line:
    usual = f"{show(row.others)} on {row.same} of {row.known}" if row.known else show(row.others)
    said = f"{title(row.fact)}: {show(row.value)}, others {usual}"
    if not row.explains:
        return (said,)
    return (f"{said} → {'this is' if row.shown else 'can be'} ", Code(row.explains))


def show(value: Value) -> str:
    """A value in words; -1 stands for no limit."""
    if value == -1:
        return "unlimited"
    if isinstance(value, float):
        return f"{value:g}"
    return "not seen" if value is None else str(value)[:120] or "(empty)"


def _silent(fleet: Fleet, verbose: bool) -> Iterator[Block]:
    shown = fleet.silent if verbose else fleet.silent[:MOST_SILENT]
    rows = [
        Pair("no answer", ((f"{one.node}: {one.why}" if one.why else one.node,),)) for one in shown
    ]
    if left := len(fleet.silent) - len(shown):
        rows.append(Pair("", ((f"and {left} more without an answer",),)))
    if rows:
        yield Pairs(tuple(rows))


def _groups(fleet: Fleet, verbose: bool) -> Iterator[Block]:
    shown = fleet.groups if verbose else fleet.groups[:MOST_GROUPS]
    rows = [_group(group, verbose) for group in shown]
    if left := len(fleet.groups) - len(shown):
        rows.append(Pair("", ((f"and {counted(left, 'more group')} (-v lists them)",),)))
    if rows:
        yield Fold("Groups of equal nodes", (Pairs(tuple(rows)),), open=True)


def _group(group: Group, verbose: bool) -> Pair:
    cause: Line = ("; ", Code(group.causes[0].id)) if group.causes else ()
    names = _folded(group.nodes, verbose)
    mark = _MARKS.get(group.status, "unknown")
    return Pair(f"{len(group.nodes):,}", ((f"{names}: {group.describes}", *cause),), mark)


def _notes(fleet: Fleet, verbose: bool) -> Iterator[str]:
    if fleet.scattered:
        names = ", ".join(title(one.fact) for one in fleet.scattered[:8])
        yield f"no common value, so not compared: {names}"
    if fleet.unseen:
        some = list(fleet.unseen.items())[: None if verbose else 5]
        words = ", ".join(f"{title(fact)} on {count:,}" for fact, count in some)
        yield f"could not be seen: {words}"
    if fleet.repeated:
        nodes = counted(len(fleet.repeated), "node")
        yield f"answered more than once, the last answer counts: {nodes}"
    if len(fleet.versions) > 1:
        yield f"asked by different releases of gpuwhy: {', '.join(fleet.versions)}"
    if fleet.unreadable_count:
        be = "is no answer" if fleet.unreadable_count == 1 else "are no answers"
        yield f"{counted(fleet.unreadable_count, 'line')} {be}: {fleet.unreadable[0]}"
