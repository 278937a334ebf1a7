"""The fleet as a document: who is odd and why, who gave no answer, the groups of equal nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from gpuwhy.answer.blocks import fold, item, items, pair, pairs
from gpuwhy.answer.text import counted
from gpuwhy.answer.tree import Block, Code, Document, Heading, Line, Mark, Pair, Paragraph
from gpuwhy.fleet import names
from gpuwhy.fleet.answer import Differs, Fleet, Group, Odd, Value, title

T = TypeVar("T")

MOST_ODD, MOST_ROWS, MOST_SILENT, MOST_GROUPS = 5, 6, 20, 6
NAMES = 60
_MARKS: dict[str, Mark] = {"healthy": "ok", "broken": "bad", "degraded": "warn"}


def document(fleet: Fleet, verbose: bool = False) -> Document:
    """The whole comparison."""
    mark: Mark = "bad" if fleet.bad or _broken(fleet) else "warn" if fleet.odd else "ok"
    blocks: list[Block] = [Heading((headline(fleet),), mark)]
    alike: dict[object, list[Odd]] = {}
    for one in fleet.odd:
        alike.setdefault(one.differs, []).append(one)
    shown, left = _cut(list(alike.values()), MOST_ODD, verbose)
    for same in shown:
        blocks += _odd(same, verbose)
    if left:
        more = sum(map(len, list(alike.values())[-left:]))
        blocks.append(Paragraph((f"and {counted(more, 'more node')} that differ (-v lists them)",)))
    blocks += _silent(fleet, verbose)
    blocks += _groups(fleet, verbose)
    if notes := list(_notes(fleet, verbose)):
        blocks.append(items(map(item, notes)))
    return Document(tuple(blocks), title=headline(fleet))


def _cut(rows: Sequence[T], most: int, verbose: bool) -> tuple[Sequence[T], int]:
    """The first rows, and how many are left; all with -v."""
    return (rows, 0) if verbose else (rows[:most], max(0, len(rows) - most))


def _broken(fleet: Fleet) -> list[Group]:
    return [group for group in fleet.groups if group.status == "broken"]


def headline(fleet: Fleet) -> str:
    """The answer in one sentence."""
    nodes = counted(fleet.nodes + len(fleet.silent), "node")
    said = []
    if fleet.odd:
        grave = [one for one in fleet.odd if one.is_grave]
        odd = [one.node for one in grave or fleet.odd]
        differs = f"differ{'s' * (len(odd) == 1)} from {fleet.baseline or 'the others'}"
        what = " in what can make a job fail" if grave else ", in nothing known to fail jobs"
        said.append(f"{_which(odd, nodes)} {differs}{what}")
    if fleet.silent:
        said.append(f"{_which([one.node for one in fleet.silent], nodes)} gave no answer")
    broken = _broken(fleet)
    if not said and broken:
        count = sum(len(group.nodes) for group in broken)
        said.append(f"{count:,} of {nodes} broken alike: {broken[0].headline}")
    return "; ".join(said) or f"{nodes}, all equal in what was compared"


def _which(some: Sequence[str], nodes: str) -> str:
    return some[0] if len(some) == 1 else f"{len(some):,} of {nodes}"


def _folded(nodes: Sequence[str], verbose: bool) -> str:
    text = names.fold(nodes)
    return text if verbose or len(text) <= NAMES else f"{text[: NAMES - 1]}…"


def _odd(same: Sequence[Odd], verbose: bool) -> Iterator[Block]:
    """Odd nodes with the same differences."""
    count = f" ({len(same):,} nodes)" if len(same) > 1 else ""
    mark: Mark = "bad" if same[0].is_grave else "warn"
    nodes = _folded([node.node for node in same], verbose)
    yield Heading((f"{nodes}{count}",), mark, level=2)
    shown, left = _cut(same[0].differs, MOST_ROWS, verbose)
    rows = [item(_sentence(row)) for row in shown]
    if left:
        rows.append(item(f"and {counted(left, 'smaller difference')} (-v)"))
    yield items(rows)


def _sentence(row: Differs) -> Line:
    usual = f"{_show(row.others)} on {row.same} of {row.known}" if row.known else _show(row.others)
    said = f"{title(row.fact)}: {_show(row.value)}, others {usual}"
    if not row.explains:
        return (said,)
    return (f"{said} → {'this is' if row.shown else 'can be'} ", Code(row.explains))


def _show(value: Value) -> str:
    """A value in words; -1 stands for no limit."""
    if value == -1:
        return "unlimited"
    return f"{value:g}" if isinstance(value, float) else str(value)[:120] or "(empty)"


def _silent(fleet: Fleet, verbose: bool) -> Iterator[Block]:
    shown, left = _cut(fleet.silent, MOST_SILENT, verbose)
    rows = [pair("no answer", f"{one.node}: {one.why}" if one.why else one.node) for one in shown]
    if left:
        rows.append(pair("", f"and {left} more without an answer"))
    if rows:
        yield pairs(*rows)


def _groups(fleet: Fleet, verbose: bool) -> Iterable[Block]:
    shown, left = _cut(fleet.groups, MOST_GROUPS, verbose)
    rows = [_group(group, verbose) for group in shown]
    if left:
        rows.append(pair("", f"and {counted(left, 'more group')} (-v lists them)"))
    return fold("Groups of equal nodes", pairs(*rows), open=True)


def _group(group: Group, verbose: bool) -> Pair:
    cause: Line = ("; ", Code(group.causes[0].id)) if group.causes else ()
    said = f"{_folded(group.nodes, verbose)}: {group.describes}"
    mark = _MARKS.get(group.status, "unknown")
    return pair(f"{len(group.nodes):,}", (said, *cause), mark=mark)


def _notes(fleet: Fleet, verbose: bool) -> Iterator[str]:
    if fleet.scattered:
        facts = ", ".join(title(one.fact) for one in fleet.scattered[:8])
        yield f"no common value, so not compared: {facts}"
    if fleet.unseen:
        some, _ = _cut(list(fleet.unseen.items()), 5, verbose)
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
