"""TensorRT: bindings by themselves are a framework, and name the libraries that they link."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuwhy.facts.fact import value_or
from tests.look.world import World, shared_object

NEEDS = ("libnvinfer.so.10", "libnvonnxparser.so.10", "libc.so.6")


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("tensorrt-cu12-bindings", "tensorrt_bindings/tensorrt.so"),
        ("tensorrt-bindings", "tensorrt_bindings/tensorrt.so"),
        ("tensorrt", "tensorrt/tensorrt.cpython-312-x86_64-linux-gnu.so"),
    ],
)
def test_bindings_name_their_libraries(tmp_path: Path, name: str, file: str) -> None:
    world = World(tmp_path)
    world.venv()
    world.install(name, "10.9.0.34", {file: shared_object(*NEEDS)})
    (found,) = world.look().frameworks.installed.need() or ()
    assert (found.name, found.package) == ("tensorrt", name)
    assert [one.name for one in value_or(found.opens, ())] == list(NEEDS[:2])


def test_all_three_wheels_are_one_framework(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.venv()
    world.install("tensorrt-cu12", "10.9.0.34", {"tensorrt/__init__.py": ""})
    world.install(
        "tensorrt-cu12-bindings",
        "10.9.0.34",
        {"tensorrt_bindings/tensorrt.so": shared_object(*NEEDS)},
    )
    (found,) = world.look().frameworks.installed.need() or ()
    assert (found.package, value_or(found.built_for_cuda, "")) == ("tensorrt-cu12", "12")
    assert value_or(found.opens, ())[0].by.endswith("tensorrt_bindings/tensorrt.so")
