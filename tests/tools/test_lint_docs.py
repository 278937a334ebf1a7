"""docs/lint.md is what tools/lint_docs.py makes of the rules' pages and of the verdicts."""

from __future__ import annotations

from pathlib import Path

from gpuwhy.lint.rules import ROOMS

from . import tool

ROOT = Path(__file__).parents[2]
docs = tool("lint_docs")


def test_the_repository_is_up_to_date():
    assert docs.wanted(ROOT) == (ROOT / "docs" / "lint.md").read_text(encoding="utf-8"), (
        "run: python tools/lint_docs.py"
    )


def test_every_rule_has_its_page_and_its_severity():
    assert docs.severities(ROOT) == {name: room.rule.severity for name, room in ROOMS.items()}
    assert list(docs.pages(ROOT)) == sorted(ROOMS)


def test_figures_count_findings_and_labels():
    labels = [{"rule": "a", "found": ["after"]}, {"rule": "b"}]
    row = {"set": "A", "repo": "x/y", "labels": labels, "first": [], "after": [{"rule": "a", "true": True}]}
    assert docs.figures([row], "first") == (0, 0, 2, 0)
    assert docs.figures([row], "after") == (1, 1, 2, 1)
    assert "| A | 1 | 1 | after | 1 | 1 | 1.00 | 2 | 1 | 0.50 |" in docs.summary([row])
