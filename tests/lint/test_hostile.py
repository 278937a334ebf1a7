"""Files that nobody would write: no crash, no wait, a place for what cannot be read."""

import time

import pytest

from gpuwhy.lint.linter import lint

NAMES = (
    "requirements.txt",
    "Dockerfile",
    "compose.yaml",
    "environment.yml",
    "cog.yaml",
    "a.ipynb",
    "pyproject.toml",
    "install.sh",
)
TEXTS = (
    "",
    "\0\1\2",
    "\ufeff",
    "{" * 5000,
    "[" * 5000,
    "a: " * 5000,
    "- " * 5000,
    "&a [*a, *a]\n",
    "a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
    "FROM " + "$A" * 5000 + "\nRUN pip install " + "a " * 20_000,
    "FROM x\nRUN <<EOF\n",
    "FROM x\nRUN " + "if a; then " * 3000,
    "-r requirements.txt\n" * 50,
    "torch==" + "9" * 5000 + "\n",
    "torch>=1" + ",>=1" * 5000 + "\n",
    "torch; " + "(" * 3000 + "\n",
    "x = 1" + "0" * 5000,
    "a." * 500 + "b = 1",
    "\ud800 torch==1\n",
    "pip install torch " + "'" * 9001,
    "${" * 3000,
    "$(" * 3000,
    '{"cells": [{"cell_type": "code", "source": ["!pip install torch==9\\n"]}]}',
    '{"cells": ' + "[" * 3000,
)


@pytest.mark.parametrize("name", NAMES)
def test_no_text_crashes_or_holds_a_reader(name):
    for text in TEXTS:
        start = time.thread_time()
        lint({name: text}, {name: text}.get)
        assert time.thread_time() - start < 5, text[:40]


def test_a_circle_of_includes_ends():
    files = {"requirements.txt": "-r b.txt\n", "b.txt": "-r requirements.txt\ntorch\n"}
    result = lint({"requirements.txt": files["requirements.txt"]}, files.get)
    assert "includes itself" in result.problems[0].text


def test_what_cannot_be_read_has_its_line():
    result = lint({"requirements.txt": "torch\n\nnumpy=1.2\n"}, lambda _: None)
    assert [(one.place.line, "single =" in one.text) for one in result.problems] == [(3, True)]
