"""Commands in an environment's bin that do not start, and modules that lie elsewhere on the path."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from gpuwhy.model.facts import COMMAND_GONE, COMMAND_LOST, NOT_RUN, OTHER_PYTHON
from tests.observe.envs import SITE, World, shared_object

MODULES: dict[str, bytes | str] = {"torch/__init__.py": "x = 1\n", "torch/version.py": "y = 1\n"}


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.venv()
    folder = made.install("torch", "2.6.0", MODULES)
    record = tmp_path / folder.lstrip("/") / "RECORD"
    record.write_text(record.read_text() + "../../../bin/torchrun,sha256=x,3\n")
    made.file("/venv/bin/tool", "#!/venv/bin/python\n").chmod(0o755)
    made.file("/venv/bin/torchrun", "#!/venv/bin/python\n").chmod(0o755)
    return made


def wrong(world: World) -> list[tuple[str, str]]:
    return [(one.what, one.path) for one in world.look().damage.need() or ()]


def test_all_is_well(world: World) -> None:
    assert wrong(world) == []


@pytest.mark.parametrize(
    ("first", "told"),
    [
        ("#!/opt/old/bin/python\n", COMMAND_LOST),
        ('#!/bin/sh\n\'\'\'exec\' "/opt/old/bin/python" "$0" "$@"\n', COMMAND_LOST),
        ("#!/other/bin/python\n", OTHER_PYTHON),
        ("#!/usr/bin/env python\n", ""),
        ("#!/bin/sh\n'''exec' /venv/bin/python \"$0\" \"$@\"\n", ""),
    ],
)
def test_the_python_that_a_command_names(world: World, first: str, told: str) -> None:
    world.venv("/other")
    world.file("/venv/bin/torchrun", first).chmod(0o755)
    assert wrong(world) == ([(told, "/venv/bin/torchrun")] if told else [])


def test_one_that_may_not_be_run(world: World) -> None:
    (world.root / "venv/bin/torchrun").chmod(0o644)
    assert wrong(world) == [(NOT_RUN, "/venv/bin/torchrun")]


def test_one_that_is_gone_and_all_that_are_gone(world: World) -> None:
    (world.root / "venv/bin/torchrun").unlink()
    assert wrong(world) == [(COMMAND_GONE, "/venv/bin/torchrun")]
    (world.root / "venv/bin/tool").unlink()
    assert wrong(world) == []


def test_a_program_within_a_package_that_may_not_be_run(world: World) -> None:
    world.install("triton", "3.2.0", {"triton/bin/helper": shared_object(), "triton/bin/notes": "data"})
    for name in ("helper", "notes"):
        (world.root / SITE.lstrip("/") / f"triton/bin/{name}").chmod(0o644)
    assert wrong(world) == [("not executable", f"{SITE}/triton/bin/helper")]


def test_python3_of_another_release(world: World) -> None:
    world.file("/opt/bin/python3.11", shared_object())
    (world.root / "venv/bin/python3").symlink_to("/opt/bin/python3.11")
    assert wrong(world) == [(OTHER_PYTHON, "/venv/bin/python3")]


@pytest.mark.parametrize("place", ["archive", "folder", "nowhere"])
def test_a_module_that_a_pth_file_leads_to(world: World, place: str) -> None:
    world.install("sympy", "1.13", {"sympy/__init__.py": "x = 1\n"})
    world.install("torch", "2.6.0", MODULES, ("sympy",))
    (world.root / SITE.lstrip("/") / "sympy/__init__.py").unlink()
    (world.root / SITE.lstrip("/") / "sympy").rmdir()
    if place == "folder":
        world.file("/src/sympy/__init__.py", "x = 1\n")
    if place == "archive":
        (world.root / "src").mkdir()
        with zipfile.ZipFile(world.root / "src/pure.zip", "w") as file:
            file.writestr("sympy/__init__.py", "x = 1\n")
    world.file(f"{SITE}/own.pth", "/src/pure.zip\n" if place == "archive" else "/src\n")
    lost = [path for _, path in wrong(world) if "sympy" in path]
    assert lost == ([f"{SITE}/sympy/__init__.py"] if place == "nowhere" else [])


@pytest.mark.parametrize("there", [True, False])
def test_what_is_asked_for_and_lies_on_the_path_is_not_missing(world: World, there: bool) -> None:
    world.install("torch", "2.6.0", MODULES, ("sympy",))
    world.file("/src/sympy/__init__.py" if there else "/src/other.py", "x = 1\n")
    world.file(f"{SITE}/own.pth", "/src\n")
    asked = [one.name for one in world.look().contradictions.need() or ()]
    assert asked == ([] if there else ["sympy"])


def test_a_folder_of_packages_that_leads_nowhere(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.venv()
    site = tmp_path / SITE.lstrip("/")
    site.rmdir()
    site.symlink_to("/gone/site-packages")
    assert wrong(world) == [("dangling link", SITE)]
