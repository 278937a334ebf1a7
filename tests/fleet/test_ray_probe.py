"""What a search over Ray makes of the ends of its ranks, and what its reader makes of hostile lines."""

from __future__ import annotations

import pytest

pytest.importorskip("msgspec")

from gpuwhy.fleet.ray_answers import Probed
from gpuwhy.fleet.ray_probe import _judged


def test_a_rank_that_fails_by_itself_is_quoted_before_those_that_waited():
    ends = [(None, "waiting"), (1, "a\nRuntimeError: no address for nosuch0\n")]
    tried = _judged(("n1", "n2"), ends, 3.0)
    assert (tried.outcome, tried.text) == ("fails", "n2: RuntimeError: no address for nosuch0")
    assert _judged(("n1", "n2"), [(0, ""), (None, "")], 3.0).outcome == "stalls"


def test_one_node_alone_has_no_bandwidth():
    words = "bandwidth GB/s: 433.1 (gloo, 1 ranks)"
    assert _judged(("n1",), [(0, words)], 1.0).bandwidth is None
    assert _judged(("n1", "n2"), [(0, words), (0, "")], 1.0).bandwidth == 433.1


def test_only_the_lines_of_the_search_are_taken():
    probed = Probed()
    assert not probed.take(b'{"nodes": {"a": ""}}')
    assert not probed.take(b'{"tried": {"nodes": 7}}')
    assert not probed.take(b"[" * 100_000)
    assert probed.take(b'{"tried": {"nodes": ["a", "b"], "outcome": "ok"}}')
    assert not probed.done
    assert probed.take(b'{"found": [{"nodes": ["b"], "outcome": "stalls"}], "slow": []}')
    assert probed.done
    assert probed.found[0].nodes == ("b",)
