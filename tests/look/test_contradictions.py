"""What installed releases ask of each other, what they do not state, what their files tell."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpuwhy.facts.fact import Unknown
from tests.look.world import World

ROWS = msgspec.toml.decode((Path(__file__).parent / "contradictions.toml").read_bytes())["row"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["what"])
def test_row(world: World, row: dict[str, Any]) -> None:
    for package, requires in row["installed"].items():
        world.install(*package.split(), requires=requires)
    every = [list(one) for one in found(world)]
    assert every == row.get("found", every)
    assert all(one in every for one in row.get("among", ()))
    told = world.look().installs.contradictions.need() or ()
    assert all(one.stops == row.get("stops", one.stops) for one in told)


def found(world: World) -> list[tuple[str, str, str, str]]:
    told = world.look().installs.contradictions.need() or ()
    return [(c.by.name, c.name, c.installed, c.basis.value) for c in told]


def library(*words: str) -> bytes:
    return b"\x7fELF" + b"\0".join(word.encode() for word in words) + bytes(60_000)


def test_compiled_for_numpy_1(world: World) -> None:
    world.install(
        "onnxruntime", "1.30.0", {"onnxruntime/a.so": library("numpy.core.multiarray")}, ["numpy>=1.21"]
    )
    world.install(
        "torch",
        "2.9.0",
        {"torch/lib/libtorch_python.so": library("numpy._core.multiarray", "numpy.core.multiarray")},
    )
    world.install("pandas", "2.1.4", {"pandas/b.so": library("numpy.core.multiarray")}, ["numpy"])
    world.install("numpy", "2.1.3")
    assert found(world) == [("onnxruntime", "numpy", "2.1.3", "compiled")]


def test_numpy_1_needs_no_look_into_libraries(world: World) -> None:
    world.install(
        "onnxruntime", "1.30.0", {"onnxruntime/a.so": library("numpy.core.multiarray")}, ["numpy>=1.21"]
    )
    world.install("numpy", "1.26.4")
    assert found(world) == []


OLD = "_X = _descriptor.FieldDescriptor(\n"
NEW = "# Protobuf Python Version: 5.28.3\n_runtime_version.ValidateProtobufRuntimeVersion(\n"


@pytest.mark.parametrize(
    "code, protobuf, told",
    [(OLD, "4.25.5", True), (OLD, "3.20.3", False), (NEW, "5.27.0", True), (NEW, "5.29.5", False),
     (NEW, "6.31.1", False), (NEW, "7.0.0", True), ("builder.Build\n", "6.31.1", False)],
)  # fmt: skip
def test_generated_code(world: World, code: str, protobuf: str, told: bool) -> None:
    world.install("tensorflow", "2.10.1", {"tensorflow/core/a_pb2.py": code}, ["protobuf>=3"])
    world.install("protobuf", protobuf)
    assert found(world) == ([("tensorflow", "protobuf", protobuf, "generated")] if told else [])


def test_metadata_that_cannot_be_read_leaves_it_open(world: World) -> None:
    folder = world.install("torch", "2.6.0")
    path = world.root / folder.lstrip("/") / "METADATA"
    path.unlink()
    path.mkdir()
    assert isinstance(world.look().installs.contradictions, Unknown)
