"""Whole answers as they are printed: `GPUWHY_GOLDEN=write pytest tests/answer` draws them again."""

import os
from pathlib import Path

import pytest

from gpuwhy.answer import markdown
from gpuwhy.answer.blocks import document
from gpuwhy.answer.terminal import Paper, height, write
from tests.answer.examples import ANSWERS, DOCUMENTS

GOLDEN = Path(__file__).parent / "golden"
SHORT = {name: document(answer) for name, answer in ANSWERS.items()} | DOCUMENTS
VERBOSE = {name: document(answer, 1) for name, answer in ANSWERS.items()}
MOST = {"explain-undecided": 16, "check-healthy": 12, "check-broken": 20, "fit": 20}


def same(name: str, text: str) -> None:
    """Compare with the golden file, or write it."""
    file = GOLDEN / name
    if os.environ.get("GPUWHY_GOLDEN") == "write":
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SHORT)
def test_short_and_of_few_lines(name):
    same(f"{name}.txt", write(SHORT[name]))
    assert height(SHORT[name]) <= MOST.get(name, 12)


@pytest.mark.parametrize("name", VERBOSE)
def test_verbose(name):
    same(f"{name}.verbose.txt", write(VERBOSE[name]))


@pytest.mark.parametrize("name", ["check-broken", "explain-undecided", "fit"])
def test_markdown_and_ascii(name):
    same(f"{name}.md", markdown.write(VERBOSE.get(name) or DOCUMENTS[name]))
    text = write(SHORT[name], Paper(unicode=False))
    assert text.isascii()
    same(f"{name}.ascii.txt", text)


def test_what_decides_is_said_in_one_line_where_nothing_can_be_done():
    assert write(SHORT["explain-not-gpu"]) == "✗ Not a GPU problem: KeyError 'lr' at train.py:41\n"
