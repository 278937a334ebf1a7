"""Outputs of real programs that were made to fail in a known way: the cause is certain, and was written down first.

tools/capture.py says how on a machine with a GPU (h200), tools/capture_lab.py on one without (lab),
tools/capture_windows.py with Windows programs (windows). `also` holds what
the text alone cannot tell from the cause, `why` the reason: an empty device list looks the same whatever emptied it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gpuwhy.logs import explain_text

from ..length import halved

CASES = [
    json.loads(line)
    for file in sorted((Path(__file__).parent / "captured").glob("*.jsonl"))
    for line in file.read_text().splitlines()
]


def test_there_are_sixty():
    assert len([c for c in CASES if c["cause"] != "healthy"]) >= 60
    assert len({c["id"] for c in CASES}) == len(CASES)


def test_nothing_private():
    assert [
        c["id"]
        for c in CASES
        if re.search(
            r"/tmp/(?!__autograph|capture\b|cc\w{6}|pip-build-env-|tmp)|/capture-|(?<![\w.-])/root\b"
            r"|https?://[\w.-]+/(?:simple|packages)/",
            c["log"],
        )
    ] == []


def test_a_neighbour_has_its_reason():
    assert [c["id"] for c in CASES if c["also"] and not c.get("why")] == []


@pytest.mark.parametrize("case", halved(CASES), ids=lambda c: c["id"])
def test_captured(case):
    report = explain_text(case["log"])
    told = [c.id for c in report.causes]
    if case["cause"] == "healthy":
        assert not [c for c in report.causes if c.confidence >= 0.5]
    else:
        assert told[0] in (case["cause"], *case["also"]), told
        assert case["cause"] in told[:3]
