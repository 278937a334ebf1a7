"""What a fix tells people to paste must mean to the shell what we meant."""

from __future__ import annotations

import shlex

import msgspec
import pytest

from gpuwhy.model.facts import Facts
from gpuwhy.rooms.shared.commands import install, requirement, uninstall, word

from .facts import base, change


def machine(**changes: object) -> Facts:
    plain = base("healthy")
    for path, value in changes.items():
        change(plain, path.replace("__", "."), value)
    return msgspec.convert(plain, type=Facts)


@pytest.mark.parametrize("path", ["/usr/lib", "~/venv/lib", "/a b/c", "~/my env/$(reboot)", "/x;rm -rf ~", "~", "~/"])
def test_a_path_stays_one_word(path):
    assert shlex.split(word(path)) == [path]


def test_only_the_home_sign_stays_open():
    assert word("~/a b") == "~/'a b'"


@pytest.mark.parametrize("text", ["tensorflow[and-cuda]==2.21.0", "x$(reboot)==1", 'x"; reboot'])
def test_a_requirement_stays_one_word(text):
    quoted = requirement(text)
    assert shlex.split(quoted) == [text]
    assert "$(" not in quoted or quoted.startswith("'")


def test_the_targets_own_python_installs():
    assert install(machine(), "torch==2.11.0") == '~/venv/bin/python -m pip install "torch==2.11.0"'
    assert "--force-reinstall --no-deps --no-cache-dir" in install(machine(), "torch==2.11.0", again=True)


def test_what_uv_installed_uv_replaces():
    facts = machine(target__distributions__0__installer={"known": "uv"})
    assert install(facts, "a", "b", because_of="torch") == 'uv pip install --python ~/venv/bin/python "a" "b"'
    assert uninstall(facts, "torch") == "uv pip uninstall --python ~/venv/bin/python torch"


def test_what_is_new_is_installed_by_uv_where_there_is_no_pip():
    facts = machine(target__distributions__0__installer={"known": "uv"})
    assert all(d.name != "pip" for d in facts.target.distributions.need() or ())
    assert install(facts, "nvidia-cublas-cu12").startswith("uv pip install --python")
    assert install(machine(), "nvidia-cublas-cu12").startswith("~/venv/bin/python -m pip")


def test_what_lies_beside_the_environment_is_changed_there():
    facts = machine(target__distributions__0__location="/work/__pypackages__/3.12/lib/torch-2.11.0.dist-info")
    assert " --target /work/__pypackages__/3.12/lib " in install(facts, "torch==2.11.0")
    assert "--target" not in install(facts, "numpy")


def test_without_an_interpreter_it_is_just_python():
    assert install(Facts(), "torch") == 'python -m pip install "torch"'
