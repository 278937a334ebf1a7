"""What stands on a framework, by metadata, and by which module it is imported."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuwhy.model.facts import Facts
from gpuwhy.observe.dependents import dependents
from gpuwhy.observe.scene import Options, Scene
from tests.observe.envs import Machine, World


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.venv()
    return made


def scene_of(world: World) -> Scene:
    scene = Scene(Machine(world.root, world.environ, world.pythons), Options())
    scene.facts = Facts(target=world.look())
    return scene


def package(world: World, name: str, *asks: str, module: str = "") -> None:
    """A distribution with its module and what it asks for."""
    module = module or name.replace("-", "_")
    world.install(name, "2.6.0", {f"{module}/__init__.py": "", f"{module}/version.py": ""}, asks)


def test_what_people_use_beside_a_framework_is_tried_by_itself(world: World) -> None:
    package(world, "torch")
    for name in ("lightgbm", "pandas", "click"):
        package(world, name)
    package(world, "plots", "pandas")
    package(world, "words", "click")
    found = {one.dist.name: one.base for one in dependents(scene_of(world), {"torch": "torch"})}
    assert found == {"lightgbm": "", "pandas": "", "plots": ""}
    assert list(found)[-1] == "plots"  # what only moves with NumPy and its kin comes after them


def test_what_asks_for_a_framework_itself_by_an_extra_or_by_another(world: World) -> None:
    package(world, "torch", "sympy")
    package(world, "sympy", 'torch; extra == "torch"')
    package(world, "nearest", "torch>=2")
    package(world, "optional", 'torch; extra == "torch"')
    package(world, "farther", "nearest")
    package(world, "apart", "click")
    found = {one.dist.name: one.base for one in dependents(scene_of(world), {"torch": "torch"})}
    assert found == {"nearest": "torch", "optional": "torch", "farther": "torch", "sympy": "torch"}
    assert list(found)[-1] == "sympy"  # what the framework asks for comes last


def test_without_a_framework_whatever_people_use_with_one(world: World) -> None:
    package(world, "transformers", "regex")
    package(world, "booster", "numpy")
    package(world, "loader", 'torch; extra == "torch"')
    package(world, "watcher", "nvidia-ml-py")
    package(world, "regex")
    package(world, "webserver", "markup", 'pytest; extra == "test"')
    package(world, "markup")
    found = {one.dist.name: one.base for one in dependents(scene_of(world), {})}
    assert found == dict.fromkeys(("transformers", "booster", "loader", "watcher"), "")


def test_without_a_framework_what_speaks_of_the_gpu_itself(world: World) -> None:
    for name, summary in (("lister", "Lists the GPUs of a machine"), ("pages", "Makes pages")):
        package(world, name)
        (file,) = world.root.glob(f"venv/lib/python3.12/site-packages/{name}-*/METADATA")
        file.write_text(f"{file.read_text().rstrip()}\nSummary: {summary}\n\nText about the GPU.\n")
    assert [one.dist.name for one in dependents(scene_of(world), {})] == ["lister"]


def test_what_has_lost_its_module_is_among_them(world: World) -> None:
    package(world, "booster", "numpy")
    for name in ("__init__.py", "version.py"):
        (world.root / f"venv/lib/python3.12/site-packages/booster/{name}").unlink()
    (found,) = dependents(scene_of(world), {})
    assert (found.dist.name, found.modules) == ("booster", ())


def test_those_that_import_the_others_come_first(world: World) -> None:
    package(world, "torch")
    package(world, "a-part", "torch")
    package(world, "the-whole", "torch", "a-part")
    assert [one.dist.name for one in dependents(scene_of(world), {"torch": "torch"})] == ["the-whole", "a-part"]


def test_a_flavour_of_a_framework_is_that_framework(world: World) -> None:
    package(world, "tensorflow-cpu", module="tensorflow")
    package(world, "onit", "tensorflow<3")
    (found,) = dependents(scene_of(world), {"tensorflow": "tensorflow"})
    assert (found.dist.name, found.base) == ("onit", "tensorflow")


def test_the_module_by_its_own_name_or_as_listed(world: World) -> None:
    package(world, "torch")
    package(world, "dm-onit", "torch", module="onit")
    package(world, "nothing-to-import", "torch", module="_private")
    found = {one.dist.name: one.modules for one in dependents(scene_of(world), {"torch": "torch"})}
    assert found == {"dm-onit": ("onit",), "nothing-to-import": ()}


def test_a_module_that_only_an_extra_brings_is_not_missed(world: World) -> None:
    package(world, "torch")
    package(world, "onit", "torch", "needed", 'pillow; extra == "pictures"', 'needed; extra == "all"')
    (found,) = dependents(scene_of(world), {"torch": "torch"})
    assert [found.optional(name) for name in ("PIL", "needed", "other")] == [True, False, False]
