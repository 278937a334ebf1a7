"""`fix --apply` on real environments: what helped, what did not, and what was never touched."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpuwhy.fix.copying import Copy
from tests.fix.world import World, numpy

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="works on Linux")
MARK = "gpuwhy-unfinished"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_a_copy_is_fixed_and_the_original_is_not_touched(world: World) -> None:
    world.wheel("numpy", "1.26.4", numpy("1.26.4"))
    script = world.env / "bin" / "tool"
    script.write_text(f"#!{world.env}/bin/python\nprint(1)\n")
    (world.site / "own.pth").write_text(f"{world.env}/more\n{world.env}-other/x\n")
    os.mkfifo(world.site / "onnxruntime" / "capi" / "libpipe.so")
    before = world.tree()
    done = world.fix("--apply", "--yes", "--json")
    assert done.returncode == 0, done.stderr
    assert world.tree() == before
    copy = Path(f"{world.env}-gpuwhy")
    assert "numpy-1.26.4" in world.releases(copy)
    assert (copy / "bin/tool").read_text().startswith(f"#!{copy}/bin/python\n")
    own = next(copy.glob("lib/python3*/site-packages/own.pth"))
    assert own.read_text() == f"{copy}/more\n{world.env}-other/x\n"
    assert f"{world.env}/" not in (copy / "bin/activate").read_text()
    assert not (copy / MARK).exists()
    assert not list(copy.rglob("libpipe.so")), "what is no file is not waited for"
    applied = json.loads(done.stdout)["applied"]
    assert applied["changed"] == ["numpy 2.2.6 → 1.26.4"]
    assert {one["verdict"] for one in applied["compared"]} == {"better"}


def test_a_source_release_is_not_built_and_not_run(world: World) -> None:
    world.sdist()
    done = world.fix("--apply", "--yes")
    assert done.returncode == 1
    assert "No matching distribution" in done.stdout
    assert not (world.folder / "mark").exists()
    assert not Path(f"{world.env}-gpuwhy").exists()


def test_a_change_that_breaks_an_import_is_taken_back(world: World) -> None:
    broken = numpy("1.26.4") | {"numpy/__init__.py": b"raise OSError('no')"}
    world.wheel("numpy", "1.26.4", broken)
    world.site.joinpath("onnxruntime/__init__.py").write_text("import numpy")
    before = world.tree()
    done = world.fix("--apply", "--yes")
    assert done.returncode == 1
    assert "made something worse, and it was taken back" in done.stdout
    assert not Path(f"{world.env}-gpuwhy").exists()
    assert world.tree() == before


def test_in_place_leaves_a_list_for_the_way_back(world: World) -> None:
    world.wheel("numpy", "1.26.4", numpy("1.26.4"))
    done = world.fix("--apply", "--yes", "--in-place", "--json")
    assert done.returncode == 0, done.stderr
    assert "numpy-1.26.4" in world.releases()
    kept = next(world.env.glob("gpuwhy-before-*.txt"))
    assert "numpy==2.2.6" in kept.read_text()
    (undo,) = json.loads(done.stdout)["applied"]["undo"]
    assert undo.endswith("pip install --no-deps numpy==2.2.6")
    assert not (world.env / "gpuwhy-changing").exists()


@pytest.mark.parametrize("is_there", [True, False], ids=["taken back", "could not be"])
def test_in_place_what_does_not_help_is_taken_back(world: World, is_there: bool) -> None:
    world.wheel("numpy", "1.26.4", numpy("1.26.4") | {"numpy/__init__.py": b"raise OSError(1)"})
    world.site.joinpath("onnxruntime/__init__.py").write_text("import numpy")
    if is_there:
        world.wheel("numpy", "2.2.6", numpy("2.2.6"))
    done = world.fix("--apply", "--yes", "--in-place")
    assert done.returncode == (1 if is_there else 5), done.stderr
    assert ("numpy-2.2.6" in world.releases()) == is_there
    assert ("could not be taken back" in " ".join(done.stdout.split())) != is_there
    assert bool(list(world.env.glob("gpuwhy-before-*.txt"))) != is_there


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_call_leaves_the_original_and_is_tidied_up(world: World, number: int) -> None:
    world.wheel("numpy", "1.26.4", numpy("1.26.4"))
    before, copy = world.tree(), Path(f"{world.env}-gpuwhy")
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    call = subprocess.Popen(world.argv("--apply", "--yes"), env=world.environ, **silent)
    until = time.monotonic() + 30
    while not (copy / MARK).exists() and time.monotonic() < until:
        time.sleep(0.005)
    call.send_signal(number)
    call.wait(30)
    assert world.tree() == before
    assert copy.exists() == (number == signal.SIGKILL)
    done = world.fix("--apply", "--yes")
    assert done.returncode == 0, done.stderr
    assert not (copy / MARK).exists()


@pytest.mark.parametrize("call", ["os.open", "fcntl.flock", "os.write"])
def test_a_copy_that_is_interrupted_while_it_begins_is_given_up(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = Copy(str(tmp_path / "env-gpuwhy"))

    def interrupt(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(f"gpuwhy.fix.copying.{call}", interrupt)
    with pytest.raises(KeyboardInterrupt):
        copy.begin()
    monkeypatch.undo()
    assert copy.give_up()
    assert not list(tmp_path.iterdir())


def test_it_asks_first_and_overwrites_nothing(world: World) -> None:
    done = world.fix("--apply")
    assert done.returncode == 2
    assert "add --yes" in done.stderr
    (world.folder / "there").mkdir()
    done = world.fix("--apply", "--yes", "--into", str(world.folder / "there"))
    assert done.returncode == 2
    assert "nothing is overwritten" in done.stderr
