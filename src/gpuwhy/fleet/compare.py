"""Compare: equal nodes together, the odd ones with what makes them odd, the gravest first."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gpuwhy.facts.version import numbers
from gpuwhy.fleet.answer import (
    KINDS,
    NONE,
    Answer,
    Differs,
    Fleet,
    Group,
    Kind,
    Odd,
    Scattered,
    Silent,
    Value,
    Weight,
    kind_of,
    title,
)

OWN_KIND = 0.2  # share of nodes from which another kind of GPU is a kind of node, not an oddity
SURE = 0.5  # confidence from which a cause of a node's own report counts
FEW = 5  # with fewer nodes than this, every difference is told
_FRAMEWORKS = ("torch", "tensorflow", "jax")
_GOOD_NONE = ("gpu.xids", "gpu.throttle", "missing.", "gpu.names")
"""Facts of which "none" does no harm: it is wished for, or another fact says it."""

Found = tuple[Answer, tuple[Differs, ...]]


class Usual(NamedTuple):
    """The usual value of a fact, how many have it, and how many told any."""

    value: Value
    same: int
    known: int


class Norm(NamedTuple):
    """What is usual among nodes."""

    usual: dict[str, Usual]
    causes: frozenset[str]  # what at least half of their own reports name
    scattered: dict[str, Scattered]


def compare(
    answers: Sequence[Answer],
    silent: Sequence[Silent] = (),
    baseline: Sequence[Answer] = (),
    baseline_name: str = "",
) -> Fleet:
    """The whole comparison; with a baseline, every node is compared with it alone."""
    times = Counter(answer.name for answer in answers)
    nodes, against = _latest(answers), _latest(baseline)
    groups: list[Group] = []
    odd: list[Odd] = []
    scattered: dict[str, Scattered] = {}
    for cohort in [nodes] if baseline else _cohorts(nodes):
        norm = _norm(against or cohort, everything=bool(baseline) or len(cohort) < FEW)
        scattered |= norm.scattered
        found = _found(cohort, norm)
        odd += [Odd(n.name, n.status, differs, n.causes) for n, differs in found if differs]
        groups += _groups(found)
    groups.sort(key=lambda group: (-len(group.nodes), group.nodes[0]))
    odd.sort(
        key=lambda o: (not o.is_grave, -max(d.weight for d in o.differs), -len(o.differs), o.node)
    )
    told = Counter(fact for node in nodes for fact in node.facts)
    exact = {kind.name for kind in KINDS.values() if kind.weight and kind.exact}
    some = {fact: n for fact, n in sorted(told.items()) if len(nodes) / 2 <= n < len(nodes)}
    return Fleet(
        groups=tuple(groups),
        odd=tuple(odd),
        silent=tuple(silent),
        scattered=tuple(scattered.values()),
        unseen={fact: len(nodes) - n for fact, n in some.items() if fact in exact},
        repeated={name: count for name, count in times.items() if count > 1},
        baseline=baseline_name,
        versions=tuple(sorted({answer.gpuwhy for answer in answers})),
    )


def _latest(answers: Sequence[Answer]) -> list[Answer]:
    """The latest answer of each node."""
    return list({one.name: one for one in sorted(answers, key=lambda one: one.time)}.values())


def _cohorts(nodes: list[Answer]) -> list[list[Answer]]:
    """Nodes that may be compared: those of one kind of GPU, where there are enough of it."""
    by_gpu: dict[str, list[Answer]] = defaultdict(list)
    for node in nodes:
        names = node.facts.get("gpu.names")
        parts = names.split(", ") if isinstance(names, str) and names != NONE else []
        kind = ", ".join(sorted({part.partition(" × ")[2] or part for part in parts}))
        by_gpu[kind].append(node)
    enough = max(2, OWN_KIND * len(nodes))
    own = {kind: some for kind, some in by_gpu.items() if kind and len(some) >= enough}
    if len(own) < 2:
        return [nodes] if nodes else []
    largest = max(own, key=lambda kind: len(own[kind]))
    own[largest] += [node for kind, some in by_gpu.items() if kind not in own for node in some]
    return list(own.values())


# What is usual


def _norm(nodes: Sequence[Answer], everything: bool) -> Norm:
    """A fact with about as many values as nodes has no usual one."""
    named = Counter(cause for node in nodes for cause in _sure_causes(node))
    half = len(nodes) / 2 if len(nodes) > 1 else math.inf
    common = frozenset(cause for cause, times in named.items() if times >= half)
    norm = Norm({}, common, {})
    counts = _counted(nodes)
    well = _counted([node for node in nodes if node.status == "healthy"])
    for fact, count in sorted(counts.items()):
        usual, known = _most_usual(fact, count, well[fact]), sum(count.values())
        near = sum(times for value, times in count.items() if _same(fact, value, usual))
        if everything or len(count) <= known / 2 or near >= known / 2:
            norm.usual[fact] = Usual(usual, near, known)
        elif kind_of(fact).weight:
            norm.scattered[fact] = Scattered(fact, len(count), usual)
    return norm


def _counted(nodes: Sequence[Answer]) -> dict[str, Counter[Value]]:
    """How many nodes have which value; "none" of what they do not have of a family seen whole."""
    counts: dict[str, Counter[Value]] = defaultdict(Counter)
    for node in nodes:
        for fact, value in node.facts.items():
            counts[fact][value] += 1
    saw = Counter(family for node in nodes for family in node.whole)
    for fact, count in counts.items():
        lacking = saw[fact.partition(".")[0]] - sum(count.values())
        if lacking > 0:
            count[NONE] += lacking
    return counts


def _most_usual(fact: str, count: Counter[Value], well: Counter[Value]) -> Value:
    """The commonest value, the healthiest of several; of noisy numbers the median."""
    kind = kind_of(fact)
    sizes = sorted(value for value in count.elements() if isinstance(value, (int, float)))
    if kind.tolerance and len(sizes) == sum(count.values()):
        return sizes[(len(sizes) - 1) // 2]
    return max(count, key=lambda v: (count[v], well[v], _rank(v, kind), str(v)))


def _same(fact: str, value: Value, usual: Value) -> bool:
    """Whether a value is the usual one, or as good as."""
    kind = kind_of(fact)
    if value == usual or not kind.tolerance or isinstance(value, str) or isinstance(usual, str):
        return value == usual
    return abs(_size(value, kind) - _size(usual, kind)) <= kind.tolerance * abs(usual or 0)


def _size(value: float | None, kind: Kind) -> float:
    return math.inf if value is None or (kind.unlimited and value == -1) else value


def _rank(value: Value, kind: Kind) -> tuple[float, ...]:
    if isinstance(value, str):
        return tuple(map(float, numbers(value)))
    return (_size(value, kind),)


def _sure_causes(node: Answer) -> frozenset[str]:
    return frozenset(one.id for one in node.causes if one.confidence >= SURE)


# What is not


def _found(nodes: Sequence[Answer], norm: Norm) -> list[Found]:
    """Each node with its differences; those of equal nodes are worked out once."""
    known: dict[object, tuple[Differs, ...]] = {}
    out = []
    for node in nodes:
        new = _sure_causes(node) - norm.causes
        key = (id(node.base), frozenset(node.own.items()), node.whole, new)
        if key not in known:
            known[key] = _differences(node, new, norm)
        out.append((node, known[key]))
    return out


def _differences(node: Answer, new: frozenset[str], norm: Norm) -> tuple[Differs, ...]:
    rows, facts = [], node.facts
    for fact, usual in norm.usual.items():
        value = facts.get(fact, NONE if fact.partition(".")[0] in node.whole else None)
        if value is not None and not _same(fact, value, usual.value):
            rows.append(_differs(fact, value, usual, new))
    if not new and not any(one.weight for one in rows):
        return ()
    rows.sort(key=lambda o: (not o.shown, -o.weight, not o.explains, kind_of(o.fact).place, o.fact))
    if new:
        first, others = sorted(new), ", ".join(sorted(norm.causes)) or NONE
        rows.insert(0, Differs("causes", ", ".join(first), others, first[0], 3, True))
    return tuple(rows)


def _differs(fact: str, value: Value, usual: Usual, new: frozenset[str]) -> Differs:
    """A difference, and whether a job can suffer from this value, the others having theirs."""
    kind = kind_of(fact)
    harmful = not (value == NONE and fact.startswith(_GOOD_NONE))
    if kind.worse != "any":
        harmful = (_rank(value, kind) < _rank(usual.value, kind)) == (kind.worse == "less")
    shown = next((cause for cause in kind.causes if cause in new), None)
    weight: Weight = kind.weight if harmful or not kind.weight else 1
    explains = shown or (kind.causes[0] if kind.causes and harmful else None)
    return Differs(fact, value, usual.value, explains, weight, bool(shown), usual.same, usual.known)


# Groups


def _groups(found: Sequence[Found]) -> list[Group]:
    """Nodes with the same differences are equal in everything that counts."""
    by_key: dict[object, list[Found]] = defaultdict(list)
    for node, differs in found:
        counting = (one for one in differs if kind_of(one.fact).weight)
        key = tuple((one.fact, _rounded(one.fact, one.value)) for one in counting)
        by_key[node.status, tuple(cause.id for cause in node.causes), key].append((node, differs))
    out = []
    for some in by_key.values():
        first, differs = some[0]
        shown = (one for one in differs[:4] if one.fact != "causes")
        otherwise = ", ".join(f"{title(one.fact)} {one.value}"[:80] for one in shown)
        nodes = tuple(sorted(node.name for node, _ in some))
        describes = f"otherwise: {otherwise}" if differs else _describes(first.facts)
        out.append(Group(nodes, first.status, first.headline, describes, first.causes))
    return out


def _rounded(fact: str, value: Value) -> Value:
    """A number as coarse as differences of its kind count; anything else as it is."""
    tolerance = kind_of(fact).tolerance
    if not tolerance or not isinstance(value, (int, float)) or value <= 0:
        return value
    return round(math.log(value) / math.log1p(2 * tolerance))


def _describes(facts: Mapping[str, Value]) -> str:
    """A node in a few words: GPUs, driver, frameworks."""
    parts = [str(facts.get("gpu.names") or "GPUs not seen").replace(NONE, "no GPU")]
    if facts.get("driver.version", NONE) != NONE:
        parts.append(f"driver {facts['driver.version']}")
    named = ((name, facts.get(f"framework.{name}")) for name in _FRAMEWORKS)
    return ", ".join([*parts, *(f"{name} {value}" for name, value in named if value)])
