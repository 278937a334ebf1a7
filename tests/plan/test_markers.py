"""Markers are read for the machine, and printed so that shells and files read them again; a folder is no package."""

from __future__ import annotations

import json
import shlex
import time

import pytest
import tomllib
from packaging.requirements import Requirement

from gpuwhy.model.plan import Machine, Plan, Wish
from gpuwhy.plan.answer import plan
from gpuwhy.plan.ways import quoted
from gpuwhy.plan.wishes import WishError, from_file, from_words

LINUX = Machine(python="3.10", fixed_python=True, driver="550")
WINDOWS = Machine("windows", python="3.10", fixed_python=True, driver="550")


def of_file(text: str) -> list[Wish]:
    return from_file("r.txt", lambda _: text)


def way(made: Plan, kind: str) -> str:
    assert made.proposal is not None
    return next(one.text for one in made.proposal.ways if one.kind == kind)


MARKED = 'urllib3>=2.5.0 ; python_version > "3.8"'


@pytest.mark.parametrize("machine", [LINUX, WINDOWS])
@pytest.mark.parametrize("kind", ["uv", "pip"])
def test_a_marker_comes_back_out_of_a_printed_command(machine, kind):
    line = way(plan(of_file(f"torch\n{MARKED}\n"), machine), kind).splitlines()[-1]
    word = next(word for word in shlex.split(line) if word.startswith("urllib3"))
    assert Requirement(word) == Requirement(MARKED)


def test_a_marker_comes_back_out_of_every_written_file():
    made = plan(of_file(f"torch\n{MARKED}\n"), LINUX)
    project = tomllib.loads(way(made, "pyproject"))["project"]["dependencies"]
    assert Requirement(MARKED) in [Requirement(text) for text in project]
    rows = [row.strip() for row in way(made, "conda").splitlines() if "urllib3" in row]
    assert [Requirement(json.loads(row.removeprefix("- "))) for row in rows] == [Requirement(MARKED)]
    assert Requirement(MARKED) in [Requirement(t) for t in way(made, "requirements").splitlines() if "urllib3" in t]


@pytest.mark.parametrize(
    "word", ['a"b', "a$b", "a`b", "a&b", "a b", "it's", "a|b", "x @ git+ssh://h/r#egg=x&y=1", "a(b"]
)
def test_every_word_comes_back_out_of_a_shell(word):
    assert shlex.split(quoted([word, "b"])) == [word, "b"]


def test_lines_whose_markers_exclude_each_other_are_not_one_demand():
    text = (
        "torch==2.4.1; sys_platform == 'darwin'\ntorch==2.5.1; sys_platform != 'darwin'\n"
        "numpy<2; python_version < '3.9'\n"
    )
    made = plan(of_file(text), LINUX).proposal
    assert made is not None
    assert [choice.requirement for choice in made.choices] == ["torch==2.5.1"]
    assert "numpy" not in {wish.name for wish in made.others}


def test_lines_for_two_pythons_are_read_for_the_one_there_is():
    text = "torch==1.13.1; python_version < '3.9'\ntorch==2.5.1; python_version >= '3.9'\n"
    old = plan(of_file(text), Machine(python="3.8", fixed_python=True)).proposal
    assert old is not None
    assert old.choices[0].version == "1.13.1"
    free = plan(of_file(text), Machine()).proposal
    assert free is not None
    assert free.choices[0].version == "2.5.1"


@pytest.mark.parametrize("text", ["torch; sys_platform == 'darwin'", "torch; sys_platform == 'darwin'\nnumpy"])
def test_a_marker_that_leaves_nothing_is_said(text):
    with pytest.raises(
        WishError, match=r"torch is asked for only where sys_platform == 'darwin'.*Linux with Python 3\.10"
    ):
        plan(of_file(text), LINUX)


@pytest.mark.parametrize("line", [".", "..", ".[dev]", "./sub", "../other[extra]", "-e ."])
def test_a_folder_is_left_to_the_installer(line):
    made = plan(of_file(f"torch\n{line}\n"), LINUX)
    assert line in shlex.split(way(made, "uv")) or way(made, "uv").endswith(line)
    assert line in way(made, "requirements").splitlines()
    names = [Requirement(text).name for text in tomllib.loads(way(made, "pyproject"))["project"]["dependencies"]]
    assert names == ["torch"]
    assert line not in shlex.split(way(made, "docker").splitlines()[-1]), "the image has no such folder"


def test_ten_thousand_unknown_packages_are_a_matter_of_two_seconds():
    words = [f"package{n}=={n}.0" for n in range(10_000)]
    start = time.process_time()
    made = plan(from_words([*words, "torch"]), LINUX).proposal
    assert made is not None
    assert len(made.others) == 10_000
    assert time.process_time() - start < 2
    with pytest.raises(WishError) as told:
        plan(from_words(words), LINUX)
    assert "and 9992 more" in str(told.value)
    assert len(str(told.value)) < 300
