"""The stalling node or pair is found in few tries, with a stand-in for the collective."""

from __future__ import annotations

import contextlib
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuwhy.fleet.halving import Search, TooManyTriesError, Tried

NODES = [f"gpu{n:03}" for n in range(64)]


def world(bad=(), pairs=(), slow=()):
    def attempt(group):
        broken = any(node in group for node in bad) or any(set(pair) <= set(group) for pair in pairs)
        bandwidth = 10.0 if any(node in group for node in slow) else 100.0
        return Tried(tuple(group), "stalls" if broken else "ok", 1.0, None if broken else bandwidth)

    return Search(attempt)


def test_nothing_wrong_costs_one_try():
    search = world()
    assert search.culprits(NODES) == []
    assert len(search.tries) == 1


@pytest.mark.parametrize("place", [0, 1, 31, 32, 62, 63])
def test_one_node(place):
    search = world([NODES[place]])
    assert [one.nodes for one in search.culprits(NODES)] == [(NODES[place],)]
    assert len(search.tries) <= 2 * math.log2(64) + 4


@pytest.mark.parametrize("pair", [(0, 1), (0, 63), (31, 32), (5, 40)])
def test_a_pair_that_only_fails_together(pair):
    pair = tuple(NODES[n] for n in pair)
    search = world(pairs=[pair])
    assert [set(one.nodes) for one in search.culprits(NODES)] == [set(pair)]
    assert len(search.tries) <= 3 * math.log2(64) + 8


@settings(max_examples=40, deadline=None)
@given(st.sets(st.integers(0, 63), max_size=3), st.sets(st.tuples(st.integers(0, 63), st.integers(0, 63)), max_size=2))
def test_what_is_left_works(bad, pairs):
    bad = {NODES[n] for n in bad}
    pairs = [(NODES[a], NODES[b]) for a, b in pairs if a != b]
    search = world(bad, pairs)
    found = search.culprits(NODES)
    out = {one.nodes[0] for one in found}
    left = [node for node in NODES if node not in out]
    assert search.good(left)
    assert bad <= {node for one in found for node in one.nodes}
    assert len(search.tries) <= 1 + (len(bad) + len(pairs)) * (3 * math.log2(64) + 8)


def test_a_node_that_works_alone_and_with_nobody_else():
    def attempt(group):
        return Tried(tuple(group), "stalls" if "gpu005" in group and len(group) > 1 else "ok")

    search = Search(attempt)
    found = search.culprits(NODES)
    assert [one.nodes for one in found] == [("gpu005",)]


def test_a_failure_that_comes_and_goes_ends():
    turn = iter(range(10**6))
    search = Search(lambda group: Tried(tuple(group), "stalls" if next(turn) % 3 else "ok"), most=50)
    with contextlib.suppress(TooManyTriesError):
        search.culprits(NODES)
    assert len(search.tries) <= 50


def test_slow_groups_against_the_middle():
    search = world(slow=["gpu007"])
    for place in range(0, 16, 2):
        search.good(NODES[place : place + 2])
    assert [one.nodes for one in search.slow()] == [("gpu006", "gpu007")]
