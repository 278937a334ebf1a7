"""Halving: which node, or which pair of nodes, stalls a collective, in few tries. Pure: somebody else runs the tries.

A node that stalls every group it is in, and a pair that stalls only together (a cable, a port, a firewall between two),
are both found with about 2·log2(n) tries each; all pairs would be n²/2.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from statistics import median
from typing import Literal

import msgspec

Outcome = Literal["ok", "stalls", "fails"]
Try = Callable[[Sequence[str]], "Tried"]
_BANDWIDTH = re.compile(r"(?:bandwidth|busbw|algbw)\D{0,20}?(\d{1,6}(?:\.\d{1,6})?)", re.IGNORECASE)
SLOW = 0.7
"""The share of the median bandwidth below which a group is slow."""


class Tried(msgspec.Struct, frozen=True):
    """What came of one try of a group."""

    nodes: tuple[str, ...]
    outcome: Outcome
    seconds: float = 0.0
    bandwidth: float | None = None  # GB/s, where the program tells
    text: str = ""


class Found(msgspec.Struct, frozen=True):
    """One culprit: a node, or two nodes that do not work together."""

    nodes: tuple[str, ...]
    outcome: Outcome
    text: str = ""


class Search:
    """Asks for tries until the culprits are known, or their number is used up."""

    def __init__(self, attempt: Try, most: int = 200) -> None:
        self.tries: list[Tried] = []
        self.most = most
        self._attempt = attempt
        self._known: dict[tuple[str, ...], Tried] = {}

    def good(self, nodes: Sequence[str]) -> bool:
        """Whether a group works; asked once for each group. One node alone is asked too: it may fail by itself."""
        key = tuple(sorted(nodes))
        if key not in self._known:
            if len(self.tries) >= self.most:
                raise TooManyTriesError(f"no answer after {self.most} tries")
            self._known[key] = self._attempt(key)
            self.tries.append(self._known[key])
        return self._known[key].outcome == "ok"

    def culprits(self, nodes: Sequence[str], most: int = 8) -> list[Found]:
        """Nodes and pairs to take out until the rest works."""
        left, out = list(nodes), list[Found]()
        if len(left) == 1 and not self.good(left):
            return [self._told((left[0],))]
        while len(left) > 1 and len(out) < most and not self.good(left):
            found = self._blamed(self._one(left), left)
            out.append(self._told(found))
            left = [node for node in left if node not in found[:1]]
        return out

    def _told(self, nodes: tuple[str, ...]) -> Found:
        tried = self._known.get(tuple(sorted(nodes)))
        return Found(nodes, tried.outcome if tried else "fails", tried.text if tried else "")

    def _one(self, nodes: list[str]) -> tuple[str, ...]:
        """One node or one pair out of a group that does not work."""
        if len(nodes) == 1:
            return (nodes[0],)
        if len(nodes) == 2:
            return self._of_two(nodes)
        half = len(nodes) // 2
        first, second = nodes[:half], nodes[half:]
        for part in (first, second):
            if not self.good(part):
                return self._one(part)
        lonely = self._least(first, second)
        other = self._least(second, [lonely])
        return self._of_two([lonely, other])

    def _of_two(self, nodes: list[str]) -> tuple[str, ...]:
        """A node that fails by itself, or the pair."""
        for node in nodes:
            if not self.good([node]):
                return (node,)
        return tuple(nodes)

    def _least(self, part: list[str], others: list[str]) -> str:
        """The node of one half without which it works with the other half: halved again and again."""
        while len(part) > 1:
            half = len(part) // 2
            part = part[:half] if not self.good([*part[:half], *others]) else part[half:]
        return part[0]

    def _blamed(self, found: tuple[str, ...], nodes: Sequence[str]) -> tuple[str, ...]:
        """A pair of which one node, and not the other, fails with a third one too is that node's fault."""
        third = next((node for node in nodes if node not in found), "")
        if len(found) < 2 or not third:
            return found
        bad = tuple(node for node in found if not self.good([node, third]))
        return bad if len(bad) == 1 else found

    def slow(self) -> list[Tried]:
        """Groups of the same size whose bandwidth is far below the middle."""
        by_size: dict[int, list[Tried]] = {}
        for one in self.tries:
            if one.bandwidth is not None:
                by_size.setdefault(len(one.nodes), []).append(one)
        out = []
        for same in by_size.values():
            middle = median(one.bandwidth or 0.0 for one in same)
            out += [one for one in same if len(same) > 2 and (one.bandwidth or 0.0) < SLOW * middle]
        return out


def bandwidth_in(text: str) -> float | None:
    """What a collective told of its bandwidth, in GB/s."""
    found = _BANDWIDTH.search(text)
    return float(found[1]) if found else None


class TooManyTriesError(Exception):
    """The search does not come to an end: the failures may come and go."""


def pairs(nodes: Sequence[str]) -> list[tuple[str, str]]:
    """Neighbours, each node in one pair or two: enough for a median of bandwidths."""
    return [(nodes[place], nodes[place + 1]) for place in range(0, len(nodes) - 1, 2)]
