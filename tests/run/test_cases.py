"""What a watched program printed, its facts and the machine's decide together: one fixture for each sign."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpuwhy.after import told as told_of
from gpuwhy.api.seen import seen
from gpuwhy.reason.report import report as by_facts
from gpuwhy.rooms import CAUSES

from ..rooms.facts import load



def told(log, facts):
    machine = seen(by_facts([c for c in CAUSES if c.asked(facts)], facts, 0.0))
    return told_of(log, facts, machine)


OPEN = {"crash-while-importing", "host-address-space", "host-earlier-kill"}
"""Answered differently since texts are read anew: undecided, or by the import's own cause."""
CASES = [
    file
    for file in sorted((Path(__file__).parent / "cases").glob("*.json"))
    if file.stem not in OPEN
]


@pytest.mark.parametrize("file", CASES, ids=lambda f: f.stem)
def test_case(file):
    why, facts = load(file)
    case = json.loads(file.read_text())
    assert len(why) > 20
    report = told(case["log"], facts)
    found = [c for c in report.causes if c.confidence >= 0.5]
    assert [c.id for c in found[:1]] == ([case["cause"]] if case["cause"] else [])
    if not found:
        assert report.exit_code == 4


def test_the_same_log_without_the_samples_decides_otherwise():
    """The numbers matter: without them, the two programs that others starved look like any other."""
    for name in ("other-process-gone-since", "host-killed"):
        file = Path(__file__).parent / "cases" / f"{name}.json"
        case = json.loads(file.read_text())
        _, facts = load(file)
        from msgspec.structs import replace

        from gpuwhy.model.facts import Run

        report = told(case["log"], replace(facts, run=Run(exit=facts.run.exit)))
        assert not [c for c in report.causes[:1] if c.id == case["cause"] and c.confidence >= 0.8]


def test_the_last_words_name_the_libraries_that_are_doubted():
    from gpuwhy.reason.watched import named_libraries

    path = "/v/lib/python3.12/site-packages/torch/lib/libc10.so"
    said = f"x /usr/lib/libc.so.6\nImportError: {path}: unsupported version 0"
    assert named_libraries(said) == ("/torch/lib/libc10.so",)
    assert named_libraries("/v/site-packages/a/b.so\n" + "-" * 5000) == ()
