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


@pytest.mark.parametrize(
    "line",
    [
        "2026-01-02 03:04:05 status half-installed openssl:amd64 3.0.16-1",
        "-rw-r--r-- 1 root root 19266 Oct 16 23:01 freezegun-1.5.5-py3-none-any.whl",
        "max locked memory           (kbytes, -l) 8192",
        "root        32  0.0  0.0      0     0 ?        S    11:38   0:00 [oom_reaper]",
    ],
)
def test_listings_that_only_contain_a_word(line):
    """Of a row of a listing nothing failed, whatever word stands in a name of it."""
    assert explain_text(f"{line}\n").status == "healthy"
