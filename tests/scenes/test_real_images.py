"""Ten images of the published onnxruntime-gpu 1.18.1, each with one fault: `check --root` names it, as lint does.

    GPUWHY_WHEELS=FOLDER pytest -m real tests/scenes/test_real_images.py

The folder holds (or gets, by pip) the wheels of onnxruntime-gpu 1.18.1 for Python 3.12 and of nvidia-cuda-runtime-cu11;
C and C++ libraries are this machine's. cuBLAS, cuDNN, cuFFT and cuRAND, a gigabyte and a half, are made by gcc with the
very symbols and versions that the published provider asks for. The wheel is one layer of 0.6 GB, linked into each.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.scenes.stage import judged as answer_of
from gpuwhy.lint.linter import lint
from tests.machine.images import MEDIA, config
from tests.look.world import SITE, World, shared_object

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif("GPUWHY_WHEELS" not in os.environ, reason="needs GPUWHY_WHEELS, a folder for wheels"),
    pytest.mark.skipif(not shutil.which("gcc") or not shutil.which("readelf"), reason="needs gcc and readelf"),
]
CUDA = "/usr/local/cuda-11.8/lib64"
COMPAT = "/usr/local/cuda-11.8/compat"
BASE = "nvidia/cuda:11.8.0-cudnn8-runtime-ubuntu22.04"
DEVEL = BASE.replace("runtime", "devel")
ENV = ["PATH=/venv/bin:/usr/bin", "VIRTUAL_ENV=/venv"]
FOUND = f"LD_LIBRARY_PATH={CUDA}"
PIP = "RUN pip install onnxruntime-gpu==1.18.1\n"
MADE = ("libcublas.so.11", "libcublasLt.so.11", "libcudnn.so.8", "libcufft.so.10", "libcurand.so.10")
SYSTEM = ("libstdc++.so.6", "libm.so.6", "libgcc_s.so.1", "libdl.so.2", "librt.so.1", "libpthread.so.0", "libc.so.6")


def wheel(name: str, version: str) -> Path:
    folder = Path(os.environ["GPUWHY_WHEELS"])
    found = sorted(folder.glob(f"{name.replace('-', '_')}-{version}-*.whl"))
    found = [one for one in found if "cp312" in one.name or "py3" in one.name]
    if not found:
        words = ["download", "--no-deps", "--only-binary=:all:", "--python-version=3.12", f"{name}=={version}"]
        platforms = ["--platform=manylinux_2_28_x86_64", "--platform=manylinux1_x86_64"]
        subprocess.run(
            [sys.executable, "-m", "pip", "-q", *words, *platforms, "--dest", folder], check=True, timeout=900
        )
        return wheel(name, version)
    return found[0]


def stand_in(target: Path, provider: Path) -> None:
    """A library with every symbol, of the right version, that the published provider asks it for."""
    said = subprocess.run(["readelf", "--dyn-syms", "-W", provider], capture_output=True, text=True, check=True).stdout
    names = re.findall(rf" UND (\w+)@{re.escape(target.name)} ", said)
    if target.name == "libcurand.so.10":  # its symbols have no version
        names = re.findall(r" UND (curand\w+)\s*$", said, re.MULTILINE)
    source, script = target.with_suffix(".c"), target.with_suffix(".map")
    source.write_text("".join(f"int {name}(void) {{ return 0; }}\n" for name in sorted(set(names))) or "int none;\n")
    script.write_text(f"{target.name} {{ global: *; }};\n")
    versions = [] if "curand" in target.name else [f"-Wl,--version-script={script}"]
    options = ["-shared", "-nostdlib", f"-Wl,-soname,{target.name}", *versions]
    subprocess.run(["gcc", *options, "-o", target, source], check=True, timeout=60)
    source.unlink()
    script.unlink()


class Parts(NamedTuple):
    """The layers of every image, as tar files with their digests."""

    framework: Path
    provider: Path
    runtime: Path


@pytest.fixture(scope="session")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Parts:
    folder = tmp_path_factory.mktemp("parts")
    world = World(folder / "framework")
    world.venv()
    with zipfile.ZipFile(wheel("onnxruntime-gpu", "1.18.1")) as archive:
        archive.extractall(world.root / SITE.lstrip("/"))
    for path in (world.root / SITE.lstrip("/")).glob("*.dist-info/METADATA"):
        lines = path.read_text().splitlines(keepends=True)  # NumPy and the others are not in these images
        path.write_text("".join(line for line in lines if not line.startswith("Requires-Dist: ")))
    provider = world.root / f"{SITE}/onnxruntime/capi/libonnxruntime_providers_cuda.so".lstrip("/")
    with tarfile.open(folder / "framework.tar", "w") as tar:
        tar.add(world.root, ".")
    with zipfile.ZipFile(wheel("nvidia-cuda-runtime-cu11", "11.8.89")) as archive:
        runtime = archive.extract("nvidia/cuda_runtime/lib/libcudart.so.11.0", folder)
    return Parts(folder / "framework.tar", provider, Path(runtime))


def system(world: World) -> None:
    """This machine's C and C++ libraries, and a name."""
    world.file("/etc/os-release", 'PRETTY_NAME="Ubuntu 22.04"\n')
    world.file("/bin/sh", shared_object())
    listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    for name in SYSTEM:
        found = re.search(rf"^\s+{re.escape(name)} \(libc6,x86-64.*=> (\S+)", listed, re.MULTILINE)
        assert found, name
        world.file(f"/usr/lib/x86_64-linux-gnu/{name}", Path(found[1]).read_bytes())
    world.file("/lib64/ld-linux-x86-64.so.2", Path("/lib64/ld-linux-x86-64.so.2").read_bytes())


def good(world: World, parts: Parts) -> None:
    system(world)
    world.file(f"{CUDA}/libcudart.so.11.0", parts.runtime.read_bytes())
    for name in MADE:
        stand_in(world.file(f"{CUDA}/{name}"), parts.provider)
    for part in ("ops_infer", "ops_train", "cnn_infer", "cnn_train", "adv_infer", "adv_train"):
        world.file(f"{CUDA}/libcudnn_{part}.so.8", shared_object())


def bare(world: World, parts: Parts) -> None:
    system(world)


def without_cudnn(world: World, parts: Parts) -> None:
    good(world, parts)
    (world.root / f"{CUDA}/libcudnn.so.8".lstrip("/")).unlink()


def cuda_12(world: World, parts: Parts) -> None:
    system(world)
    folder = "/usr/local/cuda-12.4/lib64"
    for name in ("libcudart.so.12", "libcublas.so.12", "libcublasLt.so.12", "libcufft.so.11", "libcurand.so.10"):
        world.file(f"{folder}/{name}", shared_object())
    world.file(f"{folder}/libcudnn.so.9", shared_object())


def with_stubs(world: World, parts: Parts) -> None:
    good(world, parts)
    world.file(f"{CUDA}/stubs/libcuda.so.1", shared_object())


def with_compat(world: World, parts: Parts) -> None:
    good(world, parts)
    world.file("/usr/local/cuda-11.8/compat/libcuda.so.520.61.05", shared_object(padding=1 << 21))
    os.symlink("libcuda.so.520.61.05", world.root / "usr/local/cuda-11.8/compat/libcuda.so.1")


def with_driver(world: World, parts: Parts) -> None:
    good(world, parts)
    world.file("/usr/lib/x86_64-linux-gnu/libcuda.so.535.104.05", shared_object(padding=1 << 21))
    os.symlink("libcuda.so.535.104.05", world.root / "usr/lib/x86_64-linux-gnu/libcuda.so.1")


def on_musl(world: World, parts: Parts) -> None:
    world.file("/etc/os-release", 'PRETTY_NAME="Alpine 3.20"\n')
    world.file("/bin/sh", shared_object())
    world.file("/lib/ld-musl-x86_64.so.1", shared_object())


class Faulty(NamedTuple):
    """One image, the causes it may show first, its Dockerfile, and what lint says of that."""

    build: Callable[[World, Parts], None]
    env: list[str]
    causes: tuple[str, ...]
    dockerfile: str
    rule: str


FAULTY = {
    "no CUDA at all": Faulty(bare, ENV, ("cuda.missing_library",), f"FROM python:3.12-slim\n{PIP}", "no-system-cuda"),
    "CUDA 12": Faulty(cuda_12, [*ENV, "LD_LIBRARY_PATH=/usr/local/cuda-12.4/lib64"], ("cuda.version_mismatch",),
                      f"FROM nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04\n{PIP}", "base-image"),
    "no cuDNN": Faulty(without_cudnn, [*ENV, FOUND], ("cudnn.missing",),
                       f"FROM nvidia/cuda:11.8.0-runtime-ubuntu22.04\n{PIP}", "base-image"),
    "stubs first": Faulty(with_stubs, [*ENV, f"LD_LIBRARY_PATH={CUDA}/stubs:{CUDA}"], ("driver.stub",),
                          f"FROM {DEVEL}\n{PIP}ENV LD_LIBRARY_PATH={CUDA}/stubs:{CUDA}\n", "stubs"),
    "compat first": Faulty(with_compat, [*ENV, f"LD_LIBRARY_PATH={COMPAT}:{CUDA}"],
                           ("driver.compat_misuse",),
                           f"FROM {BASE}\n{PIP}ENV LD_LIBRARY_PATH={COMPAT}:{CUDA}\n", "compat-first"),
    "driver baked in": Faulty(with_driver, [*ENV, FOUND], ("driver.library_mismatch",),
                              f"FROM {BASE}\nRUN apt-get install -y libnvidia-compute-535\n{PIP}", "driver-in-image"),
    "musl": Faulty(on_musl, ENV, ("framework.platform_dropped",), f"FROM python:3.12-alpine\n{PIP}", "musl"),
    "no compute": Faulty(good, [*ENV, FOUND, "NVIDIA_DRIVER_CAPABILITIES=utility"], ("container.no_gpu",),
                         f"FROM {BASE}\n{PIP}ENV NVIDIA_DRIVER_CAPABILITIES=utility\n", "driver-capabilities"),
    "void": Faulty(good, [*ENV, FOUND, "NVIDIA_VISIBLE_DEVICES=void"], ("container.no_gpu",),
                   f"FROM {BASE}\n{PIP}ENV NVIDIA_VISIBLE_DEVICES=void\n", "gpus-hidden"),
    "hidden": Faulty(good, [*ENV, FOUND, "CUDA_VISIBLE_DEVICES=-1"], ("device.selection",),
                     f"FROM {BASE}\n{PIP}ENV CUDA_VISIBLE_DEVICES=-1\n", "gpus-hidden"),
}  # fmt: skip


def layout(folder: Path, layers: list[Path], env: list[str]) -> Path:
    """An OCI layout whose layers are links to tar files."""
    blobs = folder / "blobs/sha256"
    blobs.mkdir(parents=True)

    def blob(source: Path | bytes, media: str) -> dict[str, Any]:
        if isinstance(source, bytes):
            digest, size = hashlib.sha256(source).hexdigest(), len(source)
            (blobs / digest).write_bytes(source)
        else:
            with source.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            size = source.stat().st_size
            os.link(source, blobs / digest)
        return {"mediaType": f"{MEDIA}.{media}", "digest": f"sha256:{digest}", "size": size}

    rows = [blob(one, "layer.v1.tar") for one in layers]
    body = {"schemaVersion": 2, "config": blob(config(env), "config.v1+json"), "layers": rows}
    first = blob(json.dumps(body).encode(), "manifest.v1+json")
    (folder / "oci-layout").write_text('{"imageLayoutVersion":"1.0.0"}')
    (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [first]}))
    return folder


def image(folder: Path, parts: Parts, build: Callable[[World, Parts], None], env: list[str]) -> Path:
    world = World(folder / "root")
    build(world, parts)
    with tarfile.open(folder / "top.tar", "w") as tar:
        tar.add(world.root, ".")
    return layout(folder / "image", [parts.framework, folder / "top.tar"], env)


def rules(dockerfile: str) -> set[str]:
    found = lint({"Dockerfile": dockerfile}, lambda _: None)
    return {mistake.rule for file in found.files for mistake in file.mistakes}


@pytest.mark.parametrize("name", FAULTY)
def test_the_image_and_its_dockerfile_agree(name: str, parts: Parts, tmp_path: Path) -> None:
    one = FAULTY[name]
    report = answer_of(image(tmp_path, parts, one.build, one.env))
    assert report.causes, report.headline
    assert report.causes[0].id in one.causes, (report.causes[0].id, report.headline)
    assert report.exit_code == 1
    assert one.rule in rules(one.dockerfile)


def test_a_good_image_and_its_dockerfile_agree(parts: Parts, tmp_path: Path) -> None:
    report = answer_of(image(tmp_path, parts, good, [*ENV, FOUND]))
    assert ([cause.id for cause in report.causes], report.exit_code) == ([], 0), report.headline
    assert not rules(f"FROM {BASE}\n{PIP}")
