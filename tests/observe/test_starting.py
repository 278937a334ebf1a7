"""Starting: what keeps an environment's Python from starting, and projects whose source is gone."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from gpuwhy.host.children import starts
from gpuwhy.model.fact import Known, Source, Unknown
from gpuwhy.model.facts import Facts, Interpreter, Start, Target
from gpuwhy.observe.scene import Options, Scene
from gpuwhy.observe.starting import start
from tests.observe.envs import SITE, Machine, World

HERE = Source("call", "test")


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.venv()
    made.install("torch", "2.6.0", {"torch/__init__.py": ""})
    return made


def gone(world: World) -> list[tuple[str, str, str, str]]:
    return [(d.owner, d.what, d.expected, d.actual) for d in world.look().damage.need() or () if "gone" in d.what]


def test_a_finder_that_leads_nowhere(world: World) -> None:
    finder = f"{SITE}/__editable___torchvision_0_21_0_finder.py"
    world.file(finder, "MAPPING: dict[str, str] = {'torchvision': '/src/vision/torchvision'}\n")
    assert gone(world) == [("torchvision", "source gone", "/src/vision/torchvision", "torchvision")]
    world.file("/src/vision/torchvision/__init__.py", "")
    assert gone(world) == []


def test_the_project_comes_back_not_the_package_in_it(world: World) -> None:
    world.install("optax", "0.2.4", {})
    world.file(f"{SITE}/optax-0.2.4.dist-info/direct_url.json", '{"url": "file:///src/optax", "dir_info": {}}')
    world.file(f"{SITE}/__editable___optax_0_2_4_finder.py", "MAPPING = {'optax': '/src/optax/optax'}\n")
    assert [one[2] for one in gone(world)] == ["/src/optax"]
    world.file("/src/optax/pyproject.toml", "")
    assert [one[2] for one in gone(world)] == ["/src/optax/optax"]


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("__editable__.flash_attn-2.8.pth", "/src/fa\n", [("flash-attn", "source gone", "/src/fa", "flash_attn")]),
        ("mine.egg-link", "/src/mine\n.\n", [("mine", "project gone", "/src/mine", "mine")]),
        ("easy-install.pth", "/src/xformers\n", [("xformers", "source gone", "/src/xformers", "xformers")]),
        ("extra.pth", "/data/lib\n", []),
        ("hook.pth", "import os; os.getcwd()\n", []),
    ],
)
def test_lines_that_lead_nowhere(world: World, file: str, text: str, told: list[tuple[str, ...]]) -> None:
    world.file(f"{SITE}/{file}", text)
    assert gone(world) == told


@pytest.mark.parametrize(
    ("asks", "what"), [("torch>=2", "source of what needs it gone"), ("torch>=2; extra == 'gpu'", "project gone")]
)
@pytest.mark.parametrize("file", ["_own_kernels.pth", "_editable_impl_own_kernels.pth", "own-kernels.pth"])
def test_a_project_that_asks_for_the_stack(world: World, file: str, asks: str, what: str) -> None:
    world.install("own-kernels", "0.3", {})
    folder = f"{SITE}/own_kernels-0.3.dist-info"
    world.file(f"{folder}/METADATA", f"Name: own-kernels\nVersion: 0.3\nRequires-Dist: {asks}\n")
    world.file(f"{SITE}/{file}", "/src/own\n")
    assert gone(world) == [("own-kernels 0.3", what, "/src/own", "own_kernels")]


def test_a_project_that_the_stack_asks_for(world: World) -> None:
    """PyTorch asks for sympy and that for mpmath: both are published, whoever installed a source of his own."""
    for name, asks in (("torch", "sympy"), ("sympy", "mpmath")):
        world.install(name, "2.6.0", {})
        world.file(f"{SITE}/{name}-2.6.0.dist-info/METADATA", f"Name: {name}\nRequires-Dist: {asks}\n")
    world.install("mpmath", "1.3.0", {})
    world.file(f"{SITE}/__editable__.mpmath-1.3.0.pth", "/src/mp\n")
    assert gone(world) == [("mpmath 1.3.0", "source gone", "/src/mp", "mpmath")]


def test_nothing_steers_it_so_nothing_is_started(world: World) -> None:
    assert world.look().start.need() == Start()


def test_frameworks_beside_a_python_that_does_not_look_there(world: World) -> None:
    python = Interpreter("/env/bin/python3", "3.12.3", "/usr", "system", "--python", "x86_64")
    world.file("/env/lib/python3.12/site-packages/torch/__init__.py", "")
    facts = Facts(
        target=Target(interpreter=Known(python, HERE), site_packages=Known(("/usr/lib/python3/dist-packages",), HERE))
    )
    scene = Scene(Machine(world.root, world.environ, world.pythons), Options())
    scene.facts = facts
    found = start(scene).need()
    assert found is not None
    assert (found.lost, found.aside) == (("torch",), "/env/lib/python3.12/site-packages")


def test_a_python_of_another_machine_is_not_started(world: World) -> None:
    world.file(f"{SITE}/sitecustomize.py", "raise SystemExit(1)\n")
    found = world.look().start
    assert isinstance(found, Unknown)
    assert found.kind == "offline"


def test_a_start_that_goes_well_is_tried_once(capsys: pytest.CaptureFixture[str]) -> None:
    starts.main(sys.executable, "json", "PYTHONHOME", "/")
    (only,) = capsys.readouterr().out.splitlines()
    assert json.loads(only)["lost"] == []


def test_what_is_not_found_and_nothing_is_to_blame(capsys: pytest.CaptureFixture[str]) -> None:
    starts.main(sys.executable, "no_such_module,json", "NOTHING", "/")
    first, blame = capsys.readouterr().out.splitlines()
    assert json.loads(first)["lost"] == ["no_such_module"]
    assert json.loads(blame) == {}


def test_a_variable_is_found_by_leaving_it_out() -> None:
    wrong = {"PYTHONHOME": "/nowhere"}
    found = starts.culprit(sys.executable, "json", ["LD_AUDIT", "PYTHONHOME"], "/", [], wrong)
    assert found == {"variable": "PYTHONHOME"}


def test_the_file_that_alone_ends_it(tmp_path: Path) -> None:
    (tmp_path / "zz.pth").write_text("import sys; sys.exit('licence expired')\n")
    (tmp_path / "good.pth").write_text("import os\n")
    files = [str(tmp_path / "good.pth"), str(tmp_path / "zz.pth")]
    assert starts.culprit(sys.executable, "json", [], str(tmp_path), files, {}) == {"file": files[1]}


def test_the_file_that_refuses_an_import_from_within(tmp_path: Path) -> None:
    hook = tmp_path / "sitecustomize.py"
    hook.write_text(
        "import builtins\nreal = builtins.__import__\n"
        "def no(name, *more, **named):\n    if name == 'wave': raise ImportError('not here')\n"
        "    return real(name, *more, **named)\nbuiltins.__import__ = no\n"
    )
    assert starts.culprit(sys.executable, "wave", [], str(tmp_path), [str(hook)], {}) == {"file": str(hook)}


def upgraded(world: World) -> World:
    """Packages in the folder of one Python, beside a pyvenv.cfg that says another by now."""
    world.file("/venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.13.1\n")
    world.file("/venv/lib/python3.13/site-packages/pip/__init__.py", "")
    return world


def test_packages_of_the_python_before_the_upgrade(world: World) -> None:
    found = upgraded(world).look()
    python, start_ = found.interpreter.need(), found.start.need()
    assert python is not None
    assert start_ is not None
    assert (python.version, start_.version, start_.lost) == ("3.12", "3.13", ("torch",))


def test_frameworks_installed_again_after_the_upgrade(world: World) -> None:
    upgraded(world).file("/venv/lib/python3.13/site-packages/torch/__init__.py", "")
    python = world.look().interpreter.need()
    assert python is not None
    assert python.version == "3.13.1"
