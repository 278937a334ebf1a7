"""Norms: what is usual among nodes, fact by fact, and whether another value does harm."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import msgspec

from gpuwhy.facts.version import numbers
from gpuwhy.fleet.answer import Scattered, Value
from gpuwhy.fleet.facts import NONE
from gpuwhy.fleet.kinds import kind_of
from gpuwhy.fleet.pool import Node

__all__ = ["NONE", "Norm", "common", "value_of"]

_GOOD_NONE = ("gpu.xids", "gpu.throttle", "missing.", "gpu.names")
"""Facts of which "none" does no harm: it is wished for, or another fact says it."""


def value_of(fact: str, value: Value, whole: tuple[str, ...]) -> Value:
    """A node's value; "none" where it saw all facts of that family, and this is not among them."""
    return NONE if value is None and fact.split(".", 1)[0] in whole else value


class Norm(msgspec.Struct):
    """The usual value of each fact, how many have it, and how many told any."""

    usual: dict[str, Value] = {}
    count: dict[str, int] = {}
    known: dict[str, int] = {}
    causes: frozenset[str] = frozenset()
    scattered: list[Scattered] = []

    def same(self, fact: str, value: Value) -> bool:
        """Whether a value is the usual one, or as good as."""
        usual = self.usual[fact]
        if value == usual:
            return True
        kind = kind_of(fact)
        if kind.tolerance and isinstance(value, (int, float)) and isinstance(usual, (int, float)):
            return abs(
                _size(value, kind.unlimited) - _size(usual, kind.unlimited)
            ) <= kind.tolerance * abs(usual)
        return False

    def harmful(self, fact: str, value: Value) -> bool:
        """Whether a job can suffer from this value, the others having theirs."""
        kind, usual = kind_of(fact), self.usual[fact]
        if kind.worse == "any":
            return not (value == NONE and fact.startswith(_GOOD_NONE))
        less = _rank(value, kind.unlimited) < _rank(usual, kind.unlimited)
        return less if kind.worse == "less" else not less

    def rounded(self, fact: str, value: Value) -> Value:
        """A number as coarse as differences of its kind count; anything else as it is."""
        tolerance = kind_of(fact).tolerance
        if not tolerance or not isinstance(value, (int, float)) or value <= 0:
            return value
        return round(math.log(value) / math.log1p(2 * tolerance))


def _size(value: float, unlimited: bool) -> float:
    return math.inf if unlimited and value == -1 else value


def _rank(value: Value, unlimited: bool) -> tuple[float, ...]:
    if isinstance(value, (int, float)):
        return (_size(value, unlimited),)
    return tuple(map(float, numbers(value))) if isinstance(value, str) else ()


class _Tally(msgspec.Struct):
    """How many nodes have which value of one fact, and how many of those are healthy."""

    all: dict[Value, int]
    well: dict[Value, int]

    def usual(self, fact: str) -> Value:
        kind = kind_of(fact)
        sizes = sorted(v for v in self.all if isinstance(v, (int, float)))
        if kind.tolerance and len(sizes) == len(self.all):
            return _middle(sizes, self.all)
        return max(
            self.all,
            key=lambda v: (self.all[v], self.well.get(v, 0), _rank(v, kind.unlimited), str(v)),
        )


def _middle(sizes: list[float | int], count: dict[Value, int]) -> Value:
    """The median of values that occur so often."""
    half, so_far = sum(count.values()) / 2, 0
    for size in sizes:
        so_far += count[size]
        if so_far >= half:
            return size
    return sizes[-1]


def common(nodes: Sequence[Node], everything: bool) -> Norm:
    """What is usual; a fact with about as many values as nodes has no usual one."""
    norm = Norm(causes=_causes(nodes))
    for fact, tally in sorted(_tallies(nodes).items()):
        usual, known = tally.usual(fact), sum(tally.all.values())
        norm.usual[fact] = usual
        near = sum(times for value, times in tally.all.items() if norm.same(fact, value))
        if not everything and len(tally.all) > known / 2 and near < known / 2:
            del norm.usual[fact]
            if kind_of(fact).weight:
                norm.scattered.append(Scattered(fact, len(tally.all), usual))
            continue
        norm.count[fact], norm.known[fact] = near, known
    return norm


def _tallies(nodes: Sequence[Node]) -> dict[str, _Tally]:
    """Counted once for all nodes that share their facts."""
    tallies: dict[str, _Tally] = defaultdict(lambda: _Tally({}, {}))
    sharing: dict[int, list[Node]] = defaultdict(list)
    for node in nodes:
        sharing[id(node.facts)].append(node)
    for some in sharing.values():
        well = sum(node.status == "healthy" for node in some)
        for fact, value in some[0].facts.items():
            _count(tallies[fact], value, len(some), well)
    _count_absent(tallies, nodes)
    return tallies


def _count(tally: _Tally, value: Value, times: int, well: int) -> None:
    tally.all[value] = tally.all.get(value, 0) + times
    tally.well[value] = tally.well.get(value, 0) + well


def _count_absent(tallies: dict[str, _Tally], nodes: Sequence[Node]) -> None:
    """Who saw all of a family and has not this fact has "none" of it."""
    seen: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for node in nodes:
        for family in node.whole:
            seen[family][0] += 1
            seen[family][1] += node.status == "healthy"
    for fact, tally in tallies.items():
        times, well = seen[fact.split(".", 1)[0]]
        lacking = times - sum(tally.all.values())
        if lacking > 0:
            _count(tally, NONE, lacking, max(0, well - sum(tally.well.values())))


def _causes(nodes: Sequence[Node]) -> frozenset[str]:
    """What at least half of the nodes' own reports name."""
    count: dict[str, int] = defaultdict(int)
    for node in nodes:
        for cause in {one.id for one in node.causes if one.confidence >= 0.5}:
            count[cause] += 1
    return frozenset(
        cause for cause, times in count.items() if times * 2 >= len(nodes) and len(nodes) > 1
    )
