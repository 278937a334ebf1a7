"""Compare: equal nodes together, the odd ones with what makes them odd, the gravest first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from gpuwhy.fleet.answer import (
    Answer,
    Differs,
    Fleet,
    Group,
    Odd,
    Scattered,
    Silent,
    Value,
    Weight,
    is_grave,
)
from gpuwhy.fleet.kinds import KINDS, kind_of, title
from gpuwhy.fleet.norms import NONE, Norm, common, value_of
from gpuwhy.fleet.pool import Node, Pool
from gpuwhy.fleet.read import Heard

__all__ = ["Answer", "Fleet", "Silent", "compare", "compare_heard", "describes"]

OWN_KIND = 0.2
"""The share of nodes from which another kind of GPU is a kind of node of its own, not an oddity."""
SURE = 0.5
"""The confidence from which a cause of a node's own report counts."""
FEW = 5
"""With fewer nodes than this, every difference is told."""
_FRAMEWORKS = ("torch", "tensorflow", "jax")
_WEIGHTLESS = frozenset(kind.name for kind in KINDS if kind.weight == 0)


def compare(
    answers: Iterable[Answer],
    silent: Sequence[Silent] = (),
    baseline: Sequence[Answer] = (),
    baseline_name: str = "",
) -> Fleet:
    """The whole comparison; with a baseline, every node is compared with it alone."""
    heard, against = Heard(), Heard()
    for answer in answers:
        heard.add(answer)
    for answer in baseline:
        against.add(answer)
    return compare_heard(heard, silent, against, baseline_name)


def compare_heard(
    heard: Heard,
    silent: Sequence[Silent] = (),
    baseline: Heard | None = None,
    baseline_name: str = "",
) -> Fleet:
    """The same of what was read, which is held in little memory."""
    pools = heard.pool, baseline.pool if baseline else Pool()
    for pool, nodes in zip(
        pools, (heard.answers, baseline.answers if baseline else ()), strict=True
    ):
        for node in nodes:
            pool.add(node)
    heard.pool.settle_clocks()
    fleet = _fleet(heard.pool, silent, pools[1], baseline_name)
    bad = {"unreadable": tuple(heard.bad), "unreadable_count": heard.bad_count}
    return msgspec.structs.replace(fleet, versions=tuple(sorted(heard.versions)), **bad)


def _fleet(pool: Pool, silent: Sequence[Silent], against: Pool, baseline_name: str) -> Fleet:
    groups: list[Group] = []
    odd: list[Odd] = []
    scattered: dict[str, Scattered] = {}
    for nodes in _cohorts(list(pool.nodes.values()), bool(against.nodes)):
        norm = common(
            list(against.nodes.values()) or nodes,
            everything=bool(against.nodes) or len(nodes) < FEW,
        )
        scattered.update({one.fact: one for one in norm.scattered})
        found = _found(nodes, norm)
        odd += [Odd(n.name, n.status, differs, n.causes) for n, differs in found if differs]
        groups += _groups(found, norm)
    groups.sort(key=lambda group: (-len(group.nodes), group.nodes[0]))
    odd.sort(key=lambda one: (not is_grave(one), -one.weight, -len(one.differs), one.node))
    return Fleet(
        groups=tuple(groups),
        odd=tuple(odd),
        silent=tuple(silent),
        scattered=tuple(scattered.values()),
        unseen=_unseen(pool),
        repeated={node.name: node.times for node in pool.nodes.values() if node.times > 1},
        baseline=baseline_name,
    )


def _found(nodes: Sequence[Node], norm: Norm) -> list[tuple[Node, tuple[Differs, ...]]]:
    """Each node with its differences; those of equal nodes are worked out once."""
    known: dict[object, tuple[Differs, ...]] = {}
    out = []
    for node in nodes:
        new = frozenset(one.id for one in node.causes if one.confidence >= SURE) - norm.causes
        key = (id(node.facts), node.whole, new)
        if key not in known:
            known[key] = _differences(node, new, norm)
        out.append((node, known[key]))
    return out


def _cohorts(nodes: list[Node], one: bool) -> list[list[Node]]:
    """Nodes that may be compared: those of one kind of GPU, where there are enough of it."""
    by_gpu: dict[str, list[Node]] = defaultdict(list)
    for node in nodes:
        by_gpu[_gpu_kind(node)].append(node)
    enough = max(2, OWN_KIND * len(nodes))
    own = {kind: some for kind, some in by_gpu.items() if kind and len(some) >= enough}
    if one or len(own) < 2:
        return [nodes] if nodes else []
    rest = [node for kind, some in by_gpu.items() if kind not in own for node in some]
    largest = max(own.values(), key=len)
    return [some + rest if some is largest else some for some in own.values()]


def _gpu_kind(node: Node) -> str:
    """The models of its GPUs, whatever their number; "" where none was seen."""
    names = node.facts.get("gpu.names")
    if not isinstance(names, str) or names == NONE:
        return ""
    return ", ".join(sorted({part.partition(" × ")[2] or part for part in names.split(", ")}))


def _differences(node: Node, new: frozenset[str], norm: Norm) -> tuple[Differs, ...]:
    rows = []
    for fact in norm.usual:
        value = value_of(fact, node.facts.get(fact), node.whole)
        if value is not None and not norm.same(fact, value):
            rows.append(_differs(fact, value, norm.usual[fact], new, norm))
    if new:
        rows.append(
            Differs("causes", _ids(new), _ids(norm.causes) or NONE, sorted(new)[0], 3, True)
        )
    rows.sort(
        key=lambda one: (
            one.fact != "causes",
            not one.shown,
            -one.weight,
            not one.explains,
            _order(one.fact),
            one.fact,
        )
    )
    return tuple(rows) if any(one.weight for one in rows) else ()


def _differs(fact: str, value: Value, usual: Value, new: frozenset[str], norm: Norm) -> Differs:
    kind = kind_of(fact)
    shown = next((cause for cause in kind.causes if cause in new), "")
    harmful = norm.harmful(fact, value)
    weight: Weight = kind.weight if harmful else 1 if kind.weight else 0
    explains = shown or (kind.causes[0] if kind.causes and harmful else "")
    return Differs(
        fact, value, usual, explains, weight, bool(shown), norm.count[fact], norm.known[fact]
    )


_PLACE = {kind.name: place for place, kind in enumerate(KINDS)}


def _order(fact: str) -> int:
    return _PLACE.get(kind_of(fact).name, len(_PLACE))


def _ids(causes: Iterable[str]) -> str:
    return ", ".join(sorted(causes))


def _groups(found: Sequence[tuple[Node, tuple[Differs, ...]]], norm: Norm) -> list[Group]:
    """Nodes with the same differences are equal in everything that counts."""
    by_key: dict[object, list[tuple[Node, tuple[Differs, ...]]]] = defaultdict(list)
    for node, differs in found:
        key = tuple(
            (one.fact, norm.rounded(one.fact, one.value))
            for one in differs
            if one.fact not in _WEIGHTLESS
        )
        by_key[node.status, tuple(c.id for c in node.causes), key].append((node, differs))
    return [_group([node for node, _ in some], some[0][1]) for some in by_key.values()]


def _group(nodes: list[Node], differs: tuple[Differs, ...]) -> Group:
    first = nodes[0]
    otherwise = ", ".join(
        f"{title(one.fact)} {one.value}"[:80] for one in differs[:4] if one.fact != "causes"
    )
    return Group(
        nodes=tuple(sorted(node.name for node in nodes)),
        status=first.status,
        headline=first.headline,
        describes=f"otherwise: {otherwise}" if differs else describes(first.facts),
        causes=first.causes,
    )


def describes(facts: Mapping[str, Value]) -> str:
    """A node in a few words: GPUs, driver, frameworks."""
    parts = [str(facts.get("gpu.names") or "GPUs not seen").replace(NONE, "no GPU")]
    if facts.get("driver.version") not in (None, NONE):
        parts.append(f"driver {facts['driver.version']}")
    for name in _FRAMEWORKS:
        value = facts.get(f"framework.{name}")
        parts += [f"{name} {value}"] if value else []
    return ", ".join(parts)


def _unseen(pool: Pool) -> dict[str, int]:
    """Facts of weight that most nodes told and some could not."""
    total = len(pool.nodes)
    exact = {kind.name for kind in KINDS if kind.weight and not kind.name.endswith((".", "_"))}
    return {
        fact: total - n
        for fact, n in sorted(pool.told().items())
        if fact in exact and total / 2 <= n < total
    }
