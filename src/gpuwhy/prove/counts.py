"""What the outcomes of all runs prove: how often with the change and without it, in which order, and how surely."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, factorial, log
from typing import NamedTuple

from gpuwhy.log.ending import Ending
from gpuwhy.prove.proof import Arms, Outcome, Tweak

LEAST = 2
"""Equal failures, and successes, below which nothing is called proven."""
CHANCE, FLAKY_CHANCE = 0.02, 0.003
"""The most that chance may explain of what is called proven; of a program known to be flaky many changes were tried."""
LUCK = 0.05
"""The chance below which successes in a row of a flaky program are no luck."""
FLAKY = 0.1
"""How many programs that failed twice would not fail always."""
LIKELY = 0.04
"""The share of all weights from which on something spoke for a change before it was tried."""
CHEAP, DEAR = 10.0, 30.0
"""Seconds of a run below which one more failure is asked for, and above which two successes have to do."""


class Once(NamedTuple):
    """One run: what was applied, and what came of it."""

    tweaks: tuple[Tweak, ...]
    outcome: Outcome
    ending: Ending
    seconds: float
    purpose: str
    note: str = ""
    outlived: bool = False  # a success only because it still ran when its time was over

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


def fresh(runs: Sequence[Once], change: frozenset[str]) -> list[Once]:
    """The runs that test the change rather than led to it: the search follows luck wherever it leads.

    The program as it is, what was run to confirm, and for a change of one tweak its first run alone, which could have
    refuted it.
    """
    alone = len(change) == 1
    return [
        one
        for one in runs
        if one.outcome in ("passes", "same")
        and (not one.key or (one.key == change and (alone or one.purpose == "confirm")))
    ]


def chance(runs: Sequence[Once], change: frozenset[str]) -> float:
    """The probability that the program is only flaky and the change does nothing, by the runs that test it."""
    bearing = fresh(runs, change)
    within = [one.outcome == "passes" for one in bearing if one.key]
    beside = [one.outcome == "passes" for one in bearing if not one.key]
    if not within or not beside:
        return 1.0
    if all(within) and not any(beside):
        passes, fails = len(within), len(beside)
        luck = FLAKY * factorial(passes) * factorial(fails) / factorial(passes + fails + 1)
        return luck / (luck + 1.0 - FLAKY)
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
    """Whether the outcomes contradict each other: the program as it is ends in several ways, or a change that made it
    run did not, alone or among others.
    """
    plain = {one.outcome for one in runs if not one.key} - {"unclear"}
    return len(plain) > 1 or any(contradicted(runs, one.key) for one in runs if one.outcome == "passes" and one.key)


def contradicted(runs: Sequence[Once], change: frozenset[str]) -> bool:
    """Whether it failed as before although the whole change was in place."""
    return any(one.outcome == "same" and one.key >= change for one in runs if one.key)


def rate(runs: Sequence[Once]) -> tuple[int, int]:
    """How often the program as it is failed as it did first, of how many runs."""
    plain = [one.outcome for one in runs if not one.key and one.outcome != "unclear"]
    return plain.count("same"), len(plain)


def repeats(runs: Sequence[Once]) -> int:
    """How many successes in a row are no luck: one for a program that always failed so far."""
    if not flaky(runs):
        return 1 if rate(runs)[0] else 3
    failed, of = rate(runs)
    if failed in (0, of):  # only the changes have told it: count them too
        decided = [one.outcome for one in runs if one.outcome in ("passes", "same")]
        failed, of = decided.count("same"), len(decided)
    return min(12, max(2, round(log(LUCK) / log(1.0 - (failed + 0.5) / (of + 1.0)) + 0.49)))


def wanted(change: frozenset[str], seconds: float, share: float = 1.0) -> tuple[int, int]:
    """Failures as it is, and successes with the change, that are asked for.

    More of short runs, of many tweaks, and of a change that nothing spoke for: so is what luck finds.
    """
    more = (len(change) > 1) + (share < LIKELY)
    if seconds >= DEAR:
        return LEAST, LEAST + more
    return LEAST + (seconds < CHEAP) + (share < LIKELY), LEAST + 1 + more


def proven(runs: Sequence[Once], change: frozenset[str], seconds: float = 0.0, share: float = 1.0) -> bool:
    """Two equal failures and two successes at the very least, in turn, and hardly by chance."""
    found, (fails, passes) = arms(runs, change), wanted(change, seconds, share)
    tested = sum(one.outcome == "passes" for one in fresh(runs, change) if one.key)
    if (
        found.failed < fails
        or tested < passes
        or found.chance > (FLAKY_CHANCE if flaky(runs) else CHANCE)
        or found.passed < found.of_passed
    ):
        return False
    return flaky(runs) or in_turn(runs, change)


def hopeless(runs: Sequence[Once], change: frozenset[str]) -> bool:
    """Whether the change was in place and it failed all the same."""
    return contradicted(runs, change) or any(one.outcome == "other" for one in runs if one.key == change)
