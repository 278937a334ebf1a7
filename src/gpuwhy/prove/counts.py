"""What the outcomes of all runs prove: how often with the change and without it, in which order, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, log
from typing import NamedTuple

from gpuwhy.model.ending import Ending
from gpuwhy.model.proof import Arms, Outcome, Tweak

LEAST = 2
"""Equal failures, and successes, below which nothing is called proven."""
CHANCE = 0.05
FLAKY_CHANCE = 0.02
"""The most that chance may explain, of a program that fails always and of one that fails at times."""


class Once(NamedTuple):
    """One run: what was applied, and what came of it."""

    tweaks: tuple[Tweak, ...]
    outcome: Outcome
    ending: Ending
    seconds: float
    purpose: str
    note: str = ""

    @property
    def key(self) -> frozenset[str]:
        """The ids of what was applied."""
        return frozenset(one.id for one in self.tweaks)


def arms(runs: Sequence[Once], change: frozenset[str]) -> Arms:
    """The program as it is, against the program with the change; chance is judged on all runs that bear on it."""
    plain = [one for one in runs if not one.key and one.outcome != "unclear"]
    with_it = [one for one in runs if one.key == change and one.outcome != "unclear"]
    return Arms(
        sum(one.outcome == "same" for one in plain),
        len(plain),
        sum(one.outcome == "passes" for one in with_it),
        len(with_it),
        round(chance(runs, change), 4),
    )


def chance(runs: Sequence[Once], change: frozenset[str]) -> float:
    """The greatest probability of these outcomes if the change did nothing.

    Every run with all of the change is on one side, every run with none or a part of it on the other.
    """
    decided = [one for one in runs if one.outcome in ("passes", "same")]
    within = [one.outcome == "passes" for one in decided if one.key >= change]
    beside = [one.outcome == "passes" for one in decided if not one.key >= change]
    if not within or not beside:
        return 1.0
    if all(within) and not any(beside):
        passes, fails = len(within), len(beside)
        return passes**passes * fails**fails / (passes + fails) ** (passes + fails)
    return _fisher(sum(within), len(within), sum(beside), len(beside))


def _fisher(passes: int, n: int, others: int, m: int) -> float:
    """One-sided exact test: at least so many of the successes fall on the side of the change."""
    total, good = n + m, passes + others
    ways = sum(comb(n, k) * comb(m, good - k) for k in range(passes, min(n, good) + 1) if good - k <= m)
    return ways / comb(total, good)


def in_turn(runs: Sequence[Once], change: frozenset[str]) -> bool:
    """Whether it ran with the change, then failed without, then ran with it: a passing trouble would not do that."""
    stage = 0
    for one in runs:
        if one.outcome == "passes" and one.key >= change and stage in (0, 2):
            stage += 1
        elif one.outcome == "same" and not one.key >= change and stage == 1:
            stage = 2
    return stage >= 3


def flaky(runs: Sequence[Once]) -> bool:
    """Whether the program as it is both failed and succeeded, or failed in several ways."""
    plain = {one.outcome for one in runs if not one.key} - {"unclear"}
    return len(plain) > 1


def rate(runs: Sequence[Once]) -> tuple[int, int]:
    """How often the program as it is failed as it did first, of how many runs."""
    plain = [one.outcome for one in runs if not one.key and one.outcome != "unclear"]
    return plain.count("same"), len(plain)


def repeats(runs: Sequence[Once]) -> int:
    """How many successes in a row are no luck: one for a program that always failed so far."""
    failed, of = rate(runs)
    if failed >= of or not failed:
        return 1 if failed else 3
    return min(12, max(2, round(log(CHANCE) / log(1.0 - (failed + 0.5) / (of + 1.0)) + 0.49)))


def proven(runs: Sequence[Once], change: frozenset[str]) -> bool:
    """Two equal failures and two successes at least, in turn, and hardly by chance."""
    found = arms(runs, change)
    if found.failed < LEAST or found.passed < LEAST:
        return False
    if flaky(runs) or found.passed < found.of_passed:
        return found.passed == found.of_passed and found.chance <= FLAKY_CHANCE
    return in_turn(runs, change) and found.chance <= CHANCE


def hopeless(runs: Sequence[Once], change: frozenset[str]) -> bool:
    """Whether the change has failed as often as it does by itself."""
    with_it = [one for one in runs if one.key == change]
    return any(one.outcome in ("same", "other") for one in with_it)
