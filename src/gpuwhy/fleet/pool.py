"""Pool: the answers of many nodes; what they have in common is kept once."""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import Any, TypeVar

import msgspec

from gpuwhy.fleet.answer import Answer, CauseSeen, Value

T = TypeVar("T")

SKEW = 2.0
"""Seconds that a clock may be off before it is told: lines take a moment to arrive."""
FEWEST_CLOCKS = 3
"""With fewer nobody can say which one is wrong."""


class Node(msgspec.Struct):
    """One node: its last answer, and how many it gave; nodes with the same facts share them."""

    node: str
    label: str
    status: str
    headline: str
    causes: tuple[CauseSeen, ...]
    facts: dict[str, Value]
    whole: tuple[str, ...]
    time: float
    received: float
    times: int = 1

    @property
    def name(self) -> str:
        """The launcher's word for it, else its own."""
        return self.label or self.node

    @property
    def skew(self) -> float | None:
        """Its clock against the moment when its line came; None where nobody noted that."""
        return self.time - self.received if self.received and self.time else None


class Pool:
    """Answers by node; the latest of a node counts."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self._facts: dict[object, dict[str, Value]] = {}
        self._words: dict[object, Any] = {}

    def made(self, answer: Answer) -> Node:
        """An answer in little memory."""
        return Node(
            node=answer.node,
            label=answer.label,
            status=answer.status,
            headline=self._once(answer.headline),
            causes=self._once(answer.causes),
            facts=self._shared(answer.facts),
            whole=self._once(answer.whole),
            time=answer.time,
            received=answer.received,
        )

    def add(self, node: Node) -> None:
        """Take one answer; the latest of a node counts."""
        before = self.nodes.get(node.name)
        node.times = before.times + 1 if before else 1
        if before and before.time > node.time:
            before.times = node.times
            return
        self.nodes[node.name] = node

    def _shared(self, facts: dict[str, Value]) -> dict[str, Value]:
        key = frozenset(facts.items())
        if key not in self._facts:
            self._facts[key] = {self._once(name): self._once(one) for name, one in facts.items()}
        return self._facts[key]

    def _once(self, value: T) -> T:
        once: T = self._words.setdefault((type(value), value), value)
        return once

    def told(self) -> Counter[str]:
        """How many nodes told each fact."""
        return Counter(fact for node in self.nodes.values() for fact in node.facts)

    def settle_clocks(self) -> None:
        """Say how far each clock is off the middle one, where lines were noted when they came."""
        known = [node.skew for node in self.nodes.values() if node.skew is not None]
        if len(known) < FEWEST_CLOCKS:
            return
        middle = median(known)
        for node in self.nodes.values():
            if node.skew is not None:
                off = abs(node.skew - middle)
                clock = round(off, 1) if off > SKEW else 0
                node.facts = self._shared({**node.facts, "host.clock": clock})
