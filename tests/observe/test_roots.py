"""What is installed besides the GPU stack and worth an import: roots and compiled packages, by no name."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from gpuwhy.model.fact import Known, Source
from gpuwhy.model.facts import Facts, Imported
from gpuwhy.observe.contradictions import stated
from gpuwhy.observe.roots import on_top, others
from gpuwhy.observe.scene import Options, Scene
from gpuwhy.observe.unmet import asked_extras, half_extras, lacking
from tests.observe.envs import SITE, Machine, World


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.venv()
    return made


def scene_of(world: World) -> Scene:
    scene = Scene(Machine(world.root, world.environ, world.pythons), Options())
    scene.facts = Facts(target=world.look())
    return scene


def test_roots_and_what_is_compiled_are_tried_the_smallest_first(world: World) -> None:
    world.install("pages", "1.0", {"pages/__init__.py": "", "pages/more.py": ""}, ["markup", "plain-one"])
    world.install("markup", "1.0", {"markup/__init__.py": "", "markup/_speed.cpython-312-x86_64-linux-gnu.so": b"x"})
    world.install("plain-one", "1.0", {"plain_one.py": ""})
    world.install("tiny", "1.0", {"tiny.py": ""})
    world.install("pip", "24.0", {"pip/__init__.py": ""})
    found = on_top(scene_of(world))
    assert [(one.dist.name, one.modules, one.plain) for one in found] == [
        ("tiny", ("tiny",), True),
        ("pages", ("pages",), True),
        ("markup", ("markup",), True),
    ]


@pytest.mark.parametrize(
    ("files", "modules"),
    [
        (("shared/core/__init__.py", "shared/core/deep/__init__.py"), ("shared.core",)),
        (("fast.cpython-312-x86_64-linux-gnu.so",), ("fast",)),
        (("_hidden/__init__.py",), ()),
    ],
)
def test_a_module_that_is_called_otherwise_is_found_by_the_list(
    world: World, files: tuple[str, ...], modules: tuple[str, ...]
) -> None:
    world.install("other-name", "1.0", dict.fromkeys(files, b"x"))
    assert [one.modules for one in others(scene_of(world), [])] == [modules]


def test_what_commands_import_and_what_is_plugged_into_another_is_tried_after_the_module(world: World) -> None:
    folder = world.install("tool", "1.0", {"tool/__init__.py": ""})
    text = "[console_scripts]\ntool = tool.cli:main\nmore = tool.more:main [extra]\n\n[tool.own]\na = tool.a\n"
    world.file(f"{folder}/entry_points.txt", f"{text}\n[jax_plugins]\nmine = tool.jax\n\n[broken\n")
    assert others(scene_of(world), [])[0].modules == ("tool",)  # a list that cannot be read
    world.file(f"{folder}/entry_points.txt", text)
    assert others(scene_of(world), [])[0].modules == ("tool", "~tool.cli:main")


def test_packages_that_lack_what_they_ask_for_are_named(world: World) -> None:
    world.install("pages", "1.0", {"pages/__init__.py": ""}, ["gone>=2", 'win; sys_platform == "win32"'])
    world.install("well", "1.0", {"well/__init__.py": ""}, ['gone; extra == "x"'])
    scene = scene_of(world)
    assert lacking(scene, on_top(scene)) == ["pages"]


@pytest.mark.parametrize(("there", "lost"), [(("a", "b"), ["nvidia-c"]), (("a", "b", "c"), []), ((), [])])
def test_libraries_of_an_extra_of_which_some_are_there_for_nobody_else(
    world: World, there: tuple[str, ...], lost: list[str]
) -> None:
    world.install("kernels", "1.0", {}, [f'nvidia-{one}==12.*; extra == "cu12"' for one in "abc"])
    for one in there:
        world.install(f"nvidia-{one}", "12.1", {f"nvidia/{one}/x.h": "x"})
    scene = scene_of(world)
    installed = {one.name: one for one in scene.facts.target.distributions.need() or ()}
    found = list(half_extras(scene, installed))
    assert [(one.name, one.wants, one.how) for one in found] == [(name, "==12.*", "extra") for name in lost]
    assert list(stated(scene, installed, {})) == []


def test_libraries_that_somebody_else_asks_for_say_nothing_of_an_extra(world: World) -> None:
    world.install("kernels", "1.0", {}, [f'nvidia-{one}==12.*; extra == "cu12"' for one in "ab"])
    world.install("frame", "1.0", {}, ["nvidia-a"])
    world.install("nvidia-a", "12.1", {"nvidia/a/x.h": "x"}, site=SITE)
    scene = scene_of(world)
    assert list(half_extras(scene, {one.name: one for one in scene.facts.target.distributions.need() or ()})) == []


@pytest.mark.parametrize(
    ("why", "told"),
    [
        ("CUDA bindings not found. Please pip install the some-bindings package", ["some-bindings", "some-core"]),
        ("bindings not found: pip install nobodys-python or kernels[cuXY]", ["some-bindings", "some-core"]),
        ("name 'x' is not defined", []),
    ],
)
def test_what_an_extra_brings_is_asked_for_where_the_package_fails_without_it(
    world: World, why: str, told: list[str]
) -> None:
    asks = [
        'some-bindings==9; extra == "test-cu12"',
        'some-bindings<13; extra == "cu12"',
        'some-core==0.3; extra == "cu12"',
        'some-bindings==13.*; extra == "cu13"',
    ]
    world.install("kernels", "1.0", {"kernels/__init__.py": ""}, asks)
    scene = scene_of(world)
    failed = Imported("kernels", "packages", "raised", why=why, files=(f"{SITE}/kernels/__init__.py",))
    target = msgspec.structs.replace(scene.facts.target, imports=Known((failed,), Source("call", "test")))
    scene.facts = Facts(target=target)
    found = list(asked_extras(scene, {one.name: one for one in target.distributions.need() or ()}))
    assert [one.name for one in found] == told
    assert all(one.wants in ("<13", "==0.3") and one.stops for one in found)
