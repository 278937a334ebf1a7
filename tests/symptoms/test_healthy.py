"""Successful runs, captured or written: none may be told a cause."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuwhy.logs import explain_text

TEXT = (Path(__file__).parent / "healthy.txt").read_text(encoding="utf-8")
LOGS = dict(part.split("\n", 1) for part in TEXT.split("=== ")[1:])


def test_there_are_fifty():
    assert len(LOGS) >= 50


@pytest.mark.parametrize("name", LOGS)
def test_no_false_alarm(name):
    report = explain_text(LOGS[name])
    assert [(c.id, c.confidence, c.because[0].evidence[0].text) for c in report.causes if c.confidence >= 0.5] == []
    assert report.status != "broken"
