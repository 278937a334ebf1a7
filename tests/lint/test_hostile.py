"""Hostile input: bombs, depth, size, garbage; an answer in time, nothing raised, the other files checked."""

from __future__ import annotations

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.lint.support import check

NAMES = (
    "requirements.txt", "pyproject.toml", "uv.lock", "Pipfile.lock", "conda-lock.yml", "environment.yml", "Dockerfile",
    "compose.yml", "devcontainer.json", "pod.yaml", "install.sh", "setup.ps1", "setup.py", "setup.cfg", "a.ipynb", "cog.yaml",
    ".github/workflows/ci.yml",
)  # fmt: skip
BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(20)
)
HEAD = "apiVersion: v1\nkind: Pod\n"

HOSTILE = {
    "aliases": BOMB,
    "manifest of aliases": HEAD + BOMB + "spec: {containers: *u}\n",
    "alias of itself": HEAD + "spec: &x\n  containers: [*x]\n",
    "deep flow": "[" * 100_000,
    "deep block": "\n".join(" " * n + "a:" for n in range(3000)),
    "deep json": '{"a":' * 100_000,
    "deep toml": "a = " + "[" * 20_000,
    "long line": "torch==" + "1" * 1_000_000,
    "long name": "a" * 1_000_000,
    "digits": 'version = 1\nrequires-python = ">={0}"\n[[package]]\nname = "torch"\nversion = "2.5.1+cu{0}"\n'
    '[[package]]\nname = "numpy"\nversion = "{0}"\n'.format("9" * 5001),
    "many lines": "torch==2.5.1\n" * 100_000,
    "continued forever": "\\\n" * 100_000,
    "quotes": "FROM x\nRUN " + "'\"" * 50_000,
    "dollars": "FROM x\nRUN echo " + "$(" * 40_000,
    "braces": "FROM x\nRUN echo " + "${" * 40_000,
    "operators": "FROM x\nRUN " + "a && " * 40_000,
    "dots": "[[package]]\n" + "a." * 900 + "\n",
    "brackets": "torch[" * 100_000,
    "marker": "torch; " + "(" * 5_000 + "python_version > '3'" + ")" * 5_000,
    "nul": "torch\0==1\n",
    "surrogates": "torch==2.5.1 \udcff\n",
    "separators": "a\u2028b\u0085c\x0bd\x0c\n",
    "comments": "/*" * 50_000,
    "ifs": "if a; then\n" * 20_000,
    "bodies": "f() {\n" * 20_000,
    "python depth": "import modal\nx = " + "(" * 5_000 + ")" * 5_000,
    "python chain": "import modal\nmodal.Image" + ".debian_slim()" * 5_000,
    "notebook": '{"cells": [{"cell_type": "code", "source": ["' + "!pip install x; " * 20_000 + '"]}]}',
    "empty": "",
    "spaces": " " * 100_000,
}


@pytest.mark.parametrize("half", [0, pytest.param(1, marks=pytest.mark.attack)])
@pytest.mark.parametrize("case", HOSTILE)
def test_an_answer_in_time(case, half):
    """Each text under every second name, which are others for the next text; `pytest -m attack` gives it the rest."""
    for name in NAMES[(list(HOSTILE).index(case) + half) % 2 :: 2]:
        start = time.perf_counter()
        result = check({name: HOSTILE[case], "other/requirements.txt": "torch==2.5.2\n"})
        assert time.perf_counter() - start < 60, name
        said = [m.rule for m in result.mistakes if m.place.path.startswith("other/")]
        assert said == ["no-such-release"], name


def test_ten_megabytes():
    line = "some-package==1.2.3  # a comment\n"
    start = time.perf_counter()
    result = check({"requirements.txt": line * (10_000_000 // len(line)) + "torch==2.5.2\n"})
    assert [m.rule for m in result.mistakes] == ["no-such-release"]
    assert time.perf_counter() - start < 120


def test_a_text_past_the_limit_is_refused():
    problem = check({"requirements.txt": "a\n" * 17_000_000}).problems[0]
    assert "more than 32000000" in problem.text


FRAGMENTS = st.sampled_from(
    ["FROM", "nvidia/cuda:12.4.1-base", "RUN", "pip install", "torch==2.5.1", "\\\n", "\n", "&&", "<<EOF", "EOF", "services:",
     "  a:", "image:", "-", "[[package]]", 'name = "torch"', "{", "}", "[", "]", '"', "'", "$", "apiVersion: v1", "kind: Pod",
     "containers:", "*a", "&a", "dependencies:", "#", " ", "\t", "=", ":", "tensorflow[and-cuda]", ";", "python_version < '3'"]
)  # fmt: skip


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(NAMES), st.one_of(st.text(max_size=300), st.lists(FRAGMENTS, max_size=40).map("".join)))
def test_nothing_is_raised(name, text):
    result = check({name: text})
    assert len(result.files) >= 1
