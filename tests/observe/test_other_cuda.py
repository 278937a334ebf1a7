"""Other CUDA: neighbours of PyTorch that have no library for its CUDA, or link another runtime."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuwhy.model.facts import Contradiction, Facts
from gpuwhy.observe.other_cuda import no_such_build
from gpuwhy.observe.scene import Options, Scene
from tests.observe.envs import Machine, World, shared_object

TORCH = {"torch/version.py": "cuda = '12.4'\n", "torch/lib/libtorch_cuda.so": shared_object("libcudart.so.12")}


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.venv()
    made.install("torch", "2.6.0", TORCH)
    return made


def found(world: World) -> list[Contradiction]:
    return [one for one in world.look().contradictions.need() or () if one.how == "build"]


@pytest.mark.parametrize(
    ("builds", "code", "environ", "told"),
    [
        (("118", "123"), "", {}, "11.8 to 12.3, and none for 12.4"),
        (("118", "124"), "", {}, ""),
        (("118", "123"), "def _find_cuda_libs(): ...", {}, ""),
        (("118",), "def _find_cuda_libs(): ...", {}, "CUDA 11.8, and none for 12.4"),
        (("118", "123"), "", {"BNB_CUDA_VERSION": "123"}, ""),
        (("118", "124"), "", {"BNB_CUDA_VERSION": "117"}, ""),  # of the variable, see below
        ((), "", {}, ""),
    ],
)
def test_bitsandbytes(world: World, builds: tuple[str, ...], code: str, environ: dict[str, str], told: str) -> None:
    files = {f"bitsandbytes/libbitsandbytes_cuda{one}.so": shared_object() for one in builds}
    world.install("bitsandbytes", "0.46.0", {**files, "bitsandbytes/cextension.py": code})
    world.environ = {**(world.environ or {}), **environ}
    texts = [one.effect for one in found(world)]
    assert told in texts[0] if told else not texts, texts


@pytest.mark.parametrize(("runtime", "many"), [("libcudart.so.11.0", 1), ("libcudart.so.12", 0), ("libc10.so", 0)])
def test_an_extension_that_links_another_runtime(world: World, runtime: str, many: int) -> None:
    world.install("torch-scatter", "2.1.2", {"torch_scatter/_scatter_cuda.so": shared_object(runtime, "libc10.so")})
    assert len(found(world)) == many


def test_the_loader_finds_the_other_runtime(world: World) -> None:
    world.install("torch-scatter", "2.1.2", {"torch_scatter/_scatter_cuda.so": shared_object("libcudart.so.11.0")})
    world.environ = {**(world.environ or {}), "LD_LIBRARY_PATH": "/cuda/lib64"}
    world.file("/cuda/lib64/libcudart.so.11.0", "")
    assert found(world) == []


def test_who_imports_triton_needs_its_setuptools(world: World) -> None:
    world.install("triton", "3.2.0", {"triton/__init__.py": ""})
    late = [one.how for one in world.look().contradictions.need() or () if one.name == "setuptools"]
    world.install("bitsandbytes", "0.43.3", {"bitsandbytes/__init__.py": ""})
    then = [one.how for one in world.look().contradictions.need() or () if one.name == "setuptools"]
    assert (late, then) == (["late"], ["unstated"])


@pytest.mark.parametrize(("value", "told"), [("117", "none of that name"), ("124", ""), ("", ""), ("12.4", "none")])
def test_a_library_of_bitsandbytes_that_a_variable_names(world: World, value: str, told: str) -> None:
    files = {f"bitsandbytes/libbitsandbytes_cuda{one}.so": shared_object() for one in ("118", "124")}
    world.install("bitsandbytes", "0.46.0", files)
    scene = Scene(Machine(world.root, world.environ, world.pythons), Options())
    scene.facts = Facts(target=world.look())
    texts = [fault.text for fault in no_such_build(scene, value)]
    assert told in texts[0] if told else not texts, texts
