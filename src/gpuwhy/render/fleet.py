"""The fleet for a person: who is odd and why, who said nothing, then the groups of equal nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from gpuwhy.model.fleet import Differs, Fleet, Group, Odd, Value, is_grave
from gpuwhy.render.terminal import Paper, put

Fold = Callable[[Sequence[str]], str]
Title = Callable[[str], str]
MOST_ODD, MOST_ROWS, MOST_SILENT = 20, 6, 20
_MARK = {"healthy": "✓", "broken": "✗", "degraded": "!", "unknown": "?"}
_COLOUR = {"healthy": "32", "broken": "31", "degraded": "33", "unknown": "36"}


def render(fleet: Fleet, paper: Paper, fold: Fold, title: Title, verbose: bool = False) -> str:
    """The whole comparison; `fold` writes many names in few signs, `title` names a fact."""
    lines = [*_head(fleet, paper), ""]
    alike = _alike(fleet.odd)
    for same in alike[: None if verbose else MOST_ODD]:
        lines += [*_odd(same, paper, fold, title, verbose), ""]
    if len(alike) > MOST_ODD and not verbose:
        left = sum(len(same) for same in alike[MOST_ODD:])
        lines += [f"  and {left:,} more nodes that differ (--verbose lists them)", ""]
    lines += _silent(fleet, paper, verbose)
    lines += ["groups of equal nodes", *(row for group in fleet.groups for row in _group(group, paper, fold, verbose))]
    lines += _notes(fleet, paper, title, verbose)
    return put(lines, paper)


def _head(fleet: Fleet, paper: Paper) -> list[str]:
    mark, colour = _mark(fleet)
    return [paper.tint(colour, line) for line in paper.wrap(headline(fleet), f"{mark} ", "  ")]


def _mark(fleet: Fleet) -> tuple[str, str]:
    if fleet.silent or any(map(is_grave, fleet.odd)) or _broken(fleet):
        return "✗", "1;31"
    return ("!", "1;33") if fleet.odd else ("✓", "1;32")


def _broken(fleet: Fleet) -> list[Group]:
    return [group for group in fleet.groups if group.status == "broken"]


def headline(fleet: Fleet) -> str:
    """The answer in one sentence."""
    total = fleet.nodes + len(fleet.silent)
    nodes = f"{total:,} node{'s' * (total != 1)}"
    said = []
    if fleet.odd:
        said.append(_differing(fleet, nodes))
    if fleet.silent:
        said.append(f"{_which([one.node for one in fleet.silent], nodes)} gave no answer")
    broken = _broken(fleet)
    if not said and broken:
        said.append(f"{sum(len(group.nodes) for group in broken):,} of {nodes} broken alike: {broken[0].headline}")
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


def _odd(same: Sequence[Odd], paper: Paper, fold: Fold, title: Title, verbose: bool) -> Iterator[str]:
    one, names = same[0], fold([node.node for node in same])
    count = f" ({len(same):,} nodes)" if len(same) > 1 else ""
    yield paper.tint("1", f"odd    {names if verbose or len(names) <= 60 else names[:57] + '…'}{count}")
    rows = one.differs if verbose else one.differs[:MOST_ROWS]
    for row in rows:
        yield from paper.wrap(_sentence(row, title), "  ", "    ")
    if len(rows) < len(one.differs):
        yield f"  and {len(one.differs) - len(rows)} smaller differences (--verbose)"


def _sentence(row: Differs, title: Title) -> str:
    usual = f"{show(row.others)} on {row.same} of {row.known}" if row.known else show(row.others)
    why = f" → {'this is' if row.shown else 'can be'} {row.explains}" if row.explains else ""
    return f"{title(row.fact)}: {show(row.value)}, others {usual}{why}"


def show(value: Value) -> str:
    """A value in words; -1 stands for no limit."""
    if value == -1:
        return "unlimited"
    if isinstance(value, float):
        return f"{value:g}"
    return "not seen" if value is None else str(value)[:120] or "(empty)"


def _silent(fleet: Fleet, paper: Paper, verbose: bool) -> Iterator[str]:
    for one in fleet.silent[: None if verbose else MOST_SILENT]:
        yield from paper.wrap(f"no answer  {one.node}" + (f": {one.why}" if one.why else ""), "", "    ")
    if len(fleet.silent) > MOST_SILENT and not verbose:
        yield f"  and {len(fleet.silent) - MOST_SILENT} more without an answer"
    if fleet.silent:
        yield ""


def _group(group: Group, paper: Paper, fold: Fold, verbose: bool) -> list[str]:
    names = fold(group.nodes)
    names = names if verbose or len(names) <= 60 else f"{names[:57]}…"
    mark = paper.tint(_COLOUR[group.status], _MARK[group.status])
    first = f"  {mark} {len(group.nodes):>6,}  {names}"
    cause = f"; {group.causes[0].id}" if group.causes else ""
    return [first, *paper.wrap(group.describes + cause, " " * 12, " " * 12)]


def _notes(fleet: Fleet, paper: Paper, title: Title, verbose: bool) -> Iterator[str]:
    if fleet.scattered:
        names = ", ".join(title(one.fact) for one in fleet.scattered[:8])
        yield from paper.wrap(f"no common value, so not compared: {names}", "  ", "    ")
    if fleet.unseen:
        some = list(fleet.unseen.items())[: None if verbose else 5]
        words = ", ".join(f"{title(fact)} on {count:,}" for fact, count in some)
        yield from paper.wrap(f"could not be seen: {words}", "  ", "    ")
    if fleet.repeated:
        yield from paper.wrap(f"answered more than once, the last counts: {len(fleet.repeated):,} nodes", "  ", "    ")
    if len(fleet.versions) > 1:
        yield from paper.wrap(f"asked by different releases of gpuwhy: {', '.join(fleet.versions)}", "  ", "    ")
    if fleet.unreadable_count:
        lines = (
            "1 line is no answer" if fleet.unreadable_count == 1 else f"{fleet.unreadable_count:,} lines are no answers"
        )
        yield from paper.wrap(f"{lines}: {fleet.unreadable[0]}", "  ", "    ")
