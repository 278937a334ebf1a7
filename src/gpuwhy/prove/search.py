"""The search for the smallest change: which experiment next, as a generator that is told the outcomes.

Zeller's delta debugging with weights: tweaks stand in the order of their likelihood, and an experiment applies the
first so many of them at once. The shortest beginning of that order with which the program runs ends in a tweak that is
needed; that one stays, and the search goes on before it. A tweak of weight p among all costs about -log2 p runs.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from math import log2
from typing import NamedTuple

from gpuwhy.prove.proof import Outcome, Tweak
from gpuwhy.prove.weigh import named_in, needed_by

ONE, TWO, THREE = 0.8, 0.14, 0.06
"""How often one, two or three tweaks are needed together."""
LEAST = 0.004
"""The chance below which an experiment alone is not worth a run."""
FLAT = 0.4
"""The power to which weights are taken once the likeliest tweaks were not enough."""
PATIENCE = 3
"""How many tweaks that the program cannot do without are looked for."""


class Experiment(NamedTuple):
    """Tweaks to be applied together, and why."""

    tweaks: tuple[Tweak, ...]
    purpose: str = "search"


class Result(NamedTuple):
    """What came of it."""

    outcome: Outcome
    message: str = ""  # the ending's words


class Found(NamedTuple):
    """What the search ends with."""

    tweaks: tuple[Tweak, ...] = ()  # with these it ran; () where nothing was found
    turns: tuple[Tweak, ...] = ()  # each of these alone turns the failure into another one


Asked = Generator[Experiment, Result, Result]
Hunt = Generator[Experiment, Result, Found]


class _Memory:
    """The outcomes so far; the same is never asked twice."""

    def __init__(self) -> None:
        self._known: dict[frozenset[str], Result] = {}

    def ask(self, tweaks: Sequence[Tweak]) -> Asked:
        key = frozenset(one.id for one in tweaks)
        if key not in self._known:
            self._known[key] = yield Experiment(tuple(tweaks))
        return self._known[key]

    def not_enough(self, tweaks: Sequence[Tweak]) -> bool:
        """Whether these, or more than these, were tried and did not make it run."""
        key = {one.id for one in tweaks}
        return any(result.outcome != "passes" and key <= known for known, result in self._known.items())


def hunt(tweaks: Sequence[Tweak], doubt: float, cost: Callable[[Tweak], float] = lambda _: 1.0) -> Hunt:
    """From weighed tweaks to the smallest set with which the program runs."""
    memory = _Memory()
    joint = [one for one in tweaks if one.joins and one.heals]
    lone = [one for one in tweaks if not one.joins and one.heals]
    grown = yield from _grow(memory, joint, lone, doubt, cost)
    if grown.alone:
        return Found((grown.alone,), grown.turns)
    if not grown.high:
        return Found((), grown.turns)
    found = yield from _shrink(memory, grown.joint, grown.low, grown.high)
    least = yield from _least(memory, found)
    return Found(tuple(least), grown.turns)


class _Grown(NamedTuple):
    joint: list[Tweak]
    low: int = 0  # the first `low` of them are not enough
    high: int = 0  # the first `high` are; 0: none are
    alone: Tweak | None = None
    turns: tuple[Tweak, ...] = ()


def _grow(
    memory: _Memory, joint: list[Tweak], lone: list[Tweak], doubt: float, cost: Callable[[Tweak], float]
) -> Generator[Experiment, Result, _Grown]:
    """Try beginnings of the order, and single tweaks, by information per second, until one passes."""
    low, turns = 0, list[Tweak]()
    while True:
        size, alone = _best(joint, low, lone, doubt, cost)
        if alone is not None:
            lone = [one for one in lone if one is not alone]
            result = yield from memory.ask([alone])
            if result.outcome == "passes":
                return _Grown(joint, alone=alone, turns=tuple(turns))
            continue
        if not size:
            return _Grown(joint, turns=tuple(turns))
        result = yield from memory.ask(joint[:size])
        if result.outcome == "other" and size < len(joint):  # perhaps a second failure behind the first: go on
            joint, low = [*joint[:size], *named_in(result.message, joint[size:])], max(low, size)
            continue
        if result.outcome == "other":
            kept = yield from _needed(memory, joint, 0, size, result.message)
            turns += [kept.turning] if kept.turning else []
            joint, size, low = kept.joint, kept.size, min(low, kept.low)
            result = kept.result
        if result.outcome == "passes":
            return _Grown(joint, low, size, turns=tuple(turns))
        low = max(low, size)


def _best(
    joint: Sequence[Tweak], low: int, lone: Sequence[Tweak], doubt: float, cost: Callable[[Tweak], float]
) -> tuple[int, Tweak | None]:
    """The beginning or the single tweak that tells most per second; (0, None) where nothing is worth it."""
    total = sum(one.weight for one in joint)
    others = sum(one.weight for one in lone) + doubt
    sizes = _chances(joint, low, total, others)
    best, size, alone = 0.0, 0, None
    for m, chance in sizes:
        if (gain := _entropy(chance)) > best + 1e-9:
            best, size = gain, m
    if low < len(joint) and not size:
        size = len(joint)
    weights = _left(joint, low, total) + others
    for one in lone:
        chance = one.weight / weights
        if chance > LEAST and _entropy(chance) / cost(one) > best + 1e-9:
            best, size, alone = _entropy(chance) / cost(one), 0, one
    return size, alone


def _left(joint: Sequence[Tweak], low: int, total: float) -> float:
    """The weight of all sets that the first `low` tweaks are not enough for."""
    share = sum(one.weight for one in joint[:low]) / total if total else 1.0
    return total * (1.0 - _enough(share))


def _chances(joint: Sequence[Tweak], low: int, total: float, others: float) -> list[tuple[int, float]]:
    """For each longer beginning the chance that it passes, knowing that `low` did not."""
    if not total:
        return []
    before = _enough(sum(one.weight for one in joint[:low]) / total)
    left = total * (1.0 - before) + others
    out, sum_ = [], sum(one.weight for one in joint[:low])
    for m in range(low + 1, len(joint) + 1):
        sum_ += joint[m - 1].weight
        out.append((m, min(1.0, total * (_enough(min(1.0, sum_ / total)) - before) / left)))
    return out


def _enough(share: float) -> float:
    """The chance that tweaks with this share of the weight hold everything that is needed."""
    return ONE * share + TWO * share**2 + THREE * share**3


def _entropy(chance: float) -> float:
    if chance <= 0.0 or chance >= 1.0:
        return 0.0
    return -chance * log2(chance) - (1.0 - chance) * log2(1.0 - chance)


class _Kept(NamedTuple):
    joint: list[Tweak]
    size: int
    low: int
    result: Result
    turning: Tweak | None = None


def _needed(
    memory: _Memory, joint: list[Tweak], low: int, size: int, message: str
) -> Generator[Experiment, Result, _Kept]:
    """The beginning fails otherwise: leave out what the program cannot do without, and try again."""
    result = Result("other", message)
    for _ in range(PATIENCE):
        suspects = needed_by(result.message, joint[:size])
        if suspects:
            less = [one for one in joint if one not in suspects]
            shorter = size - len(suspects)
            result = yield from memory.ask(less[:shorter])
            joint, size, low = less, shorter, 0
            if result.outcome != "other":
                return _Kept(joint, size, low, result)
            continue
        one, result = yield from _turning(memory, joint, low, size)
        if one is None:
            return _Kept(joint, size, low, result)
        joint, size, low = [other for other in joint if other is not one], size - 1, 0
        after = yield from memory.ask(joint[:size])
        if after.outcome != "other":
            return _Kept(joint, size, low, after, one if after.outcome == "same" else None)
        result = after
    return _Kept(joint, size, low, Result("same"))


def _turning(
    memory: _Memory, joint: list[Tweak], low: int, size: int
) -> Generator[Experiment, Result, tuple[Tweak | None, Result]]:
    """The tweak that makes the failure another one: the last of the shortest beginning that fails otherwise."""
    last = Result("other")
    while size - low > 1:
        middle = (low + size) // 2
        result = yield from memory.ask(joint[:middle])
        if result.outcome == "passes":
            return None, result
        if result.outcome == "other":
            size, last = middle, result
        else:
            low = middle
    return joint[size - 1], last


def _shrink(memory: _Memory, joint: list[Tweak], low: int, high: int) -> Generator[Experiment, Result, list[Tweak]]:
    """The first `high` are enough and the first `low` are not: down to those that are needed."""
    found: list[Tweak] = []
    while True:
        while high - low > 1:
            middle = _half(joint, low, high, 1.0 if not found and not low else FLAT)
            result = yield from memory.ask([*found, *joint[:middle]])
            low, high = (low, middle) if result.outcome == "passes" else (middle, high)
        found.append(joint[high - 1])
        alone = yield from memory.ask(found)
        if alone.outcome == "passes" or high == 1:
            return found
        low, high = 0, high - 1


def _half(joint: Sequence[Tweak], low: int, high: int, trust: float) -> int:
    """Where the weight between is halved, strictly inside; weights that did not help so far are trusted less."""
    weights = [one.weight**trust for one in joint[low:high]]
    half, sum_ = sum(weights) / 2, 0.0
    for m in range(low + 1, high):
        sum_ += weights[m - 1 - low]
        if sum_ >= half:
            nearer = m if sum_ - half <= half - (sum_ - weights[m - 1 - low]) else m - 1
            return min(high - 1, max(low + 1, nearer))
    return high - 1


def _least(memory: _Memory, found: list[Tweak]) -> Generator[Experiment, Result, list[Tweak]]:
    """None of several can be left out: each is put back once."""
    for one in list(found) if len(found) > 1 else []:
        less = [other for other in found if other is not one]
        if memory.not_enough(less):
            continue
        result = yield from memory.ask(less)
        if result.outcome == "passes":
            return (yield from _least(memory, less))
    return found
