"""A cause's page in the terminal: folded to the width, nothing lost, commands whole."""

from __future__ import annotations

import re

import pytest

from gpuwhy.app import CAUSES, page
from gpuwhy.render.page import render
from gpuwhy.render.terminal import Paper

PAGES = {cause.id: page(cause.id) or "" for cause in CAUSES}


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_lost(name):
    for width in (80, 50):
        assert render(PAGES[name], Paper(width)).split() == PAGES[name].split()


@pytest.mark.parametrize("name", PAGES)
def test_only_code_is_wider_than_the_terminal(name):
    text = render(PAGES[name], Paper(80))
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert [line for line in prose.splitlines() if len(line) > 80 and not line.strip(" ,.;()").startswith("`")] == []


def test_a_command_stays_on_one_line_and_a_message_is_folded():
    long = " ".join(["word"] * 30)
    text = f"# x\n\n## What you see\n\n- PyTorch: `{long}`\n\n## Fix\n\n1. Run\n   `{long}` now,\n   then look again.\n"
    lines = render(text, Paper(80)).splitlines()
    assert f"   `{long}` now,".removesuffix(" now,") in lines
    assert [len(line) <= 80 for line in lines].count(False) == 1
    assert lines[-1] == "   now, then look again."


def test_code_blocks_tables_and_headings_are_left_as_they_are():
    kept = ["## " + "long " * 30, "| a |  b |", "```", "x" * 100, "- no list", "```", "    indented  code"]
    assert render("\n\n".join(kept), Paper(60)) == "\n\n".join(line for line in kept) + "\n"
