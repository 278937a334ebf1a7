"""Outputs of real programs that were made to fail in a known way (tools/capture.py says how): the cause is certain.

`also` holds what the text alone cannot tell from the cause: an empty device list looks the same whatever emptied it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpuwhy.logs import explain_text

CASES = [
    json.loads(line)
    for file in sorted((Path(__file__).parent / "captured").glob("*.jsonl"))
    for line in file.read_text().splitlines()
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["id"])
def test_captured(case):
    report = explain_text(case["log"])
    told = [c.id for c in report.causes]
    if case["cause"] == "healthy":
        assert not [c for c in report.causes if c.confidence >= 0.5]
    else:
        assert told[0] in (case["cause"], *case["also"]), told
        assert case["cause"] in told[:3]
