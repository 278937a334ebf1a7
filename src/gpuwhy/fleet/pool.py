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


MOST_OWN, MOST_BASES = 24, 64
"""How many facts of a node may differ from a base, and how many bases there are."""

Own = tuple[tuple[str, Value], ...]


class Node(msgspec.Struct):
    """One node: its last answer as a base that it shares with others and what is its own."""

    node: str
    label: str
    status: str
    headline: str
    causes: tuple[CauseSeen, ...]
    base: dict[str, Value]
    own: Own  # None takes a fact of the base away
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

    @property
    def facts(self) -> dict[str, Value]:
        """All facts together."""
        return {
            fact: value
            for fact, value in {**self.base, **dict(self.own)}.items()
            if value is not None
        }

    def get(self, fact: str) -> Value:
        """One fact; None where it was not seen."""
        return next((value for name, value in self.own if name == fact), self.base.get(fact))


class Pool:
    """Answers by node; the latest of a node counts."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.versions: set[str] = set()
        self._bases: list[dict[str, Value]] = []
        self._words: dict[object, Any] = {}

    def made(self, answer: Answer) -> Node:
        """An answer in little memory."""
        base, own = self._split(answer.facts)
        return Node(
            node=answer.node,
            label=answer.label,
            status=self._once(answer.status),
            headline=self._once(answer.headline),
            causes=self._once(answer.causes),
            base=base,
            own=own,
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

    def _split(self, facts: dict[str, Value]) -> tuple[dict[str, Value], Own]:
        """The base that a node differs from least, and in what; else a new one."""
        best: tuple[dict[str, Value], Own] | None = None
        for base in self._bases:
            own = _apart(facts, base)
            if len(own) <= MOST_OWN:
                return base, self._once(own)
            best = (base, own) if best is None or len(own) < len(best[1]) else best
        if best is None or len(self._bases) < MOST_BASES:
            self._bases.append(
                {self._once(fact): self._once(value) for fact, value in facts.items()}
            )
            return self._bases[-1], ()
        return best

    def _once(self, value: T) -> T:
        once: T = self._words.setdefault((type(value), value), value)
        return once

    def told(self) -> Counter[str]:
        """How many nodes told each fact."""
        have: Counter[str] = Counter()
        bases = Counter(id(node.base) for node in self.nodes.values())
        for base in self._bases:
            have.update(dict.fromkeys(base, bases[id(base)]))
        for node in self.nodes.values():
            for fact, value in node.own:
                have[fact] += (value is not None) - (fact in node.base)
        return have

    def settle_clocks(self) -> None:
        """Say how far each clock is off the middle one, where lines were noted when they came."""
        known = [node.skew for node in self.nodes.values() if node.skew is not None]
        if len(known) < FEWEST_CLOCKS:
            return
        middle = median(known)
        for node in self.nodes.values():
            if node.skew is not None:
                off = abs(node.skew - middle)
                node.own = self._once(
                    (*node.own, ("host.clock", round(off, 1) if off > SKEW else 0))
                )


def _apart(facts: dict[str, Value], base: dict[str, Value]) -> Own:
    own: list[tuple[str, Value]] = [one for one in facts.items() if base.get(one[0]) != one[1]]
    if len(facts) - len(own) < len(base):
        own += [(fact, None) for fact in base if fact not in facts]
    return tuple(sorted(own, key=lambda one: one[0]))
