"""Markdown for issues: short, folded, and nothing from outside formats, mentions or links."""

from __future__ import annotations

import re

import pytest

from gpuwhy.page.markdown import MOST, block, code, render, said
from tests.page import forms
from tests.page.injections import STRINGS


@pytest.mark.parametrize("name", forms.NAMES)
def test_every_form_is_short_and_closes_what_it_opens(name):
    text = render(*forms.small()[name])
    lines = text.splitlines()
    assert len(lines) <= MOST
    assert lines.count("<details>") == lines.count("</details>")
    assert sum(line.startswith("```") for line in lines) % 2 == 0


def test_a_report_of_many_lines_is_cut_and_still_closed():
    values, log = forms.small()["explain"]
    values = {**values, "causes": [{**values["causes"][0], "because": [{"text": f"line {n}"} for n in range(3)],
              "fixes": [{"text": "x", "command": "a\n" * 12}] * 2}] * 2,
              "ruled_out": [{"id": f"a.{n}", "because": "b"} for n in range(500)],
              "unseen": ["x"] * 50,
              "facts": {"target": {"distributions": {"state": "known", "value": [
                  {"name": f"nvidia-{n}", "version": "1"} for n in range(900)]}}}}  # fmt: skip
    lines = render(values, log * 3).splitlines()
    assert len(lines) <= MOST
    assert lines.count("<details>") == lines.count("</details>") >= 2
    assert sum(line.startswith("```") for line in lines) % 2 == 0


def test_a_text_formats_mentions_and_links_nothing():
    assert said("see @torvalds in #12 https://evil.invalid **x** <img> a|b") == (
        r"see @<!-- -->torvalds in \#<!-- -->12 https:<!-- -->//evil.invalid \*\*x\*\* \<img\> a\|b"
    )
    assert code("a`b``c") == "```a`b``c```"
    assert code("`x") == "`` `x ``"
    for one in STRINGS:
        assert "\n" not in said(one)
        assert not re.search(r"(?<!\\)<(?!!-- -->)", said(one))
        fence, *inside, end = block([one])
        assert fence == end
        assert not [line for line in inside if line.startswith(fence)]


def test_the_project_comes_first_with_its_own_libraries():
    values, log = forms.small()["host"]
    text = render(values, log, "jax")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert rows[2].startswith("| JAX")
    assert "libtorch" not in text
    assert "libtorch" in render(values, log, "torch")


def test_a_rank_that_others_waited_for_is_not_said_to_have_failed():
    ranks = [{"name": "rank 0", "ended": "waited"}, {"name": "rank 1", "ended": "silent"}]
    text = render({"schema": "gpuwhy.ranks/1", "first": ["rank 1"], "ranks": ranks})
    assert "failed first" not in text
    assert "waited for" in text.splitlines()[0]
