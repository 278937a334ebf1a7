"""Compare: equal nodes together, the odd ones with what makes them odd, graver differences first. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from gpuwhy.fleet.kinds import KINDS, kind_of
from gpuwhy.fleet.norms import NONE, Norm, common, value_of
from gpuwhy.fleet.pool import Node, Pool
from gpuwhy.model.fleet import (
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

__all__ = ["Answer", "Fleet", "Silent", "compare", "describes"]

OWN_KIND = 0.2
"""The share of nodes from which another kind of GPU is a kind of node of its own, not an oddity."""
FEW = 5
"""With fewer nodes than this, every difference is told."""
_WEIGHTLESS = frozenset(kind.name for kind in KINDS if kind.weight == 0)


def compare(
    answers: Iterable[Answer],
    silent: Sequence[Silent] = (),
    baseline: Sequence[Answer] = (),
    baseline_name: str = "",
) -> Fleet:
    """The whole comparison; with a baseline, every node is held against it instead of against the others."""
    pool = Pool()
    for answer in answers:
        pool.add(answer)
    pool.settle_clocks()
    against = Pool()
    for answer in baseline:
        against.add(answer)
    return _fleet(pool, silent, against, baseline_name)


def _fleet(pool: Pool, silent: Sequence[Silent], against: Pool, baseline_name: str) -> Fleet:
    groups: list[Group] = []
    odd: list[Odd] = []
    scattered: dict[str, Scattered] = {}
    for nodes in _cohorts(list(pool.nodes.values()), bool(against.nodes)):
        norm = common(list(against.nodes.values()) or nodes, everything=bool(against.nodes) or len(nodes) < FEW)
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
        versions=tuple(sorted(pool.versions)),
    )


def _found(nodes: Sequence[Node], norm: Norm) -> list[tuple[Node, tuple[Differs, ...]]]:
    """Each node with its differences, worked out once for nodes that say the same."""
    known: dict[object, tuple[Differs, ...]] = {}
    out = []
    for node in nodes:
        key = (id(node.facts), id(node.causes), node.whole)
        if key not in known:
            known[key] = _differences(node, norm)
        out.append((node, known[key]))
    return out


def _cohorts(nodes: list[Node], one: bool) -> list[list[Node]]:
    """Nodes that may be held against each other: those of one kind of GPU, where there are enough of it."""
    by_gpu: dict[str, list[Node]] = defaultdict(list)
    for node in nodes:
        by_gpu[_gpu_kind(node)].append(node)
    own = [kind for kind, some in by_gpu.items() if kind and len(some) >= max(2, OWN_KIND * len(nodes))]
    if one or len(own) < 2:
        return [nodes] if nodes else []
    largest = max(own, key=lambda kind: len(by_gpu[kind]))
    rest = [node for kind, some in by_gpu.items() if kind not in own for node in some]
    return [by_gpu[kind] + (rest if kind == largest else []) for kind in own]


def _gpu_kind(node: Node) -> str:
    """The models of its GPUs, whatever their number; "" where there is none or nobody could look."""
    names = node.facts.get("gpu.names")
    if not isinstance(names, str) or names == NONE:
        return ""
    return ", ".join(sorted({part.partition(" × ")[2] or part for part in names.split(", ")}))


def _differences(node: Node, norm: Norm) -> tuple[Differs, ...]:
    causes = {one.id for one in node.causes if one.confidence >= 0.5}
    new = causes - norm.causes
    out = [] if not new else [Differs("causes", _ids(new), _ids(norm.causes) or NONE, sorted(new)[0], 3, True)]
    for fact, usual in norm.usual.items():
        value = value_of(node, fact)
        if value is not None and not norm.same(fact, value):
            out.append(_differs(fact, value, usual, new, norm))
    out.sort(key=lambda one: (not one.shown, -one.weight, not one.explains, _order(one.fact), one.fact))
    return tuple(out) if any(one.weight for one in out) else ()


def _differs(fact: str, value: Value, usual: Value, new: set[str], norm: Norm) -> Differs:
    kind = kind_of(fact)
    shown = next((cause for cause in kind.causes if cause in new), "")
    harmful = norm.harmful(fact, value)
    weight: Weight = kind.weight if harmful else 1 if kind.weight else 0
    explains = shown or (kind.causes[0] if kind.causes and harmful else "")
    return Differs(fact, value, usual, explains, weight, bool(shown), norm.count[fact], norm.known[fact])


_PLACE = {kind.name: place for place, kind in enumerate(KINDS)}


def _order(fact: str) -> int:
    return _PLACE.get(kind_of(fact).name, len(_PLACE))


def _ids(causes: Iterable[str]) -> str:
    return ", ".join(sorted(causes))


def _groups(found: Sequence[tuple[Node, tuple[Differs, ...]]], norm: Norm) -> list[Group]:
    """Nodes with the same differences are equal in everything that counts."""
    by_key: dict[object, list[Node]] = defaultdict(list)
    for node, differs in found:
        key = tuple((one.fact, norm.rounded(one.fact, one.value)) for one in differs if one.fact not in _WEIGHTLESS)
        by_key[node.status, tuple(c.id for c in node.causes), key].append(node)
    return [_group(nodes) for nodes in by_key.values()]


def _group(nodes: list[Node]) -> Group:
    first = nodes[0]
    return Group(
        nodes=tuple(sorted(node.name for node in nodes)),
        status=first.status,
        headline=first.headline,
        describes=describes(first.facts),
        causes=first.causes,
    )


def describes(facts: Mapping[str, Value]) -> str:
    """A node in a few words: GPUs, driver, frameworks."""
    parts = [str(facts.get("gpu.names") or "GPUs not seen").replace(NONE, "no GPU")]
    if facts.get("driver.version") not in (None, NONE):
        parts.append(f"driver {facts['driver.version']}")
    parts += [f"{n.split('.', 1)[1]} {v}" for n, v in sorted(facts.items()) if n.startswith("framework.")][:3]
    return ", ".join(parts)


def _unseen(pool: Pool) -> dict[str, int]:
    """Facts of weight that most nodes told and some could not."""
    have: Counter[str] = Counter()
    for facts, times in pool.vectors.values():
        for fact in facts:
            have[fact] += times
    total = len(pool.nodes)
    exact = {kind.name for kind in KINDS if kind.weight and not kind.name.endswith((".", "_"))}
    return {fact: total - n for fact, n in sorted(have.items()) if fact in exact and total / 2 <= n < total}
