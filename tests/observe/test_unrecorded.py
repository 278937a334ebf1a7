"""Packages without a RECORD, or without metadata: what their imports ask for, and what start-up and places do."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuwhy.model.fact import Known, Source
from gpuwhy.model.facts import DriverLibrary, Facts, Loads
from gpuwhy.observe.as_if import Elsewhere, as_if
from tests.observe.envs import SITE, World, shared_object

WHOLE = {
    "torch/__init__.py": "from ._tensor import Tensor\nimport torch._C\nfrom torch._C import _autograd\n",
    "torch/_tensor.py": "try:\n    from . import nothing\nexcept ImportError:\n    pass\n",
    "torch/_C.cpython-312-x86_64-linux-gnu.so": shared_object("libc.so.6", padding=100),
    "torch/version.py": "__version__ = '2.6.0+cu124'\n",
}


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.venv()
    made.install("torch", "2.6.0", dict(WHOLE))
    (tmp_path / f"{SITE}/torch-2.6.0.dist-info/RECORD".lstrip("/")).unlink()
    return made


def damaged(world: World) -> list[tuple[str, str, str]]:
    return [(d.what, d.owner, d.path.removeprefix(f"{SITE}/")) for d in world.look().damage.need() or ()]


def test_a_whole_package_without_a_list_is_left_alone(world: World) -> None:
    assert damaged(world) == []


def test_a_module_that_its_import_asks_for(world: World) -> None:
    (world.root / f"{SITE}/torch/_tensor.py".lstrip("/")).unlink()
    assert damaged(world) == [("module missing", "torch 2.6.0", "torch/_tensor")]


def test_a_library_that_ends_too_early(world: World) -> None:
    name = "torch/_C.cpython-312-x86_64-linux-gnu.so"
    data = WHOLE[name]
    assert isinstance(data, bytes)
    world.file(f"{SITE}/{name}", data[:-60])
    assert damaged(world)[0] == ("truncated", "torch 2.6.0", name)


def test_without_metadata_it_says_its_release_itself(world: World) -> None:
    import shutil

    shutil.rmtree(world.root / f"{SITE}/torch-2.6.0.dist-info".lstrip("/"))
    (world.root / f"{SITE}/torch/_tensor.py".lstrip("/")).unlink()
    assert damaged(world) == [("module missing", "torch 2.6.0", "torch/_tensor")]


def test_types_of_a_compiled_module_that_is_gone(world: World) -> None:
    world.file(f"{SITE}/torch/__init__.py", "from . import _C\n")
    world.file(f"{SITE}/torch/_C/__init__.pyi", "x: int\n")
    assert damaged(world) == []
    (world.root / f"{SITE}/torch/_C.cpython-312-x86_64-linux-gnu.so".lstrip("/")).unlink()
    assert damaged(world) == [("module missing", "torch 2.6.0", "torch/_C")]


def test_another_release_that_was_written_over_it(world: World) -> None:
    world.install("jax", "0.4.38", {"jax/version.py": '_version = "0.4.38"\n', "jax/core.py": "x = 1\n"})
    world.file(f"{SITE}/jax/version.py", '_version = "0.4.30"  # older\n')
    assert damaged(world) == [("of another release", "jax 0.4.38", "jax/version.py")]


def test_folders_of_wheels_that_a_pth_file_adds(world: World) -> None:
    world.install("cupy-cuda12x", "13.3.0", {"cupy/__init__.py": "x = 1\n"}, site="/shared")
    world.file(f"{SITE}/shared.pth", "/shared\n")
    assert "/shared" in (world.look().site_packages.need() or ())
    world.file(f"{SITE}/shared.pth", "/source\n")
    world.file("/source/mine/__init__.py", "")
    assert "/source" not in (world.look().site_packages.need() or ())


@pytest.mark.parametrize("via, kept", [("LD_LIBRARY_PATH", True), ("ld.so.cache", False)])
def test_a_stub_that_a_variable_puts_first_is_so_on_any_machine(via: str, kept: bool) -> None:
    here = Source("call", "test")
    stub = DriverLibrary(
        "libcuda.so.1", "/s/libcuda.so.1", "/s/libcuda.so", via, "stub", Known("", here), Known("ok", here)
    )
    found = as_if(Facts(loads=Loads(libcuda=Known((stub,), here))), Elsewhere()).loads.libcuda
    assert isinstance(found, Known)
    assert (found.value[0] == stub) is kept
