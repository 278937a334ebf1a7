"""Pool: the answers of many nodes in little memory: equal facts are kept once."""

from __future__ import annotations

from statistics import median
from typing import Any, TypeVar

import msgspec

from gpuwhy.model.fleet import Answer, CauseSeen, Value

T = TypeVar("T")

SKEW = 2.0
"""Seconds that a clock may be off before it is told: lines take a moment to arrive."""
FEWEST_CLOCKS = 3
"""With fewer nobody can say which one is wrong."""


class Node(msgspec.Struct):
    """One node: its last answer, and how many it gave."""

    name: str
    status: str
    headline: str
    causes: tuple[CauseSeen, ...]
    facts: dict[str, Value]
    whole: tuple[str, ...]
    time: float
    skew: float | None
    times: int = 1


class Pool:
    """Answers by node; the latest of a node counts."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.versions: set[str] = set()
        self._facts: dict[tuple[tuple[str, Value], ...], dict[str, Value]] = {}
        self._words: dict[object, Any] = {}

    def add(self, answer: Answer) -> None:
        """Take one answer."""
        self.versions.add(answer.gpuwhy)
        before = self.nodes.get(answer.name)
        times = before.times + 1 if before else 1
        if before and before.time > answer.time:
            before.times = times
            return
        self.nodes[answer.name] = Node(
            name=answer.name,
            status=answer.status,
            headline=self._once(answer.headline),
            causes=self._once(answer.causes),
            facts=self._kept(answer.facts),
            whole=self._once(answer.whole),
            time=answer.time,
            skew=answer.time - answer.received if answer.received and answer.time else None,
            times=times,
        )

    def _kept(self, facts: dict[str, Value]) -> dict[str, Value]:
        """The same facts as another node's are the same object."""
        key = tuple(sorted((self._once(name), self._once(value)) for name, value in facts.items()))
        return self._facts.setdefault(key, dict(key))

    def _once(self, value: T) -> T:
        once: T = self._words.setdefault((type(value), value), value)
        return once

    @property
    def vectors(self) -> dict[int, tuple[dict[str, Value], int]]:
        """Each set of facts once, with how many nodes have it."""
        out: dict[int, tuple[dict[str, Value], int]] = {}
        for node in self.nodes.values():
            facts, times = out.get(id(node.facts), (node.facts, 0))
            out[id(node.facts)] = (facts, times + 1)
        return out

    def settle_clocks(self) -> None:
        """Say how far each clock is off the middle one, where lines were noted when they came."""
        known = [node.skew for node in self.nodes.values() if node.skew is not None]
        if len(known) < FEWEST_CLOCKS:
            return
        middle = median(known)
        for node in self.nodes.values():
            if node.skew is not None:
                off = abs(node.skew - middle)
                node.facts = self._kept({**node.facts, "host.clock": round(off, 1) if off > SKEW else 0})
