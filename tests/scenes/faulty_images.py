"""Images with one known fault each, made of small layers."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.look.world import World, shared_object

from .test_scenes import tensorflow, toolkit

CUDA = "/usr/local/cuda-10.1/lib64"
CUDA_10_1 = (
    "libcudart.so.10.1 10.1.243", "libcublas.so.10 10.2.1.243", "libcufft.so.10 10.1.1.243",
    "libcurand.so.10 10.1.1.243", "libcusolver.so.10 10.2.0.243", "libcusparse.so.10 10.3.0.243",
)  # fmt: skip
CUDNN = "libcudnn.so.7 7.6.5"
ENV = ["PATH=/venv/bin:/usr/bin", "VIRTUAL_ENV=/venv"]
FOUND = f"LD_LIBRARY_PATH={CUDA}"


class Faulty(NamedTuple):
    """One image: what its files and its config are, and the cause it must show."""

    name: str
    build: Callable[[World], None]
    env: list[str]
    cause: str
    word: str  # of the sentence


def base(world: World, libc: str = "glibc") -> None:
    """What every image has: a shell, a name, a C library."""
    world.file("/bin/sh", shared_object())
    world.file("/etc/os-release", 'PRETTY_NAME="Ubuntu 18.04"\n' if libc == "glibc" else 'PRETTY_NAME="Alpine 3.20"\n')
    if libc == "musl":
        world.file("/lib/ld-musl-x86_64.so.1", shared_object())
        return
    world.file("/lib64/libc-2.27.so", b"")
    os.symlink("libc-2.27.so", world.root / "lib64/libc.so.6")


def good(world: World) -> None:
    base(world)
    tensorflow(world, "2.3.4", "10.1", "7.6.5")
    toolkit(world, CUDA, *CUDA_10_1, CUDNN)


def bare(world: World) -> None:
    base(world)
    tensorflow(world, "2.3.4", "10.1", "7.6.5")


def cuda_11(world: World) -> None:
    bare(world)
    folder = "/usr/local/cuda-11.0/lib64"
    toolkit(
        world, folder, "libcudart.so.11.0 11.0.221", "libcublas.so.11 11.2.0", "libcufft.so.10 10.2.1",
        "libcurand.so.10 10.2.1", "libcusolver.so.10 10.6.0", "libcusparse.so.11 11.1.1", "libcudnn.so.8 8.0.5",
    )  # fmt: skip


def without_cudnn(world: World) -> None:
    bare(world)
    toolkit(world, CUDA, *CUDA_10_1)


def with_stubs(world: World) -> None:
    good(world)
    world.file(f"{CUDA}/stubs/libcuda.so.1", shared_object())


def with_compat(world: World) -> None:
    good(world)
    world.file("/usr/local/cuda-10.1/compat/libcuda.so.418.226.00", shared_object(padding=1 << 21))
    os.symlink("libcuda.so.418.226.00", world.root / "usr/local/cuda-10.1/compat/libcuda.so.1")


def with_driver(world: World) -> None:
    good(world)
    world.file("/usr/lib/x86_64-linux-gnu/libcuda.so.535.104.05", shared_object(padding=1 << 21))
    os.symlink("libcuda.so.535.104.05", world.root / "usr/lib/x86_64-linux-gnu/libcuda.so.1")


def on_musl(world: World) -> None:
    base(world, "musl")
    tensorflow(world, "2.3.4", "10.1", "7.6.5")


STUBS_FIRST = f"LD_LIBRARY_PATH={CUDA}/stubs:{CUDA}"
COMPAT_FIRST = f"LD_LIBRARY_PATH=/usr/local/cuda-10.1/compat:{CUDA}"
FAULTY = [
    Faulty(name, build, [*ENV, *variables], cause, word)
    for name, build, variables, cause, word in (
        ("cuda-11-for-10", cuda_11, ["LD_LIBRARY_PATH=/usr/local/cuda-11.0/lib64"], "cuda.version_mismatch",
         "libcudart.so.10.1"),
        ("no-cuda-at-all", bare, [], "cuda.missing_library", "in this image"),
        ("no-cudnn", without_cudnn, [FOUND], "cudnn.missing", "libcudnn.so.7"),
        ("off-the-path", good, [], "env.path", "the loader does not look there"),
        ("stubs-first", with_stubs, [STUBS_FIRST], "driver.stub", "error 34"),
        ("compat-first", with_compat, [COMPAT_FIRST], "driver.compat_misuse", "803"),
        ("driver-baked-in", with_driver, [FOUND], "driver.library_mismatch", "535.104.05"),
        ("musl", on_musl, [], "framework.platform_dropped", "glibc"),
        ("no-compute", good, [FOUND, "NVIDIA_DRIVER_CAPABILITIES=utility"], "container.no_gpu", "lacks compute"),
        ("hidden-by-config", good, [FOUND, "NVIDIA_VISIBLE_DEVICES=void"], "container.no_gpu", "void"),
        ("hidden-by-cuda", good, [FOUND, "CUDA_VISIBLE_DEVICES=-1"], "device.selection", "leaves no GPU"),
    )
]  # fmt: skip
"""Each with the one fault that its name says; all others are as in `good`."""


def made(one: Faulty, folder: Path) -> World:
    """The files of an image below a folder."""
    world = World(folder)
    one.build(world)
    return world
