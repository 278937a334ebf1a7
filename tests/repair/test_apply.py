"""`gpuwhy fix --apply` on real environments of tiny wheels: copy, in place, undo, failures, interruptions, refusals."""

from __future__ import annotations

import json
import os
import pty
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests import started

from . import wheels

pytestmark = [pytest.mark.skipif(not wheels.UV, reason="no uv"), pytest.mark.no_gpu]


class World:
    """An index of tiny wheels and the folder of environments."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.links = wheels.index(folder / "links")
        self.environ = wheels.variables(folder, self.links)

    def fix(self, *argv: str, **more: str) -> subprocess.CompletedProcess:
        return started.gpuwhy(["fix", *argv], env={**self.environ, **more}, timeout=120)

    def damaged(self, name: str = "env") -> Path:
        env = wheels.environment(self.folder / name, self.environ, "nvidia-cudnn-cu12", "tiny==1.0")
        wheels.damage(env)
        return env


@pytest.fixture
def world(tmp_path) -> World:
    return World(tmp_path)


def test_the_steps_are_shown_and_nothing_is_touched(world):
    env = world.damaged()
    before = wheels.tree(env)
    done = world.fix("--python", str(env))
    assert done.returncode == 1, done.stderr
    assert "· Install nvidia-cudnn-cu12 again" in done.stdout
    assert "(install.corrupted)" in done.stdout
    assert "gpuwhy fix --apply carries out step" in done.stdout
    assert wheels.tree(env) == before
    assert sorted(p.name for p in world.folder.glob("env*")) == ["env"]


def test_a_copy_is_made_with_the_same_releases_and_the_old_one_stays(world):
    env = world.damaged()
    before = wheels.tree(env)
    done = world.fix("--python", str(env), "--apply", "--yes", "--json")
    assert done.returncode == 0, done.stderr
    applied = json.loads(done.stdout)["applied"]
    made = Path(applied["environment"])
    assert made == world.folder / "env-gpuwhy"
    assert applied["before"]["causes"] == ["install.corrupted"]
    assert applied["after"]["causes"] == []
    assert wheels.tree(env) == before
    assert wheels.releases(made) == wheels.releases(env) == {"nvidia_cudnn_cu12-9.27.0.5", "tiny-1.0"}
    assert (wheels.site(made) / wheels.CUDNN).read_bytes() == wheels.LIBRARY
    assert not (made / "gpuwhy-unfinished").exists()
    subprocess.run(["bash", "-c", applied["undo"][0]], check=True)
    assert not made.exists()


def test_nothing_is_overwritten(world):
    env = world.damaged()
    (world.folder / "env-gpuwhy").mkdir()
    (world.folder / "env-gpuwhy" / "mine").write_text("kept")
    done = world.fix("--python", str(env), "--apply", "--yes", "--json", UV_VENV_CLEAR="1")
    assert json.loads(done.stdout)["applied"]["environment"] == str(world.folder / "env-gpuwhy-2")
    assert (world.folder / "env-gpuwhy" / "mine").read_text() == "kept"
    there = world.fix("--python", str(env), "--apply", "--yes", "--into", str(env))
    assert there.returncode == 2
    assert "nothing is ever overwritten" in there.stderr


def test_in_place_and_back_again(world):
    env = wheels.environment(world.folder / "env", world.environ, "onnxruntime-gpu", "onnxruntime", "tiny==1.0")
    before = wheels.releases(env)
    done = world.fix("install.conflict", "--python", str(env), "--apply", "--yes", "--in-place", "--json")
    assert done.returncode == 0, done.stderr
    applied = json.loads(done.stdout)["applied"]
    assert wheels.releases(env) == {"onnxruntime_gpu-1.31.1", "tiny-1.0"}
    library = wheels.site(env) / "onnxruntime/capi/onnxruntime_pybind11_state.so"
    assert library.read_bytes().endswith(b"gpu")
    assert applied["changed"] == ["onnxruntime 1.31.1 → –"]
    assert applied["after"]["causes"] == []
    (listed,) = env.glob("gpuwhy-before-*.txt")
    assert "tiny==1.0" in listed.read_text().splitlines()
    subprocess.run(["bash", "-c", applied["undo"][0]], check=True, env=world.environ, capture_output=True)
    assert wheels.releases(env) == before


def test_pip_does_it_where_there_is_no_uv(world):
    env = world.damaged()
    before = wheels.tree(env)
    done = world.fix("--python", str(env), "--apply", "--yes", "--installer", "pip")
    assert done.returncode == 0, done.stderr
    made = world.folder / "env-gpuwhy"
    assert "$ python -m venv" in done.stderr
    assert "$ uv" not in done.stderr
    assert wheels.releases(made) >= {"nvidia_cudnn_cu12-9.27.0.5", "tiny-1.0"}
    assert (wheels.site(made) / wheels.CUDNN).read_bytes() == wheels.LIBRARY
    assert wheels.tree(env) == before


def test_a_cause_that_is_only_possible_is_carried_out_when_it_is_named(world):
    env = wheels.environment(world.folder / "env", world.environ, "onnxruntime-gpu", "onnxruntime")
    unnamed = world.fix("--python", str(env), "--apply", "--yes")
    assert unnamed.returncode == 4
    assert "gpuwhy fix install.conflict --apply" in unnamed.stderr
    assert not (world.folder / "env-gpuwhy").exists()
    named = world.fix("install.conflict", "--python", str(env), "--apply", "--yes")
    assert named.returncode == 0, named.stderr
    assert wheels.releases(world.folder / "env-gpuwhy") == {"onnxruntime_gpu-1.31.1"}


def test_a_failing_installer_leaves_everything_as_it_was(world):
    env = world.damaged()
    before = wheels.tree(env)
    for file in world.links.glob("nvidia_cudnn_cu12-*"):
        file.unlink()
    (world.folder / "cache").rename(world.folder / "cache-away")
    done = world.fix("--python", str(env), "--apply", "--yes")
    assert done.returncode == 1
    assert "ended with code" in done.stdout
    assert "was removed again" in " ".join(done.stdout.split())
    assert not (world.folder / "env-gpuwhy").exists()
    assert wheels.tree(env) == before


def test_in_place_is_rehearsed_first(world):
    env = wheels.environment(world.folder / "env", world.environ, "onnxruntime-gpu", "onnxruntime")
    before = wheels.tree(env)
    (world.links / "onnxruntime_gpu-1.31.1-py3-none-any.whl").unlink()
    (world.folder / "cache").rename(world.folder / "cache-away")
    done = world.fix("install.conflict", "--python", str(env), "--apply", "--yes", "--in-place")
    assert done.returncode == 1
    assert "That was a rehearsal" in " ".join(done.stdout.split())
    assert wheels.tree(env) == before


SLOW_UV = """#!/bin/sh
case "$*" in
*--no-deps*) sleep 61 & echo $! > "{pid}"; wait ;;
*) exec "{uv}" "$@" ;;
esac
"""


def slow(world: World) -> tuple[str, Path]:
    """A uv that never ends when it installs."""
    folder, pid = world.folder / "slow", world.folder / "pid"
    folder.mkdir()
    (folder / "uv").write_text(SLOW_UV.format(pid=pid, uv=wheels.UV))
    (folder / "uv").chmod(0o755)
    return f"{folder}:{world.environ['PATH']}", pid


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interruption_removes_the_half_made_copy(world, number):
    env = world.damaged()
    before = wheels.tree(env)
    path, pid = slow(world)
    argv = [sys.executable, "-m", "gpuwhy", "fix", "--python", str(env), "--apply", "--yes"]
    child = subprocess.Popen(argv, env={**world.environ, "PATH": path}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 30
    while not (pid.exists() and pid.read_text().strip()) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert (world.folder / "env-gpuwhy" / "gpuwhy-unfinished").exists()
    child.send_signal(number)
    out, _ = child.communicate(timeout=30)
    assert child.returncode == 130
    assert "interrupted" in out.decode()
    assert not (world.folder / "env-gpuwhy").exists()
    assert wheels.tree(env) == before
    assert not alive(int(pid.read_text())), "what the installer started is ended too"


def test_an_installer_that_never_ends_is_stopped(world):
    env = world.damaged()
    path, pid = slow(world)
    done = world.fix("--python", str(env), "--apply", "--yes", "--time-limit", "3", PATH=path)
    assert done.returncode == 1
    assert "had not ended after 3 seconds" in " ".join(done.stdout.split())
    assert not (world.folder / "env-gpuwhy").exists()
    assert not pid.exists() or not alive(int(pid.read_text()))  # on a busy machine it may not have begun


@pytest.mark.parametrize("answer, code, made", [("y", 0, True), ("n", 1, False), ("", 1, False)])
def test_it_asks_on_a_terminal(world, answer, code, made):
    env = world.damaged()
    ours, theirs = pty.openpty()
    argv = [sys.executable, "-m", "gpuwhy", "fix", "--python", str(env), "--apply"]
    child = subprocess.Popen(argv, env=world.environ, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.write(ours, f"{answer}\n".encode())
    _, err = child.communicate(timeout=60)
    os.close(ours)
    os.close(theirs)
    assert child.returncode == code
    assert b"Install nvidia-cudnn-cu12 again" in err
    assert b"Go on? [y/N]" in err
    assert (world.folder / "env-gpuwhy").exists() is made


def test_without_a_terminal_it_refuses(world):
    env = world.damaged()
    done = world.fix("--python", str(env), "--apply")
    assert done.returncode == 2
    assert "add --yes" in done.stderr
    assert not (world.folder / "env-gpuwhy").exists()


def test_another_machine_is_never_changed(world):
    env = world.damaged()
    recording = world.folder / "host.json"
    argv = [sys.executable, "-m", "gpuwhy", "record", "--python", str(env), "-o", str(recording)]
    subprocess.run(argv, env=world.environ, check=True, capture_output=True)
    steps = world.fix("--from", str(recording))
    assert "Install nvidia-cudnn-cu12 again" in steps.stdout
    for option in (("--from", str(recording)), ("--root", str(world.folder))):
        done = world.fix(*option, "--apply", "--yes")
        assert done.returncode == 2
        assert "is another one" in done.stderr


def test_a_conda_environment_is_cloned_by_conda(world):
    env = world.damaged()
    (env / "pyvenv.cfg").unlink()
    (env / "conda-meta").mkdir()
    (env / "conda-meta" / "python-3.11.7-h0_0.json").write_text("{}")
    done = world.fix("--python", str(env), "--apply", "--yes")
    assert done.returncode == 2, done.stdout
    assert f"conda create --prefix {env}-gpuwhy --clone {env}" in done.stderr


def test_a_half_made_copy_of_an_earlier_call_is_named(world):
    env = world.damaged()
    (world.folder / "env-gpuwhy").mkdir()
    (world.folder / "env-gpuwhy" / "gpuwhy-unfinished").write_text("")
    (world.folder / "uv.lock").write_text("")
    done = world.fix("--python", str(env), "--json")
    notes = " ".join(json.loads(done.stdout)["notes"])
    assert "is a half-made copy" in notes
    assert "uv.lock" in notes


def test_variables_that_redirect_an_installer_are_not_passed_on(world):
    env = world.damaged()
    away = world.folder / "away"
    strays = {"PIP_TARGET": str(away), "PIP_PREFIX": str(away), "PYTHONPATH": str(away), "UV_SYSTEM_PYTHON": "1"}
    done = world.fix("--python", str(env), "--apply", "--yes", **strays)
    assert done.returncode == 0, done.stderr
    assert not away.exists()
    assert (wheels.site(world.folder / "env-gpuwhy") / wheels.CUDNN).exists()


@pytest.mark.parametrize("argv, said", [
    (("--yes",), "--yes goes with --apply"),
    (("--in-place",), "--in-place goes with --apply"),
    (("--apply", "--in-place", "--into", "x"), "choose one"),
    (("--take", "install.conflict"), "expected a cause and the number"),
    (("driver.missing",), "is not among the causes"),
    (("--take", "install.corrupted=9"), "install.corrupted=9: it has"),  # one more where the disk is nearly full
    (("--apply", "--time-limit", "-1"), "expected a number of seconds"),
])  # fmt: skip
def test_bad_usage_is_said(world, argv, said):
    env = world.damaged()
    done = world.fix("--python", str(env), *argv)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_path_with_blanks_and_quotes(world):
    env = world.damaged("it's an env")
    done = world.fix("--python", str(env), "--apply", "--yes", "--json")
    assert done.returncode == 0, done.stderr
    applied = json.loads(done.stdout)["applied"]
    assert shlex.split(applied["undo"][0]) == ["rm", "-r", f"{env}-gpuwhy"]
    assert wheels.releases(Path(f"{env}-gpuwhy")) == wheels.releases(env)


def test_folders_of_the_old_environment_become_those_of_the_copy(world):
    from gpuwhy.app import Options, Run, live_host
    from gpuwhy.model.repair import Action
    from gpuwhy.repair.apply import into_copy
    from gpuwhy.repair.installer import Installer
    from gpuwhy.repair.patient import patient

    env = wheels.environment(world.folder / "env", world.environ, "tiny==1.0")
    host = live_host()
    one = patient(host, Run(host, Options(python=str(env))).facts, in_place=False)
    folders = (f"{env}/lib/x", "/usr/lib/y", f"{env}-other/z")
    made = into_copy(one, [Action(folders=folders)], Installer(world.environ, 60, lambda _: None), f"{env}-copy")
    assert made.path == {"LD_LIBRARY_PATH": f"{env}-copy/lib/x:/usr/lib/y:{env}-other/z"}
    script = f'source "{env}-copy/bin/activate"; printf %s "$LD_LIBRARY_PATH"'
    clean = {"PATH": "/usr/bin:/bin"}
    done = subprocess.run(["bash", "-c", script], env=clean, capture_output=True, text=True, check=True)
    assert done.stdout == made.path["LD_LIBRARY_PATH"]
    assert "gpuwhy" not in (env / "bin" / "activate").read_text().replace(str(env), "")
