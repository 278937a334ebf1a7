"""The search for the smallest change: which experiment next, as a generator that is told outcomes.

Zeller's delta debugging with weights: tweaks stand in the order of their likelihood, and an
experiment applies the first so many of them at once. The shortest beginning of that order with
which the program runs ends in a tweak that is needed; that one stays, and the search goes on
before it. A tweak of weight p among all costs about -log2 p runs.
"""

from collections.abc import Generator, Sequence
from itertools import accumulate
from math import log2
from typing import NamedTuple, TypeVar

from gpuwhy.prove.proof import Outcome, Tweak
from gpuwhy.prove.tweaks import named_in, needed_by

ONE, TWO, THREE = 0.8, 0.14, 0.06
"""How often one, two or three tweaks are needed together."""
LEAST = 0.004
"""The chance below which an experiment alone is not worth a run."""
FLAT = 0.4
"""The power to which weights are taken once the likeliest tweaks were not enough."""
PATIENCE = 3
"""How many tweaks that the program cannot do without are looked for."""


class Result(NamedTuple):
    """What came of an experiment."""

    outcome: Outcome
    message: str = ""  # the ending's words


T = TypeVar("T")
Asks = Generator[tuple[Tweak, ...], Result, T]


def hunt(tweaks: Sequence[Tweak], doubt: float) -> Asks[tuple[Tweak, ...]]:
    """From weighed tweaks to the smallest set with which the program runs; () for none."""
    search = _Search(tweaks, doubt)
    yield from search.grow()
    if search.high and not search.found:
        yield from search.shrink()
    if len(search.found) > 1:
        yield from search.leave_out()
    return tuple(search.found)


class _Search:
    """The first `low` of the joint tweaks are not enough, the first `high` are (0: none are)."""

    def __init__(self, tweaks: Sequence[Tweak], doubt: float) -> None:
        self.joint = [one for one in tweaks if one.joins]
        self.lone = [one for one in tweaks if not one.joins]
        self.doubt = doubt
        self.low = self.high = 0
        self.found: list[Tweak] = []
        self._known: dict[frozenset[str], Result] = {}

    def ask(self, tweaks: Sequence[Tweak]) -> Asks[Result]:
        """The outcome with these; the same is never asked twice."""
        key = frozenset(one.id for one in tweaks)
        if key not in self._known:
            self._known[key] = yield tuple(tweaks)
        return self._known[key]

    def grow(self) -> Asks[None]:
        """Try beginnings of the order, and single tweaks, until one passes."""
        while not self.high and not self.found:
            size, alone = self._best()
            if alone:
                self.lone.remove(alone)
                result = yield from self.ask([alone])
                self.found = [alone] if result.outcome == "passes" else []
                continue
            if not size:
                return
            result = yield from self.ask(self.joint[:size])
            if result.outcome == "other" and size < len(self.joint):
                # perhaps a second failure behind the first: go on
                self.joint[size:] = named_in(result.message, self.joint[size:])
            elif result.outcome == "other":
                size, result = yield from self._kept(size, result)
            if result.outcome == "passes":
                self.high = size
            else:
                self.low = max(self.low, size)

    def _best(self) -> tuple[int, Tweak | None]:
        """The beginning or the single tweak that tells most; (0, None) where nothing is worth it.

        A beginning is enough where it holds everything that is needed: one tweak, two or three.
        """
        sums = list(accumulate(one.weight for one in self.joint))
        total = sums[-1] if sums else 0.0
        shares = [one / (total or 1.0) for one in sums]
        enough = [ONE * share + TWO * share**2 + THREE * share**3 for share in shares]
        before = enough[self.low - 1] if self.low else 0.0
        left = total * (1.0 - before) + sum(one.weight for one in self.lone) + self.doubt
        best, alone = 0.0, None
        size = len(self.joint) if self.low < len(self.joint) else 0
        for n in range(self.low, len(enough)):
            gain = _entropy(total * (enough[n] - before) / left)
            if gain > best + 1e-9:
                best, size = gain, n + 1
        for one in self.lone:
            chance = one.weight / left
            if chance > LEAST and _entropy(chance) > best + 1e-9:
                best, size, alone = _entropy(chance), 0, one
        return size, alone

    def _kept(self, size: int, result: Result) -> Asks[tuple[int, Result]]:
        """The beginning fails otherwise: leave out what the program cannot do without."""
        for _ in range(PATIENCE):
            gone = needed_by(result.message, self.joint[:size])
            if not gone:
                # the last of the shortest beginning that fails otherwise makes it another failure
                low, high = 0, size
                while high - low > 1:
                    middle = (low + high) // 2
                    found = yield from self.ask(self.joint[:middle])
                    if found.outcome == "passes":
                        return middle, found
                    low, high = (low, middle) if found.outcome == "other" else (middle, high)
                gone = [self.joint[high - 1]]
            self.joint = [one for one in self.joint if one not in gone]
            size, self.low = size - len(gone), 0
            result = yield from self.ask(self.joint[:size])
            if result.outcome != "other":
                return size, result
        return size, Result("same")

    def shrink(self) -> Asks[None]:
        """Down to those that are needed."""
        low, high = self.low, self.high
        while True:
            while high - low > 1:
                trust = 1.0 if not self.found and not low else FLAT
                sums = list(accumulate(one.weight**trust for one in self.joint[low:high]))
                # where the weight between is halved, strictly inside
                inside = range(high - low - 1, 0, -1)
                middle = low + min(inside, key=lambda n: abs(sums[n - 1] - sums[-1] / 2))
                result = yield from self.ask([*self.found, *self.joint[:middle]])
                low, high = (low, middle) if result.outcome == "passes" else (middle, high)
            self.found.append(self.joint[high - 1])
            alone = yield from self.ask(self.found)
            if alone.outcome == "passes" or high == 1:
                return
            low, high = 0, high - 1

    def leave_out(self) -> Asks[None]:
        """Each of several is put back, in case it runs without that change too."""
        for one in tuple(self.found):
            less = [other for other in self.found if other is not one]
            key = {other.id for other in less}
            if any(key <= known and r.outcome != "passes" for known, r in self._known.items()):
                continue
            result = yield from self.ask(less)
            if result.outcome == "passes":
                self.found = less


def _entropy(chance: float) -> float:
    if chance <= 0.0 or chance >= 1.0:
        return 0.0
    return -chance * log2(chance) - (1.0 - chance) * log2(1.0 - chance)
