"""Folders that are claimed, leftovers of killed calls, two repairs at once, what changes meanwhile, worse outcomes."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gpuwhy.repair import claim as claims
from gpuwhy.repair.child import FailedError, run
from gpuwhy.repair.claim import claim, half_made, held, sweep
from gpuwhy.repair.patient import RefusedError
from gpuwhy.repair.reasons import reason

from . import wheels
from .test_apply import World, alive, slow

pytestmark = pytest.mark.no_gpu

needs_uv = pytest.mark.skipif(not wheels.UV, reason="no uv")


@pytest.fixture
def world(tmp_path) -> World:
    return World(tmp_path)


def test_a_claimed_folder_is_marked_from_its_first_moment(tmp_path):
    one = claim(str(tmp_path / "env"))
    assert [p.name for p in Path(one.folder).iterdir()] == ["gpuwhy-unfinished"]
    assert one.folder == str(tmp_path / "env-gpuwhy")
    assert half_made(str(tmp_path / "env")) == [], "its maker lives"
    assert claim(str(tmp_path / "env")).folder.endswith("-gpuwhy-2")
    one.finish()
    assert list(Path(one.folder).iterdir()) == []


def test_many_claim_at_once_and_none_gets_anothers_folder(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(lambda _: claim(str(tmp_path / "env")), range(16)))
    assert len({one.folder for one in got}) == 16
    assert all(one.give_up() for one in got)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_call_left_is_swept_and_nothing_else(tmp_path):
    env = str(tmp_path / "env")
    live, dead = claim(env), claim(env)
    (Path(dead.folder) / "lib").mkdir()
    os.close(dead._lock)  # as the end of its process does
    mine = tmp_path / "env-gpuwhy-3"
    mine.mkdir()
    assert sweep(env) == [dead.folder]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["env-gpuwhy", "env-gpuwhy-3"]
    assert live.give_up()


def test_what_was_left_before_it_had_its_name_goes_too(tmp_path):
    stage = tmp_path / ".env-gpuwhy.abc.claim"
    stage.mkdir()
    (tmp_path / ".env-gpuwhy-2.x.claim").mkdir()
    (stage / "gpuwhy-unfinished").write_text("")
    os.utime(tmp_path / ".env-gpuwhy-2.x.claim", (1, 1))
    (tmp_path / ".env-gpuwhy.new.claim").mkdir()
    sweep(str(tmp_path / "env"))
    assert [p.name for p in tmp_path.iterdir()] == [".env-gpuwhy.new.claim"]


def test_lists_of_a_killed_call_in_place_go_and_the_way_back_stays(tmp_path):
    for name in ("gpuwhy-ab12cd_9.txt", "gpuwhy-before-20261115-101010.txt"):
        (tmp_path / name).write_text("")
    with held(str(tmp_path)):
        pass
    assert [p.name for p in tmp_path.iterdir()] == ["gpuwhy-before-20261115-101010.txt"]


def test_a_deletion_that_is_cut_short_leaves_a_marked_folder(tmp_path, monkeypatch):
    one = claim(str(tmp_path / "env"))
    (Path(one.folder) / "lib").mkdir()
    monkeypatch.setattr(claims.shutil, "rmtree", lambda *_, **__: None)
    assert not one.give_up()
    assert half_made(str(tmp_path / "env")) == [one.folder]


def test_in_place_one_at_a_time(tmp_path):
    with held(str(tmp_path)):
        assert claims.being_changed(str(tmp_path))
        with pytest.raises(RefusedError, match="another gpuwhy fix"), held(str(tmp_path)):
            pass
    assert not claims.being_changed(str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_where_nothing_can_be_made_is_said(tmp_path):
    with pytest.raises(RefusedError, match="--into names another folder"):
        claim(str(tmp_path / "missing" / "env"))


def test_a_command_does_not_outlive_a_killed_parent(tmp_path):
    pid = tmp_path / "pid"
    code = (
        "from gpuwhy.repair.child import run\n"
        f"run(['/bin/sh', '-c', 'sleep 61 & echo $! > {pid}; wait'], {{'PATH': '/usr/bin:/bin'}}, 60.0)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code])
    _until(lambda: pid.exists() and pid.read_text().strip())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    _until(lambda: not alive(int(pid.read_text())))


def _until(true) -> None:
    deadline = time.monotonic() + 30
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_last_words_are_kept_and_passed_on(tmp_path):
    reader, writer = os.pipe()
    with pytest.raises(FailedError, match="the disk is full"):
        run(["/bin/sh", "-c", "echo; echo 'No space left on device (os error 28)' >&2; exit 2"], {}, 10.0, writer)
    assert b"os error 28" in os.read(reader, 1000)


@pytest.mark.parametrize("said, kind, words", [
    ("error: No space left on device (os error 28)", "disk", "the disk is full"),
    ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "disk", "--into"),
    ("Caused by: dns error: failed to lookup address: Temporary failure in name resolution", "network", "proxy"),
    ("× No solution found when resolving dependencies:\n╰─▶ Because there is no version of torch==2.6.9 and you "
     "require torch==2.6.9, we can conclude", "lacks", "torch==2.6.9"),
    ("ERROR: No matching distribution found for nvidia-cudnn-cu12==8.0.0.1", "lacks", "nvidia-cudnn-cu12==8.0.0.1"),
    ("Because tiny was not found in the provided package locations", "lacks", "tiny"),
    ("error: Read-only file system (os error 30)", "closed", "cannot be written"),
    ("No solution found: Because a==1 depends on b<2 and c depends on b>=2", "contradiction", "contradict"),
    ("error: something nobody has heard of", "", ""),
])  # fmt: skip
def test_why_an_installer_failed(said, kind, words):
    assert reason(said).kind == kind
    assert words in reason(said).text


@pytest.mark.parametrize("said, code, words", [
    ("", -25, "ulimit -f"), ("", -24, "ulimit -t"), ("", -9, "memory is short"), ("", -15, ""),
    ("error: No space left on device (os error 28)", -25, "the disk is full"),
])  # fmt: skip
def test_what_a_signal_means_where_nothing_was_said(said, code, words):
    text = reason(said, code).text
    assert words in text
    assert bool(words) == bool(text)


@needs_uv
def test_kills_at_random_leave_the_original_and_marked_copies_only(world):
    """A kill at any moment: what is left is whole or marked, and the next call clears it away."""
    env = world.damaged()
    before = wheels.tree(env)
    argv = [sys.executable, "-m", "gpuwhy", "fix", "--python", str(env), "--apply", "--yes"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    start = time.monotonic()
    subprocess.run(argv, env=world.environ, timeout=120, **quiet)
    whole = time.monotonic() - start
    subprocess.run(["rm", "-r", f"{env}-gpuwhy"], check=True)
    chance = random.Random(7)
    for _ in range(2):
        child = subprocess.Popen(argv, env=world.environ, **quiet)
        time.sleep(chance.uniform(0.4, 1.0) * whole)
        child.kill()
        child.wait()
        for left in world.folder.glob("env-gpuwhy*"):
            assert (left / "gpuwhy-unfinished").exists() or wheels.releases(left) == wheels.releases(env)
        assert wheels.tree(env) == before
    subprocess.run(argv, env=world.environ, timeout=120, check=True, **quiet)
    for left in world.folder.glob("env-gpuwhy*"):
        assert not (left / "gpuwhy-unfinished").exists()
        assert wheels.releases(left) == wheels.releases(env)


@needs_uv
def test_two_at_once_make_two_whole_copies(world):
    env = world.damaged()
    before = wheels.tree(env)
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda _: world.fix("--python", str(env), "--apply", "--yes", "--json"), range(2)))
    assert [one.returncode for one in done] == [0, 0], [one.stderr for one in done]
    made = {json.loads(one.stdout)["applied"]["environment"] for one in done}
    assert len(made) == 2
    for folder in map(Path, made):
        assert wheels.releases(folder) == wheels.releases(env)
        assert not (folder / "gpuwhy-unfinished").exists()
    assert wheels.tree(env) == before


@needs_uv
def test_an_environment_that_changes_meanwhile_is_said(world):
    env = world.damaged()
    path, pid = slow(world)
    script = Path(path.split(":")[0]) / "uv"
    change = f'touch -d 2001-01-01 "{next(wheels.site(env).glob("tiny*.dist-info"))}"'
    script.write_text(f'#!/bin/sh\n{change}\nexec "{wheels.UV}" "$@"\n')
    done = world.fix("--python", str(env), "--apply", "--yes", PATH=path)
    assert done.returncode == 1
    assert "was changed by somebody else" in " ".join(done.stdout.split())
    assert list(world.folder.glob("env-gpuwhy*")) == []
    assert not pid.exists()


def rivals(world: World) -> Path:
    """Two flavours of which the one without CUDA works and the other, which would be kept, does not import."""
    files = {
        "onnxruntime/__init__.py": b"raise ImportError('libcublas.so.99')\n",
        "onnxruntime/capi/onnxruntime_pybind11_state.so": wheels.LIBRARY + b"gpu",
    }
    wheels.wheel(world.links, "onnxruntime-gpu", "1.31.1", files)
    env = wheels.environment(world.folder / "env", world.environ, "onnxruntime-gpu", "tiny==1.0")
    call = {"env": world.environ, "check": True, "capture_output": True, "timeout": 60}
    subprocess.run([wheels.UV, "pip", "install", "--python", f"{env}/bin/python", "--no-deps", "onnxruntime"], **call)
    return env


@needs_uv
@pytest.mark.parametrize("where", [(), ("--in-place",)], ids=["copy", "in place"])
def test_a_fix_that_makes_something_worse_is_taken_back(world, where):
    env = rivals(world)
    before = wheels.releases(env)
    done = world.fix("install.conflict", "--python", str(env), "--apply", "--yes", "--json", *where)
    assert done.returncode == 5, done.stderr
    applied = json.loads(done.stdout)["applied"]
    assert "import onnxruntime, before: works; with it: ImportError: libcublas.so.99" in applied["failed"]
    assert wheels.releases(env) == before
    assert list(world.folder.glob("env-gpuwhy*")) == []
    worse = [one for one in applied["compared"] if one["verdict"] == "worse"]
    assert worse[0]["what"] == "import onnxruntime"


@needs_uv
def test_what_no_index_has_any_more_goes_over_as_files(world):
    """A private wheel that was installed once; its script begins with the Python of the copy."""
    script = {"mine.py": b"y = 2\n", "mine-1.0.data/scripts/mine": b"#!python\nimport mine\nprint(mine.y)\n"}
    wheels.wheel(world.links, "mine", "1.0", script)
    env = wheels.environment(world.folder / "env", world.environ, "nvidia-cudnn-cu12", "mine")
    wheels.damage(env)
    (world.links / "mine-1.0-py3-none-any.whl").unlink()
    (world.folder / "cache").rename(world.folder / "cache-away")
    done = world.fix("--python", str(env), "--apply", "--yes")
    assert done.returncode == 0, done.stderr
    assert "mine 1.0 is not to be had as a wheel" in done.stderr
    made = world.folder / "env-gpuwhy"
    assert wheels.releases(made) == wheels.releases(env)
    assert (made / "bin" / "mine").read_text().startswith(f"#!{made}/")
    assert subprocess.run([made / "bin" / "mine"], capture_output=True, text=True, check=True).stdout == "2\n"


@needs_uv
def test_an_index_that_cannot_be_reached_is_said(world):
    env = world.damaged()
    before = wheels.tree(env)
    away = {"UV_DEFAULT_INDEX": "http://127.0.0.1:9/simple", "UV_HTTP_RETRIES": "0", "UV_NO_CONFIG": "1"}
    world.environ = {k: v for k, v in world.environ.items() if k not in ("UV_OFFLINE", "UV_CONFIG_FILE")}
    done = world.fix("--python", str(env), "--apply", "--yes", UV_CACHE_DIR=str(world.folder / "empty"), **away)
    assert done.returncode == 1
    assert "the package index cannot be reached" in " ".join(done.stdout.split())
    assert list(world.folder.glob("env-gpuwhy*")) == []
    assert wheels.tree(env) == before


@pytest.mark.real
@needs_uv
@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a small disk")
def test_a_disk_that_fills_up_and_one_that_is_read_only(world):
    """A RAM disk of 260 MB for 320 MB of files; then the same disk, read-only."""
    wheels.wheel(world.links, "big", "1.0", {f"big{n}.bin": os.urandom(1 << 20) * 4 for n in range(80)})
    env = wheels.environment(world.folder / "env", world.environ, "nvidia-cudnn-cu12", "big")
    wheels.damage(env)
    disk = world.folder / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=260m", "tmpfs", str(disk)], check=True)
    try:
        call = ("--python", str(env), "--apply", "--yes", "--into", str(disk / "copy"))
        full = world.fix(*call)
        assert full.returncode == 1
        assert "the disk is full" in " ".join(full.stdout.split())
        assert list(disk.iterdir()) == []
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        closed = world.fix(*call)
        assert closed.returncode == 2
        assert "no copy can be made in" in closed.stderr
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
        small = wheels.environment(disk / "env", world.environ, "nvidia-cudnn-cu12")
        wheels.damage(small)
        (disk / "full").write_bytes(bytes(120 << 20))
        before = wheels.tree(small)
        inside = world.fix("--python", str(small), "--apply", "--yes", "--in-place")
        assert inside.returncode == 1, inside.stdout
        assert "are removed and written anew" in " ".join(inside.stdout.split())
        assert wheels.tree(small) == before
    finally:
        subprocess.run(["umount", str(disk)], check=False)


@needs_uv
def test_an_environment_whose_python_is_gone_is_made_again(world):
    env = wheels.environment(world.folder / "env", world.environ, "onnxruntime-gpu", "tiny==1.0")
    for name in ("python", "python3", f"python3.{sys.version_info.minor}"):
        (env / "bin" / name).unlink(missing_ok=True)
    (env / "bin" / "python").symlink_to("/nowhere/python3")
    shown = world.fix("--python", str(env))
    assert "Make the environment again with a Python" in shown.stdout
    done = world.fix("--python", str(env), "--apply", "--yes", "--json")
    assert done.returncode == 0, done.stderr + done.stdout
    made = Path(json.loads(done.stdout)["applied"]["environment"])
    assert wheels.releases(made) == wheels.releases(env)
    subprocess.run([made / "bin" / "python", "-c", "import onnxruntime, tiny"], check=True)
