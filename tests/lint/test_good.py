"""Files as projects really write them, none of which has a GPU mistake: no finding, and everything is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuwhy.lint.linter import lint

GOOD = Path(__file__).parent / "good"
FILES = sorted(p.relative_to(GOOD).as_posix() for p in GOOD.rglob("*") if p.is_file() and p.name != "base.txt")


def read(path: str) -> str | None:
    file = GOOD / path
    return file.read_text(encoding="utf-8") if file.is_file() else None


def test_there_are_many():
    assert len(FILES) >= 60


@pytest.mark.parametrize("path", FILES)
def test_a_good_file_has_no_finding(path):
    result = lint({path: read(path) or ""}, read)
    assert result.mistakes == ()
    assert result.problems == ()
    assert bool(result.files[0].notes) == path.startswith("helm/")
