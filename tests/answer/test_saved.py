"""A saved answer of any contract is a document: its sentence, its values, nothing that escapes."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuwhy.answer import html, markdown, saved, terminal

MISTAKE = {"rule": "no-such-release", "line": 3, "text": "t", "severity": "error"}
ANSWERS: dict[str, dict[str, Any]] = {
    "plan": {
        "schema": "gpuwhy.plan/1",
        "gpuwhy": "0.1.0",
        "proposal": {
            "python": "3.12",
            "choices": [{"package": "torch", "version": "2.6.0", "cuda": "12.4"}],
            "ways": [{"title": "with pip", "text": "pip install torch==2.6.0\npip check"}],
        },
    },
    "conflict": {"schema": "gpuwhy.plan/1", "conflict": {"text": "No release fits", "lines": []}},
    "lint": {
        "schema": "gpuwhy.lint/1",
        "counts": {"error": 1, "warning": 0, "unreadable": 0},
        "files": [{"path": "requirements.txt", "mistakes": [MISTAKE]}],
    },
    "fleet": {
        "schema": "gpuwhy.fleet/1",
        "groups": [{"nodes": ["n1", "n2"], "status": "healthy"}],
        "odd": [{"node": "n3", "differs": [{"fact": "driver", "value": "535", "others": "580"}]}],
    },
    "proof": {"schema": "gpuwhy.proof/1", "status": "proven", "headline": "It runs without it"},
    "fit": {"schema": "gpuwhy.fit/1", "headline": "It fits", "shares": [{"parts": [{"bytes": 7}]}]},
}
SENTENCES = {
    "plan": "plan x.json",
    "conflict": "✗ No release fits",
    "lint": "lint x.json",
    "fleet": "fleet x.json",
    "proof": "✓ It runs without it",
    "fit": "It fits",
}


@pytest.mark.parametrize("name", ANSWERS)
def test_the_first_line_is_the_answer(name: str) -> None:
    document = saved.document(ANSWERS[name], "x.json")
    assert terminal.write(document).splitlines()[0].strip() == SENTENCES[name]
    assert html.page(document).startswith("<!doctype html>")


def test_every_value_stands_under_its_name() -> None:
    text = terminal.write(saved.document(ANSWERS["plan"]))
    assert "pip install torch==2.6.0\n" in text
    assert "- package: torch\n" in text
    assert "- rule: no-such-release\n" in terminal.write(saved.document(ANSWERS["lint"]))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=30,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(("headline", "counts", "proposal", "x", "path")), JSON))
def test_whatever_stands_in_a_file_is_drawn(given_values: dict[str, Any]) -> None:
    document = saved.document({**given_values, "schema": "gpuwhy.lint/1"}, "<script>")
    for written in (html.page(document), markdown.write(document), terminal.write(document)):
        assert written


def test_what_would_leave_its_place_stays_in_it() -> None:
    bad = "</title><script>x()</script>"
    rows = [{"node": bad, "differs": [{"fact": bad, "value": bad}]}]
    document = saved.document({"schema": "gpuwhy.fleet/1", "headline": bad, "odd": rows}, bad)
    assert "<script>x" not in html.page(document)
    assert "<script>x" not in markdown.write(document).split("```")[0]
