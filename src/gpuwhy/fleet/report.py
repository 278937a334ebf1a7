"""The fleet as a document: who is odd and why, who gave no answer, the groups of equal nodes."""

from collections.abc import Iterator, Sequence

from gpuwhy.answer.blocks import fold, item, items, pair, pairs
from gpuwhy.answer.text import counted
from gpuwhy.answer.tree import Block, Code, Document, Heading, Line, Mark, Paragraph
from gpuwhy.fleet import names
from gpuwhy.fleet.answer import Differs, Fleet, Odd, Value, title

MOST_ODD, MOST_ROWS, MOST_SILENT, MOST_GROUPS = 5, 6, 20, 6
NAMES = 60
_MARKS: dict[str, Mark] = {"healthy": "ok", "broken": "bad", "degraded": "warn"}


def document(fleet: Fleet, verbose: bool = False) -> Document:
    """The whole comparison; all rows with -v."""
    broken = any(group.status == "broken" for group in fleet.groups)
    mark: Mark = "bad" if fleet.bad or broken else "warn" if fleet.odd else "ok"
    blocks: list[Block] = [Heading((headline(fleet),), mark)]
    alike: dict[object, list[Odd]] = {}  # odd nodes with the same differences
    for one in fleet.odd:
        alike.setdefault(one.differs, []).append(one)
    same = list(alike.values())
    for nodes in same if verbose else same[:MOST_ODD]:
        count = f" ({len(nodes):,} nodes)" if len(nodes) > 1 else ""
        named = _folded([node.node for node in nodes], verbose)
        grave: Mark = "bad" if nodes[0].is_grave else "warn"
        differs = nodes[0].differs
        rows = [item(_sentence(row)) for row in (differs if verbose else differs[:MOST_ROWS])]
        if left := len(differs) - len(rows):
            rows.append(item(f"and {counted(left, 'smaller difference')} (-v)"))
        blocks += [Heading((f"{named}{count}",), grave, level=2), items(rows)]
    if not verbose and (more := sum(map(len, same[MOST_ODD:]))):
        blocks.append(Paragraph((f"and {counted(more, 'more node')} that differ (-v lists them)",)))
    silent = fleet.silent if verbose else fleet.silent[:MOST_SILENT]
    quiet = [pair("no answer", f"{one.node}: {one.why}" if one.why else one.node) for one in silent]
    if left := len(fleet.silent) - len(quiet):
        quiet.append(pair("", f"and {left} more without an answer"))
    blocks += [pairs(*quiet)] if quiet else []
    equal = []
    for group in fleet.groups if verbose else fleet.groups[:MOST_GROUPS]:
        cause: Line = ("; ", Code(group.causes[0].id)) if group.causes else ()
        said = f"{_folded(group.nodes, verbose)}: {group.describes}"
        shown = _MARKS.get(group.status, "unknown")
        equal.append(pair(f"{len(group.nodes):,}", (said, *cause), mark=shown))
    if left := len(fleet.groups) - len(equal):
        equal.append(pair("", f"and {counted(left, 'more group')} (-v lists them)"))
    blocks += fold("Groups of equal nodes", pairs(*equal), open=True)
    if notes := list(_notes(fleet, verbose)):
        blocks.append(items(map(item, notes)))
    return Document(tuple(blocks), title=headline(fleet))


def headline(fleet: Fleet) -> str:
    """The answer in one sentence."""
    nodes = counted(fleet.nodes + len(fleet.silent), "node")

    def which(some: Sequence[str]) -> str:
        return some[0] if len(some) == 1 else f"{len(some):,} of {nodes}"

    said = []
    if fleet.odd:
        grave = [one for one in fleet.odd if one.is_grave]
        odd = [one.node for one in grave or fleet.odd]
        differs = f"differ{'s' * (len(odd) == 1)} from {fleet.baseline or 'the others'}"
        what = " in what can make a job fail" if grave else ", in nothing known to fail jobs"
        said.append(f"{which(odd)} {differs}{what}")
    if fleet.silent:
        said.append(f"{which([one.node for one in fleet.silent])} gave no answer")
    broken = [group for group in fleet.groups if group.status == "broken"]
    if not said and broken:
        count = sum(len(group.nodes) for group in broken)
        said.append(f"{count:,} of {nodes} broken alike: {broken[0].headline}")
    return "; ".join(said) or f"{nodes}, all equal in what was compared"


def _folded(nodes: Sequence[str], verbose: bool) -> str:
    text = names.fold(nodes)
    return text if verbose or len(text) <= NAMES else f"{text[: NAMES - 1]}…"


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


def _notes(fleet: Fleet, verbose: bool) -> Iterator[str]:
    if fleet.scattered:
        facts = ", ".join(title(one.fact) for one in fleet.scattered[:8])
        yield f"no common value, so not compared: {facts}"
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
