"""What a watched program printed, its facts and the machine's decide together."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuwhy.api.machine import judged
from gpuwhy.api.watched import told
from gpuwhy.facts.run import Run
from gpuwhy.run.judge import named_libraries, own_kills

from ..signs.fixtures import facts_of

FOLDER = Path(__file__).parent / "cases"
OPEN = {"host-address-space", "host-earlier-kill"}
"""Answered "undecided" since texts are read by the new reader."""
CASES = [file for file in sorted(FOLDER.glob("*.json")) if file.stem not in OPEN]


@pytest.mark.parametrize("file", CASES, ids=lambda file: file.stem)
def test_case(file):
    case = json.loads(file.read_text())
    assert len(case["why"]) > 20
    answer = told(case["log"], judged(own_kills(facts_of(case["facts"]))))
    found = [one for one in answer.causes if one.confidence >= 0.5]
    assert [one.id for one in found[:1]] == ([case["cause"]] if case["cause"] else [])
    if not found:
        assert answer.exit_code == 4


def test_the_same_log_without_the_samples_decides_otherwise():
    """The numbers matter: without them the programs that others starved look like any other."""
    for name in ("other-process-gone-since", "host-killed"):
        case = json.loads((FOLDER / f"{name}.json").read_text())
        facts = facts_of(case["facts"])
        answer = told(case["log"], judged(own_kills(replace(facts, run=Run(exit=facts.run.exit)))))
        first = answer.causes[:1]
        assert not [one for one in first if one.id == case["cause"] and one.confidence >= 0.8]


def test_the_last_words_name_the_libraries_that_are_doubted():
    path = "/v/lib/python3.12/site-packages/torch/lib/libc10.so"
    said = f"x /usr/lib/libc.so.6\nImportError: {path}: unsupported version 0"
    assert named_libraries(said) == ("/torch/lib/libc10.so",)
    assert named_libraries("/v/site-packages/a/b.so\n" + "-" * 5000) == ()
