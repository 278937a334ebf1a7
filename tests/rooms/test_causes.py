"""Every cause proves itself on three fixtures: shown, ruled-out, undetermined. And the healthy base shows none."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from gpuwhy.logs import explain_text
from gpuwhy.model.cause import Cause
from gpuwhy.model.facts import Facts
from gpuwhy.reason.judge import judge
from gpuwhy.rooms import CAUSES

from .facts import base, load, log_of

HERE = Path(__file__).parent
KINDS = {"shown": "shown", "ruled-out": "ruled_out", "undetermined": "undetermined"}


def fixtures():
    for cause in CAUSES:
        folder = HERE.joinpath(*cause.id.split("."))
        for kind in KINDS:
            found = sorted(folder.glob(f"{kind}*.json")) or [folder / f"{kind}.json"]
            for file in found:
                yield pytest.param(cause, kind, file, id=f"{cause.id}-{file.stem}")


def state_of(cause: Cause, facts: Facts) -> str:
    states = {v.state for v in judge((cause,), facts)}
    for state in ("crashed", "shown", "possible", "undetermined", "ruled_out"):
        if state in states:
            return state
    raise AssertionError("no verdict")


def told_state(cause: Cause, log: str) -> str:
    """Shown where the text alone makes the cause the likely one."""
    report = explain_text(log)
    shown = {c.id: c.confidence for c in report.causes}
    if shown.get(cause.id, 0) >= 0.5:
        assert report.causes[0].id == cause.id
        assert all(f.evidence for f in report.causes[0].because)
        assert all(f.text and not f.text.endswith(".") for f in report.causes[0].because)
        assert report.causes[0].fixes
        return "shown"
    return "ruled_out" if shown.get(cause.id, 0) < 0.1 else "possible"


@pytest.mark.parametrize("cause, kind, file", list(fixtures()))
def test_fixture(cause, kind, file):
    why, facts = load(file)
    assert len(why) > 20, "a fixture argues its case"
    log = log_of(file)
    if log:
        assert told_state(cause, log) == KINDS[kind]
        return
    verdicts = judge((cause,), facts)
    assert state_of(cause, facts) == KINDS[kind], [(v.state, v.findings, v.missing, v.error) for v in verdicts]
    for verdict in verdicts:
        if verdict.state == "shown":
            assert verdict.fixes
            assert all(f.evidence for f in verdict.findings), "a finding shows its evidence"
            assert all(not f.text.endswith(".") for f in verdict.findings)


def test_healthy_base_shows_nothing():
    facts = msgspec.convert(base("healthy"), type=Facts)
    wrong = [
        (v.cause.id, v.state, v.findings, v.error)
        for v in judge(CAUSES, facts)
        if v.state in ("shown", "possible", "crashed")
    ]
    assert wrong == []


def test_nothing_observed_decides_nothing():
    """Unknown is not false: with no facts at all, every cause is undetermined."""
    states = {v.cause.id: v.state for v in judge(CAUSES, Facts())}
    assert set(states.values()) == {"undetermined"}, states


def test_registry_is_sorted_and_unique():
    ids = [c.id for c in CAUSES]
    assert ids == sorted(set(ids))


@pytest.mark.parametrize("cause", CAUSES, ids=lambda c: c.id)
def test_cause_is_well_formed(cause):
    assert cause.title[:1].islower() or cause.title.startswith(
        ("NVIDIA", "CUDA", "WSL", "GPU", "TensorFlow", "cuDNN", "NCCL", "Python")
    )
    assert not cause.title.endswith(".")
    assert set(cause.hides) <= {other.id for other in CAUSES} - {cause.id}
