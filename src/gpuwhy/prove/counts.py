"""What the outcomes prove: three failures against three successes, in turn."""

from collections.abc import Sequence
from math import factorial

from gpuwhy.prove.proof import Counts, Once

TIMES, SLOW = 3, 30.0
"""Equal failures, and successes with the change, that are asked for; one less of slow programs."""
LIKELY = 0.04
"""The share of all weights from which on something spoke for a change before it was tried."""
FLAKY = 0.1
"""How many programs that failed twice would not fail always."""


def counts(runs: Sequence[Once], change: frozenset[str]) -> Counts:
    """The program as it is, against the program with the change.

    Chance is that of a flaky program, whose rate of failure is not known, to end as it did.
    """
    decided = [one for one in runs if one.outcome != "unclear"]
    plain = [one.outcome for one in decided if not one.key]
    with_it = [one.outcome for one in decided if one.key == change and change]
    failed, passed = plain.count("same"), with_it.count("passes")
    tested = _tests(runs, change)
    luck = FLAKY * factorial(tested) * factorial(failed) / factorial(tested + failed + 1)
    alike = failed == len(plain) and passed == len(with_it) and tested and failed
    chance = luck / (luck + 1.0 - FLAKY) if alike else 1.0
    return Counts((failed, len(plain)), (passed, len(with_it)), round(chance, 4))


def _tests(runs: Sequence[Once], change: frozenset[str]) -> int:
    """The successes that test the change rather than led to it: the search follows luck wherever
    it leads. For a change of one tweak its first run alone could have refuted it.
    """
    passed = (one for one in runs if one.key == change and one.outcome == "passes")
    return sum(len(change) == 1 or one.purpose == "confirm" for one in passed)


def flaky(runs: Sequence[Once]) -> bool:
    """Whether the outcomes contradict each other: the program as it is ends in several ways, or
    fails with a change that made it run.
    """
    failed, of = counts(runs, frozenset()).failed
    healed = [one.key for one in runs if one.outcome == "passes" and one.key]
    return failed not in (0, of) or any(contradicted(runs, key) for key in healed)


def contradicted(runs: Sequence[Once], change: frozenset[str]) -> bool:
    """Whether it failed as before although the whole change was in place."""
    return any(one.outcome == "same" and one.key >= change for one in runs if one.key)


def wanted(change: frozenset[str], seconds: float, share: float = 1.0) -> tuple[int, int]:
    """Failures as it is, and successes with the change; more of many tweaks, and of a change that
    nothing spoke for: so is what luck finds.
    """
    least = TIMES - (seconds >= SLOW) + (share < LIKELY)
    return least, least + (len(change) > 1)


def in_turn(runs: Sequence[Once], change: frozenset[str]) -> bool:
    """Whether it ran with the change, failed without, and ran with it again: a trouble that
    passes by itself would not do that.
    """
    stage = 0
    for one in runs:
        if one.outcome == "passes" and one.key >= change and stage in (0, 2):
            stage += 1
        elif one.outcome == "same" and not one.key >= change and stage == 1:
            stage = 2
    return stage >= 3


def proven(
    runs: Sequence[Once], change: frozenset[str], seconds: float = 0.0, share: float = 1.0
) -> bool:
    """As many failures and successes as are wanted, in turn, and none that contradicts them."""
    now, (fails, passes) = counts(runs, change), wanted(change, seconds, share)
    enough = now.failed[0] >= fails and _tests(runs, change) >= passes
    whole = now.passed[0] == now.passed[1] and not flaky(runs)
    return enough and whole and in_turn(runs, change)
