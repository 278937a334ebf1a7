"""What an image's files put before the driver of every machine they come to, and what only looks like it."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.scenes.stage import judged as answer_of
from gpuwhy.look.assumed import AssumedMachine
from gpuwhy.formats.ldcache import CacheEntry
from gpuwhy.answer.answer import Answer as Report
from tests.formats.made import X86_64, new_format
from tests.machine.images import saved
from tests.look.world import World, shared_object

from .faulty_images import CUDA, ENV, good
from .test_images import packed

SYSTEM = "/usr/lib/x86_64-linux-gnu"
STUBS, COMPAT = f"{CUDA}/stubs", "/usr/local/cuda-10.1/compat"
TOLD = AssumedMachine((("Tesla T4", "7.5"),), "535.104.05")
BIG = shared_object(padding=1 << 21)


def configure(world: World, **files: str) -> None:
    """ld.so.conf.d, and the cache that ldconfig would make of it: of each name the copies in the order of folders."""
    world.file("/etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n")
    for name, folders in {"x86_64": f"# Multiarch\n{SYSTEM}", "cuda": CUDA, **files}.items():
        world.file(f"/etc/ld.so.conf.d/{name}.conf", f"{folders}\n")
    (world.root / SYSTEM[1:]).mkdir(parents=True, exist_ok=True)
    remember(world, *(folder for _, folder in sorted({"x86_64": SYSTEM, "cuda": CUDA, **files}.items())))


def remember(world: World, *folders: str) -> None:
    found = [(name, folder) for folder in folders for name in sorted(os.listdir(world.root / folder[1:]))]
    entries = [CacheEntry(name, f"{folder}/{name}", X86_64, 0) for name, folder in found if ".so" in name]
    world.file("/etc/ld.so.cache", new_format(entries))


def driver(world: World, folder: str, version: str, name: str) -> None:
    world.file(f"{folder}/{name}.{version}", BIG)
    os.symlink(f"{name}.{version}", world.root / folder[1:] / f"{name}.1")


def stubs(name: str, world: World) -> None:
    """A stub in a folder that a file of ld.so.conf.d lists."""
    world.file(f"{STUBS}/libcuda.so.1", shared_object())
    configure(world, **{name: STUBS})


def listed(name: str, folder: str, version: str, library: str, world: World) -> None:
    """A library of a driver in such a folder."""
    driver(world, folder, version, library)
    configure(world, **{name: folder})


OLD, LOCAL, NVIDIA = "470.256.02", "/usr/local/lib", "/usr/local/nvidia/lib64"
stubs_first, stubs_last = partial(stubs, "000_stubs"), partial(stubs, "z-cuda-stubs")
driver_in_local = partial(listed, "000_local", LOCAL, OLD, "libcuda.so")
nvml_in_local = partial(listed, "000_local", LOCAL, OLD, "libnvidia-ml.so")
driver_behind = partial(listed, "zz_old", "/opt/old", OLD, "libcuda.so")
compat_first = partial(listed, "00-cuda-compat", COMPAT, "418.226.00", "libcuda.so")
driver_in_nvidia = partial(listed, "nvidia", NVIDIA, OLD, "libcuda.so")


def link_to_a_stub(world: World) -> None:
    world.file(f"{STUBS}/libcuda.so", shared_object())
    (world.root / SYSTEM[1:]).mkdir(parents=True)
    os.symlink(f"{STUBS}/libcuda.so", world.root / SYSTEM[1:] / "libcuda.so.1")
    configure(world)


def never_listed(world: World) -> None:
    configure(world)
    remember(world, SYSTEM)


def never_listed_in_the_environment(world: World) -> None:
    """The same of a folder of the framework's own environment."""
    inside = "/venv/lib/python3.12/site-packages/nvidia/cublas/lib"
    for name in ("libcublas.so.10", "libcublas.so.10.2.1.243"):
        (world.root / CUDA[1:] / name).unlink(missing_ok=True)
    world.file(f"{inside}/libcublas.so.10", shared_object())
    configure(world, gpu=inside)
    remember(world, SYSTEM, CUDA)


def cache_of_a_file_that_is_gone(world: World) -> None:
    configure(world)
    (world.root / CUDA[1:] / "libcublas.so.10").rename(world.root / SYSTEM[1:] / "libcublas.so.9")


def left_by_a_mount(world: World) -> None:
    world.file(f"{SYSTEM}/libcuda.so.1", b"")
    configure(world)


def preloaded(world: World) -> None:
    world.file(f"{STUBS}/libcuda.so.1", shared_object())
    world.file("/etc/ld.so.preload", f"{STUBS}/libcuda.so.1\n")
    configure(world)


BROKEN = [
    (stubs_first, "driver.stub"), (link_to_a_stub, "driver.stub"), (preloaded, "driver.stub"),
    (driver_in_local, "driver.library_mismatch"), (nvml_in_local, "driver.library_mismatch"),
    (driver_in_nvidia, "driver.library_mismatch"), (compat_first, "driver.compat_misuse"),
    (never_listed, "env.path"), (never_listed_in_the_environment, "env.path"),
    (left_by_a_mount, "install.corrupted"),
]  # fmt: skip
SOUND = [stubs_last, driver_behind, configure]


def judged(
    build: Callable[[World], None], root: Path, image: bool, elsewhere: AssumedMachine | None
) -> Report:
    world = World(root / "root")
    good(world)
    build(world)
    if not image:
        return answer_of(world.root, "/venv", elsewhere)
    env = [*ENV, "NVIDIA_VISIBLE_DEVICES=all"]
    return answer_of(saved(root / "i", packed(world.root), env=env), "/venv", elsewhere)


@pytest.mark.parametrize("image", [False, True], ids=["folder", "image"])
@pytest.mark.parametrize(("build", "cause"), BROKEN)
def test_what_comes_first_on_every_machine_is_named(build, cause, image, tmp_path):
    report = judged(build, tmp_path, image, TOLD)
    first = report.causes[0]
    assert (first.id, report.exit_code) == (cause, 1), report.headline
    assert first.fixes
    assert not any("/as if" in one.command for one in first.fixes)


@pytest.mark.parametrize("image", [False, True], ids=["folder", "image"])
@pytest.mark.parametrize("build", SOUND)
def test_what_the_driver_comes_before_accuses_nobody(build, image, tmp_path):
    report = judged(build, tmp_path, image, TOLD)
    accused = [c.id for c in report.causes if c.found and c.stops]
    assert (accused, report.status) == ([], "healthy"), report.headline


@pytest.mark.parametrize(
    "told", [None, AssumedMachine((("Tesla T4", "7.5"),)), AssumedMachine(driver="535.104.05"), TOLD]
)
@pytest.mark.parametrize("build", [stubs_first, driver_in_local, never_listed, cache_of_a_file_that_is_gone])
def test_no_flag_makes_it_healthy(build, told, tmp_path):
    report = judged(build, tmp_path, False, told)
    assert report.status != "healthy"
    assert "Nothing wrong" not in report.headline
    assert "can work" not in report.headline


def test_the_order_of_the_cache_is_not_the_last_word_in_a_container(tmp_path):
    report = judged(stubs_first, tmp_path, False, TOLD)
    assert "container runtime runs ldconfig" in report.causes[0].because[0].text
    assert report.causes[0].confidence < 0.9
