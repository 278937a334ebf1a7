"""Every demand of demands.txt is answered as its expert says; the judge itself can fail."""

from __future__ import annotations

import pytest

from tests.plan.demands import Demand, answer, demands, wrong

PARTS = 8
TABLE = demands()


def test_the_table_is_large_and_says_what_it_knows():
    assert len(TABLE) >= 200
    assert len({demand.words for demand in TABLE}) == len(TABLE)
    assert [demand.name for demand in TABLE if not demand.source or not demand.holds] == []


@pytest.mark.parametrize("part", range(PARTS))
def test_demands_are_answered_as_an_expert_would(part):
    """And none is empty: a proposal names a release and installs it."""
    failed = {demand.name: said for demand in TABLE[part::PARTS] if (said := wrong(demand) or empty(demand))}
    assert failed == {}


def test_the_judge_can_fail():
    holds = (
        "conflict",
        "torch <1",
        "cuda torch 9",
        "cap numpy<1",
        "says nothing of the kind",
        "never torch",
        "gives x",
    )
    demand = Demand(1, ("torch", "--gpu", "A100"), holds, "")
    assert wrong(demand) == list(holds)


def empty(demand: Demand) -> str:
    """What a proposal must name and install; '' where it does."""
    made = answer(demand.words).made
    if made is None or made.proposal is None:
        return ""
    if not made.proposal.choices:
        return "no release"
    lines = [line for way in made.proposal.ways for line in way.text.splitlines()]
    return "nothing is installed" if any(line.endswith("pip install") for line in lines) else ""
