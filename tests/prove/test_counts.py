"""What is called proven: two and two, in turn, and hardly by chance."""

import pytest

from gpuwhy.log.ending import Ending
from gpuwhy.prove.proof import Once, Outcome, Tweak
from gpuwhy.prove.counts import counts, flaky, proven, wanted

ONE = Tweak("unset A", "unset", "without A", "A")
TWO = Tweak("unset B", "unset", "without B", "B")
KEY = frozenset({"unset A"})


def runs(*words: str) -> list[Once]:
    """P passes, F fails the same, O otherwise; small letters: the program as it is; `B`: the other tweak."""
    out = []
    for word in words:
        outcome: Outcome = {"p": "passes", "f": "same", "o": "other", "u": "unclear"}[word[0].lower()]  # type: ignore[assignment]
        changed = {"B": (TWO,), "+": (ONE, TWO)}.get(word[-1], (ONE,))
        tweaks = () if word[0].islower() else changed
        out.append(Once(tweaks, outcome, Ending(), 0.1, "confirm" if word[0] == "P" and not word[1:] else ""))
    return out


@pytest.mark.parametrize(
    "words, answer",
    [
        ("f f P P", False),  # it may have healed by itself meanwhile
        ("f f P f P", True),
        ("f P f P", True),
        ("f f P+ FB P P", True),  # a failure without all of it, between, counts as a turn
        ("f P P", False),
        ("f f P", False),
        ("f f P f F", False),
        ("f f P f O", False),
        ("f f P f P p", False),  # now it runs without: flaky, and two are not enough
        ("f f u P u f P", True),
        ("f f p f f P P P P P", False),  # flaky
    ],
)
def test_proven(words, answer):
    assert proven(runs(*words.split()), KEY, 60.0) is answer


def test_only_runs_that_test_the_change_bear_on_it():
    told = runs("f", "f", "FB", "P+", "FB", "P", "f", "P")
    found = counts(told, KEY)
    assert (found.failed, found.passed) == ((3, 3), (2, 2))
    b = 2 * 6 / 720  # two successes and three failures at an unknown rate
    assert found.chance == round(0.1 * b / (0.1 * b + 0.9), 4)


def test_long_programs_need_two_and_two_and_short_ones_and_several_tweaks_more():
    both = frozenset({"unset A", "unset B"})
    assert counts(runs("f", "f", "P+", "P+"), both).chance == 1.0, "found by the search is not tested"
    assert wanted(both, 0.1) == (3, 4)
    assert wanted(KEY, 0.1) == (3, 3)
    assert wanted(KEY, 0.1, share=0.01) == (4, 4)
    assert wanted(KEY, 60.0) == (2, 2)


def test_a_program_that_ends_in_several_ways_is_flaky():
    mixed = runs("f", "p", "f", "f", "P", "P", "P", "P")
    assert flaky(mixed)
    assert counts(mixed, KEY).failed == (3, 4)
    assert counts(mixed, KEY).chance == 1.0
