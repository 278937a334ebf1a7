"""Configured: settings that the installed files of Keras and protobuf do not take."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpuwhy.model.fact import Known, Source
from gpuwhy.model.facts import Facts
from gpuwhy.observe.configured import keras_backend, keras_file, protobuf_code
from gpuwhy.observe.scene import Options, Scene
from tests.observe.envs import Machine, World

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
