"""The search against brute force: it ends in a smallest change, with few runs, whatever is needed or breaks."""

import random
import statistics
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuwhy.prove.proof import Outcome, Tweak
from gpuwhy.prove.search import Result, hunt

World = Callable[[set[str]], "Outcome | tuple[Outcome, str]"]


def tweak(name: str, weight: float = 0.12, joins: bool = True) -> Tweak:
    return Tweak(f"unset {name}", "unset", f"without {name}", name, weight=weight, joins=joins)


def names(found: tuple[Tweak, ...]) -> set[str]:
    return {one.name for one in found}


def play(tweaks: list[Tweak], world: World, doubt: float = 1.0) -> tuple[tuple[Tweak, ...], int]:
    """Let the search ask the world; what it found and how many runs that took."""
    asking, runs = hunt(tweaks, doubt), 0
    try:
        experiment = next(asking)
        while True:
            runs += 1
            said = world({one.name for one in experiment})
            experiment = asking.send(Result(said) if isinstance(said, str) else Result(*said))
    except StopIteration as end:
        return end.value, runs


def guilty(*names: str) -> World:
    """It fails unless all of these are gone."""
    return lambda gone: "passes" if set(names) <= gone else "same"


@pytest.mark.parametrize("count, median, most", [(1, 8, 9), (2, 16, 17), (3, 22, 24)])
def test_equal_weights_of_120_variables_cost_little_more_than_the_bits_they_hold(
    count, median, most
):
    tweaks = [tweak(f"V{n}") for n in range(120)]
    runs = []
    for seed in range(60):
        wanted = set(random.Random(seed).sample([one.name for one in tweaks], count))
        found, n = play(tweaks, guilty(*wanted))
        assert names(found) == wanted
        runs.append(n)
    assert statistics.median(runs) <= median
    assert max(runs) <= most


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_nothing_of_what_is_found_can_be_left_out(data):
    """Against every subset: fails while any clause holds, a clause being variables that are all still set."""
    all_names = [f"V{n}" for n in range(7)]
    clause = st.sets(st.sampled_from(all_names), min_size=1, max_size=3)
    clauses = data.draw(st.lists(clause, min_size=1, max_size=3))
    weights = data.draw(st.lists(st.floats(0.01, 20), min_size=7, max_size=7))
    order = sorted(zip(all_names, weights, strict=True), key=lambda pair: -pair[1])

    def world(gone: set[str]) -> Outcome:
        return "same" if any(not (one & gone) for one in clauses) else "passes"

    found, _ = play([tweak(name, weight) for name, weight in order], world)
    assert world(names(found)) == "passes"
    for one in names(found):
        assert world(names(found) - {one}) == "same"


@pytest.mark.parametrize("words, most", [("KeyError: 'DATA_DIR'", 10), ("ZeroDivisionError", 16)])
def test_a_variable_that_the_program_needs_is_kept(words, most):
    """At once where the new failure names it, else by halving."""

    def world(gone: set[str]) -> tuple[Outcome, str]:
        if "DATA_DIR" in gone:
            return "other", words
        return ("passes", "") if "BAD" in gone else ("same", "")

    tweaks = [*(tweak(f"V{n}") for n in range(30)), tweak("DATA_DIR"), tweak("BAD")]
    found, runs = play(tweaks, world)
    assert names(found) == {"BAD"}
    assert runs <= most


@pytest.mark.parametrize(
    "weight, words", [(0.12, "the second"), (60.0, "no device for SECOND_ONE")]
)
def test_two_failures_one_behind_the_other_are_both_removed(weight, words):
    """Also where the first is tried at once: not given up, and not taken for something needed."""

    def world(gone: set[str]) -> tuple[Outcome, str]:
        if "FIRST" not in gone:
            return "same", ""
        return ("passes", "") if "SECOND_ONE" in gone else ("other", words)

    others = [tweak(f"V{n}") for n in range(10 if weight < 1 else 60)]
    found, runs = play([tweak("FIRST", weight), *others, tweak("SECOND_ONE")], world)
    assert names(found) == {"FIRST", "SECOND_ONE"}
    assert weight < 1 or runs <= 6


def test_single_tweaks_wait_for_the_causes_that_speak_for_them():
    lone = tweak("growth", 30.0, joins=False)
    found, runs = play([lone, *(tweak(f"V{n}") for n in range(50))], guilty("growth"))
    assert names(found) == {"growth"}
    assert runs == 1
    unlikely = tweak("growth", 0.001, joins=False)
    found, _ = play([unlikely, tweak("V1")], guilty("growth"))
    assert found == (), "an experiment without a chance is not made"
