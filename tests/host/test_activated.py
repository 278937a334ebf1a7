"""What an environment's activation exports, seen in a shell of its own."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gpuwhy.host.activated import MOST, PYTHON, exported, tried
from gpuwhy.host.live import LiveHost
from gpuwhy.host.recording import RecordingHost

PLAIN = {"PATH": os.environ["PATH"], "HOME": "/root"}


@pytest.mark.parametrize(
    ("script", "given", "told"),
    [
        ("export XLA_FLAGS='--a --b'; LOCAL=1", {}, {"XLA_FLAGS": "--a --b"}),
        (
            'export LD_LIBRARY_PATH="$VIRTUAL_ENV/lib:$LD_LIBRARY_PATH"',
            {"LD_LIBRARY_PATH": "/x"},
            {"LD_LIBRARY_PATH": "/v/lib:/x"},
        ),
        ("if [ -d / ]; then export A=$(printf b); fi", {}, {"A": "b"}),
        (
            "export LD_LIBRARY_PATH=/nowhere LD_PRELOAD=/nowhere/x.so",
            {},
            {"LD_LIBRARY_PATH": "/nowhere", "LD_PRELOAD": "/nowhere/x.so"},
        ),
        ("export SAME=1 PATH=/v/bin:$PATH PS1=x", {"SAME": "1"}, {}),
        ("echo said; echo more >&2; false", {}, {}),
        ("exit 3", {}, None),
    ],
)
def test_what_a_script_exports(tmp_path: Path, script: str, given: dict[str, str], told: dict[str, str] | None) -> None:
    (tmp_path / "activate").write_text(f"VIRTUAL_ENV=/v\nexport VIRTUAL_ENV\n{script}\n")
    found = exported([str(tmp_path / "activate")], {**PLAIN, **given})
    assert (found and {name: value for name, value in found.items() if name != PYTHON}) == told


def test_which_python_it_is_in_that_shell(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to("/bin/sh")
    (tmp_path / "activate").write_text(f"PATH={tmp_path}/bin:$PATH\n")
    assert exported([str(tmp_path / "activate")], PLAIN) == {PYTHON: f"{tmp_path}/bin/python"}


def test_what_conda_keeps_comes_before_its_scripts(tmp_path: Path) -> None:
    state, script = tmp_path / "conda-meta" / "state", tmp_path / "x.sh"
    state.parent.mkdir()
    state.write_text(json.dumps({"env_vars": {"JAX_PLATFORMS": "cpu", "A": "1"}}))
    script.write_text("export A=$A$A\n")
    assert (exported([str(state), str(script)], PLAIN) or {}).items() >= {"JAX_PLATFORMS": "cpu", "A": "11"}.items()


def test_after_it_all_is_answered_as_in_that_shell(tmp_path: Path) -> None:
    (tmp_path / "activate").write_text("export JAX_PLATFORMS=cpu HF_TOKEN=secret\n")
    host = RecordingHost(LiveHost(dict(PLAIN), runs=True))
    assert "JAX_PLATFORMS" not in (host.environ().need() or {})
    told = host.activated(str(tmp_path / "activate")).need() or {}
    assert (told["JAX_PLATFORMS"], "HF_TOKEN" in told) == ("cpu", False)
    assert (host.environ().need() or {})["JAX_PLATFORMS"] == "cpu"
    assert b"secret" not in host.dump({})


def test_a_script_that_leaves_the_shell_tells_nothing(tmp_path):
    script = tmp_path / "activate"
    script.write_text("export A=1\nexit 0\n")
    assert exported([str(script)], PLAIN) is None


@pytest.mark.parametrize("kind", ["pipe", "large", "deep", "list"])
def test_a_hostile_state_of_conda_is_as_good_as_none(tmp_path, kind):
    state = tmp_path / "conda-meta" / "state"
    state.parent.mkdir()
    if kind == "pipe":
        os.mkfifo(state)
    else:
        state.write_text({"large": " " * (MOST + 1), "deep": "[" * 200_000, "list": "[1]"}[kind])
    assert "A" not in (exported([str(state)], PLAIN) or {})


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("export A=1\n", []),
        ("echo said; echo more >&2; false\n", []),
        ("export A=1\r\nif true; then\r\n  :\r\nfi\r\n", ["said"]),
        ("nothing_of_the_kind --x\n", ["said"]),
        ('export A="${NEVER_SET_HERE} b"\n', ["unbound"]),
        ('export A="${NEVER_SET_HERE:-} b"\n', []),
        ("ulimit -S -n 32\n", ["limit\tNOFILE\t32"]),
        ("exit 3\n", ["ends"]),
    ],
)
def test_what_goes_wrong_in_a_shell(tmp_path: Path, script: str, told: list[str]) -> None:
    """Bash's own complaints count, not what programs print; unset variables where the caller has `set -u`."""
    (tmp_path / "activate").write_bytes(script.encode())
    found = tried([str(tmp_path / "activate")], PLAIN)
    assert found is not None
    left = [one for one in found if not one.startswith("python\t")]
    assert len(left) >= len(told)
    assert bool(left) is bool(told)
    assert all(any(one.startswith(word) for one in left) for word in told)
