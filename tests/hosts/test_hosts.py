"""Every recorded host gives the verdict that its own truth supports; healthy ones show nothing."""

from __future__ import annotations

import re

import msgspec
import pytest

from gpuwhy.render.json import report_dict

from .hosts import NAMES, described, run

HEALTHY = [n for n in NAMES if described(n)["expect"] == []]
KINDS = {"bare", "container", "cpu-only", "conda", "wheels", "wsl", "mig", "this-machine"}


@pytest.mark.parametrize("name", NAMES)
def test_host(name):
    """The verdict that the machine's own truth supports."""
    one = described(name)
    assert len(one["why"]) > 15
    assert one["truth"]
    report = run(name).report()
    shown = [c.id for c in report.causes if c.confidence >= 0.5]
    assert sorted(set(shown)) == sorted(one["expect"]), [f.text for c in report.causes for f in c.because]
    assert report.causes == () or one["expect"], "a healthy host shows no cause at all"
    assert report.crashed == ()
    assert [c.id for c in report.causes[:1]] == one.get("first", [c.id for c in report.causes[:1]])
    assert report.status == ("healthy" if not one["expect"] else report.status)
    assert report.status != "unknown" or one["expect"]


@pytest.mark.parametrize(
    "name", [name if n % 4 == 0 else pytest.param(name, marks=pytest.mark.attack) for n, name in enumerate(NAMES)]
)
def test_a_host_that_is_replayed_gives_the_same_bytes(name):
    assert as_bytes(run(name).report()) == as_bytes(run(name).report())


def as_bytes(report):
    """The report as its contract has it, before secrets are looked for; without the time that it took."""
    return msgspec.json.encode({**report_dict(report), "took": 0})


def test_there_are_enough_kinds():
    assert {described(n).get("kind") for n in HEALTHY} >= KINDS
    assert len(NAMES) - len(HEALTHY) >= 10


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_holds_nothing_private(name):
    from .hosts import HERE

    text = str(described(name))
    assert not re.search(r"GPU-[0-9a-f]{9}|MIG-[0-9a-f]{9}", text), "UUIDs are shortened"
    assert not re.search(r"(TOKEN|SECRET|PASSWORD)\w*'", text)
    assert HERE
