"""Configured: settings that the installed files of Keras and protobuf do not take."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpuwhy.model.fact import Known, Source, value_or
from gpuwhy.model.facts import Facts
from gpuwhy.observe.configured import keras_backend, keras_file, numba_file, protobuf_code
from gpuwhy.observe.environment import variables
from gpuwhy.observe.presets import activated
from gpuwhy.observe.scene import Options, Scene
from tests.observe.envs import Machine, World, shared_object

KERAS = {f"keras/src/backend/{name}/__init__.py": "" for name in ("common", "jax", "numpy", "tensorflow", "torch")}
HERE = Source("call", "test")


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.venv()
    made.install("jax", "0.4.38", {"jax/__init__.py": "", "jax/version.py": ""})
    made.install("keras", "3.6.0", KERAS)
    return made


def scene_of(world: World) -> Scene:
    scene = Scene(Machine(world.root, world.environ, world.pythons), Options())
    scene.facts = Facts(target=world.look())
    return scene


@pytest.mark.parametrize(
    ("value", "told"),
    [("jax", ""), ("numpy", "not installed"), ("theano", "no such backend"), ("common", "no such backend"), ("", "")],
)
def test_a_backend_that_keras_takes_or_not(world: World, value: str, told: str) -> None:
    found = keras_backend(scene_of(world), value)
    assert told in found[0].text if told else not found, found


@pytest.mark.parametrize(
    ("said", "environ", "names"),
    [
        ({"backend": "theano"}, {}, ["keras.json:backend"]),
        ({"backend": "theano"}, {"KERAS_BACKEND": "jax"}, []),
        ({"backend": "tensorflow"}, {}, []),
        ({"backend": "jax", "image_data_format": "tf"}, {}, ["keras.json:image_data_format"]),
        ({}, {}, []),
    ],
)
def test_the_file_of_keras(world: World, said: dict[str, str], environ: dict[str, str], names: list[str]) -> None:
    world.file("/k/keras.json", json.dumps(said))
    found = list(keras_file(scene_of(world), {"KERAS_HOME": "/k", **environ}))
    assert [one.name for one in found] == names
    assert all(one.set_in == "/k/keras.json" for one in found)


@pytest.mark.parametrize(
    ("value", "parts", "told"),
    [
        ("cpp", (), "without its C++ code"),
        ("cpp", ("google/protobuf/pyext/_message.cpython-312-x86_64-linux-gnu.so",), ""),
        ("python", (), ""),
        ("upb", (), ""),
        ("java", (), "does not know"),
    ],
)
def test_the_code_of_protobuf(world: World, value: str, parts: tuple[str, ...], told: str) -> None:
    files = {"google/protobuf/internal/api_implementation.py": "if kind not in ('python', 'cpp', 'upb'):\n"}
    files |= {"google/protobuf/pyext/__init__.py": "", **dict.fromkeys(parts, "")}
    world.install("protobuf", "4.25.9", files)
    world.install("tensorflow", "2.15.1", {"tensorflow/__init__.py": ""})
    found = protobuf_code(scene_of(world), value)
    assert told in found[0].text if told else not found, found


def test_nobody_imports_protobuf(world: World) -> None:
    world.install("protobuf", "4.25.9", {"google/protobuf/pyext/__init__.py": ""})
    assert isinstance(scene_of(world).facts.target.frameworks, Known)
    assert protobuf_code(scene_of(world), "cpp") == ()


@pytest.mark.parametrize(
    ("text", "environ", "told"),
    [
        ("disable_cuda: 1\n", {}, [("NUMBA_DISABLE_CUDA", "1")]),
        ("# note\nDISABLE_CUDA: true  # for now\n", {}, [("NUMBA_DISABLE_CUDA", "1")]),
        ("disable_cuda: 1\n", {"NUMBA_DISABLE_CUDA": "0"}, []),  # the variable has its way
        ("# disable_cuda: 1\n", {}, []),
    ],
)
def test_numbas_file_in_the_working_folder(
    world: World, text: str, environ: dict[str, str], told: list[tuple[str, str]]
) -> None:
    for name in ("numba", "pyyaml"):
        world.install(name, "1.0", {f"{name}/__init__.py": ""})
    world.file("/project/.numba_config.yaml", text)
    scene = scene_of(world)
    scene.options = Options(folder="/project")
    assert [one[:2] for one in numba_file(scene, environ)] == told


@pytest.mark.parametrize(
    ("line", "environ", "told"),
    [
        ("export CUDA_VISIBLE_DEVICES=-1   # debugging", {}, [("CUDA_VISIBLE_DEVICES", "-1")]),
        ("export JAX_PLATFORMS='cpu'", {}, [("JAX_PLATFORMS", "cpu")]),
        ("export CUDA_VISIBLE_DEVICES=-1", {"CUDA_VISIBLE_DEVICES": "0"}, []),
        ("export CUDA_VISIBLE_DEVICES=-1", {"VIRTUAL_ENV": "/venv"}, []),  # activated: the shell's own values tell
        ("export CUDA_HOME=$HOME/cuda", {}, []),
        ('export XLA_FLAGS="--xla_a=1 --xla_b=2"', {}, [("XLA_FLAGS", "--xla_a=1 --xla_b=2")]),
        ('export XLA_FLAGS="--xla_a=1 $XLA_FLAGS"', {}, []),
    ],
)
def test_what_the_activation_exports(
    world: World, line: str, environ: dict[str, str], told: list[tuple[str, str]]
) -> None:
    scene = scene_of(world)
    prefix = scene.facts.target.interpreter.need().prefix  # type: ignore[union-attr]
    world.file(f"{prefix}/bin/activate", f"VIRTUAL_ENV={prefix}\n{line}\n")
    assert [one[:2] for one in activated(scene, environ)] == told


def test_without_any_backend_keras_takes_tensorflow(world: World) -> None:
    (found,) = keras_backend(scene_of(world), "numpy")
    assert (found.instead, found.needed) == ("jax", True)
    world.install("tensorflow", "2.18.0", {"tensorflow/__init__.py": ""})
    (found,) = keras_backend(scene_of(world), "numpy")
    assert not found.needed


@pytest.mark.parametrize(("value", "wrong"), [("/gone/libcuda.so", 1), ("/there/libcuda.so", 0), ("0", 1), ("", 0)])
def test_a_driver_that_numba_is_told_of(world: World, value: str, wrong: int) -> None:
    world.file("/there/libcuda.so", shared_object())
    world.install("numba", "0.60.0", {"numba/__init__.py": ""})
    world.environ = {**(world.environ or {}), "NUMBA_CUDA_DRIVER": value}
    found = value_or(variables(scene_of(world)), ())
    assert [len(one.faults) for one in found if one.name == "NUMBA_CUDA_DRIVER"] == [wrong]


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        ("/gone/bin/gcc", 1),
        ("x86_64-conda-linux-gnu-c++ -O2", 1),
        ("/there/cc", 0),
        ("cc", 0),
        ("", 0),
    ],
)
@pytest.mark.parametrize("name", ["CC", "CXX"])
def test_a_compiler_that_is_not_there(world: World, name: str, value: str, wrong: int) -> None:
    world.file("/there/cc", "")
    world.install("torch", "2.6.0", {"torch/__init__.py": "", "torch/version.py": "__version__ = '2.6.0'"})
    world.environ = {**(world.environ or {}), "PATH": "/there:/nowhere", name: value}
    found = value_or(variables(scene_of(world)), ())
    assert [len(one.faults) for one in found if one.name == name] == [wrong]
