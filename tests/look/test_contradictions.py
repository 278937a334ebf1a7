"""What installed releases ask of each other, what they do not state, what their files tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuwhy.facts.fact import Unknown
from tests.look.world import World


def found(world: World, late: bool = False) -> list[tuple[str, str, str, str]]:
    told = [
        (c.by.name, c.name, c.installed, c.basis.value)
        for c in world.look().installs.contradictions.need() or ()
    ]
    return [one for one in told if late or one[3] != "late"]


def library(*words: str) -> bytes:
    return b"\x7fELF" + b"\0".join(word.encode() for word in words) + bytes(60_000)


def test_a_requirement_that_is_not_met(world: World) -> None:
    world.install("torch", "2.6.0", requires=['triton==3.2.0; platform_system == "Linux"'])
    world.install("triton", "3.0.0")
    assert found(world) == [("torch", "triton", "3.0.0", "stated")]
    world.install("triton", "3.2.0", site="/nowhere/lib/python3.12/site-packages")
    assert len(found(world)) == 1


@pytest.mark.parametrize(
    "requires",
    [
        'triton==3.2.0; platform_system == "Windows"',
        'triton==3.2.0; python_version < "3.9"',
        'triton==3.2.0; extra == "more"',
        "triton>=2",
        "triton",
        "nvidia-cudnn-cu12==9.1.0.70",
        "what is this",
    ],
)
def test_what_does_not_hold_here_is_not_told(world: World, requires: str) -> None:
    world.install("torch", "2.6.0", requires=[requires])
    world.install("triton", "3.0.0")
    world.install("nvidia-cudnn-cu12", "8.9.7.29")
    assert found(world) == []


def test_lines_with_markers_are_alternatives(world: World) -> None:
    world.install(
        "jax",
        "0.4.38",
        requires=['numpy>=1.24; python_version < "3.12"', 'numpy>=1.26; python_version >= "3.12"'],
    )
    world.install("numpy", "1.25.0")
    assert found(world) == [("jax", "numpy", "1.25.0", "stated")]


def test_a_flavour_is_its_framework(world: World) -> None:
    world.install("tensorflow-cpu", "2.17.0")
    world.install("tf-keras", "2.17.0", requires=["tensorflow<2.18,>=2.17"])
    assert found(world) == []
    world.install("tensorflow-text", "2.15.0", requires=["tensorflow<2.16,>=2.15"])
    assert found(world) == [("tensorflow-text", "tensorflow", "2.17.0", "stated")]


def test_an_extra_counts_where_nobody_installs_it_otherwise(world: World) -> None:
    world.install(
        "jax",
        "0.4.38",
        requires=['jax-cuda12-plugin<=0.4.38,>=0.4.38; extra == "cuda12"', "jaxlib<=0.4.38"],
    )
    world.install("jaxlib", "0.4.38")
    world.install("jax-cuda12-plugin", "0.4.30")
    assert ("jax", "jax-cuda12-plugin", "0.4.30", "extra") in found(world)
    assert ("jax-cuda12-plugin", "jaxlib", "0.4.38", "same release") in found(world)


def test_what_jax_itself_allows_is_no_contradiction(world: World) -> None:
    extra = 'jax-cuda12-plugin[with-cuda]<=0.4.35,>=0.4.34; extra == "cuda12"'
    world.install("jax", "0.4.35", requires=["jaxlib<=0.4.35,>=0.4.34", extra])
    world.install("jaxlib", "0.4.34")
    world.install("jax-cuda12-plugin", "0.4.35")
    assert found(world) == []


@pytest.mark.parametrize("jaxlib", ["0.4.34", "0.5.3"])
def test_what_jax_does_not_allow_is_one(world: World, jaxlib: str) -> None:
    extra = f'jax-cuda12-plugin[with-cuda]<=0.4.35,>={jaxlib}; extra == "cuda12"'
    world.install("jax", "0.4.35", requires=[f"jaxlib<=0.4.35,>={jaxlib}", extra])
    world.install("jaxlib", jaxlib)
    world.install("jax-cuda12-plugin", "0.4.30")
    assert ("jax-cuda12-plugin", "jaxlib", jaxlib, "same release") in found(world)


def test_a_neighbour_of_a_neighbour_counts_and_a_stranger_does_not(world: World) -> None:
    world.install("torch", "2.6.0", requires=["sympy==1.13.1"])
    world.install("sympy", "1.13.1", requires=["mpmath<1.4"])
    world.install("mpmath", "1.5.0")
    world.install("requests", "2.32.3", requires=["urllib3<3,>=1.21.1"])
    world.install("urllib3", "1.20")
    assert found(world) == [("sympy", "mpmath", "1.5.0", "stated")]


def test_what_is_not_installed(world: World) -> None:
    world.install("torch", "2.6.0", requires=["sympy==1.13.1", "nvidia-nccl-cu12==2.21.5"])
    assert found(world) == [
        ("torch", "sympy", "", "stated"),
        ("torch", "nvidia-nccl-cu12", "", "wheel"),
    ]


def test_a_limit_that_is_not_stated(world: World) -> None:
    world.install("jax", "0.4.20", requires=["scipy>=1.9"])
    world.install("scipy", "1.14.1")
    assert found(world) == [("jax", "scipy", "1.14.1", "unstated")]


def test_compiled_for_numpy_1(world: World) -> None:
    world.install(
        "onnxruntime",
        "1.30.0",
        {"onnxruntime/a.so": library("numpy.core.multiarray")},
        ["numpy>=1.21"],
    )
    world.install(
        "torch",
        "2.9.0",
        {
            "torch/lib/libtorch_python.so": library(
                "numpy._core.multiarray", "numpy.core.multiarray"
            )
        },
    )
    world.install("pandas", "2.1.4", {"pandas/b.so": library("numpy.core.multiarray")}, ["numpy"])
    world.install("numpy", "2.1.3")
    assert found(world) == [
        ("onnxruntime", "numpy", "2.1.3", "compiled"),
    ]


def test_numpy_1_needs_no_look_into_libraries(world: World) -> None:
    world.install(
        "onnxruntime",
        "1.30.0",
        {"onnxruntime/a.so": library("numpy.core.multiarray")},
        ["numpy>=1.21"],
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


def test_nothing_is_read_without_a_gpu_package(world: World) -> None:
    world.install("requests", "2.32.3", requires=["urllib3<3,>=1.21.1"])
    world.install("urllib3", "1.20")
    assert found(world) == []


def test_a_wheel_of_nvidia_that_is_not_there_is_kept_for_the_loader_to_judge(world: World) -> None:
    world.install(
        "torch",
        "2.6.0",
        requires=["nvidia-cuda-nvrtc-cu12==12.4.127", 'nvidia-nccl-cu12; extra == "x"'],
    )
    assert found(world) == [("torch", "nvidia-cuda-nvrtc-cu12", "", "wheel")]


def test_a_plugin_without_its_other_half(world: World) -> None:
    world.install("jax", "0.4.38", requires=["jaxlib<=0.4.38"])
    world.install("jaxlib", "0.4.38")
    world.install("jax-cuda12-plugin", "0.4.38", requires=["jax-cuda12-pjrt==0.4.38"])
    (one,) = world.look().installs.contradictions.need() or ()
    assert (one.by.name, one.name, one.installed, one.stops) == (
        "jax-cuda12-plugin",
        "jax-cuda12-pjrt",
        "",
        True,
    )


def test_what_only_a_part_needs_is_kept_for_an_ending_there(world: World) -> None:
    world.install("torch", "2.6.0", requires=["triton==3.2.0"])
    world.install("triton", "3.2.0")
    assert found(world, late=True) == [("triton", "setuptools", "", "late")]
    world.install("setuptools", "75.8.0")
    assert found(world, late=True) == []


def test_what_is_needed_and_not_stated(world: World) -> None:
    world.install("tensorflow", "2.15.1")
    world.install("tensorflow-hub", "0.16.1")
    assert found(world) == [("tensorflow-hub", "setuptools", "", "unstated")]
    world.install("setuptools", "84.0.0")
    assert found(world) == [("tensorflow-hub", "setuptools", "84.0.0", "unstated")]


def test_two_plugins_of_jax_and_the_one_whose_cuda_is_there_is_kept(world: World) -> None:
    world.install("jax", "0.7.2")
    world.install("jax-cuda12-plugin", "0.7.2")
    assert [one for one in found(world) if one[3] == "rival"] == []
    world.install("jax-cuda13-plugin", "0.7.2")
    assert ("jax-cuda13-plugin", "jax-cuda12-plugin", "0.7.2", "rival") in found(world)
    world.install("nvidia-cuda-runtime", "13.0.96")
    assert ("jax-cuda12-plugin", "jax-cuda13-plugin", "0.7.2", "rival") in found(world)


def test_half_of_jax_s_plugin(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.venv()
    for name in ("jax", "jaxlib", "jax-cuda12-pjrt"):
        world.install(name, "0.5.3")
    (one,) = world.look().installs.contradictions.need() or ()
    assert (one.by.name, one.name, one.wants, one.installed) == (
        "jax-cuda12-pjrt",
        "jax-cuda12-plugin",
        "==0.5.3",
        "",
    )


def test_a_neighbour_that_was_seen_to_fail_beside_this_release(world: World) -> None:
    """flax 0.7.5 states jax>=0.4.19 and no upper end."""
    world.install("jax", "0.12.0")
    world.install("flax", "0.7.5", requires=["jax>=0.4.19"])
    assert found(world) == [("flax", "jax", "0.12.0", "unstated")]
    world.install(
        "flax", "0.12.1", requires=["jax>=0.4.19"], site="/nowhere/lib/python3.12/site-packages"
    )
    assert len(found(world)) == 1


def test_a_neighbour_that_works_is_not_told(world: World) -> None:
    world.install("jax", "0.12.0")
    world.install("flax", "0.8.5", requires=["jax>=0.4.19"])
    assert found(world) == []


@pytest.mark.parametrize(("torch", "stops"), [("2.6.0", True), ("2.5.0", False)])
def test_a_companion_of_another_minor_release_is_known_to_fail(
    world: World, torch: str, stops: bool
) -> None:
    """torchvision fails beside another minor release; beside another patch it mostly works."""
    world.install("torch", torch)
    world.install("torchvision", "0.20.1", requires=["torch==2.5.1"])
    (one,) = world.look().installs.contradictions.need() or ()
    assert (one.basis.value, one.stops) == ("stated", stops)
