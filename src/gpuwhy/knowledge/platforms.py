"""Platforms: operating systems, machines and C libraries for which a framework has no CUDA build at all."""

from __future__ import annotations

import msgspec

from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import at_least


class Dropped(msgspec.Struct, frozen=True):
    """No CUDA build of `framework` from `since` on and before `until`, where every condition given fits."""

    framework: str
    text: str
    source: Source
    system: str = ""  # linux, windows, darwin
    machine: str = ""
    libc: str = ""  # how the libc's name starts
    since: str = "0"
    until: str = ""  # the first release that has one again, or at last
    instead: str = ""  # what to do, in a few words
    last: str = ""  # newest release that had one


def _index(of: str) -> Source:
    return Source("know", "files of the package index, 2026-11-15", of)


_MAC = Source("know", "NVIDIA CUDA Toolkit 12.1 release notes", "components for Linux, Windows and WSL, none for macOS")
_WSL = "use WSL 2, where the Linux build works"
_ON_GLIBC = (
    ("tensorflow", "TensorFlow"), ("torch", "PyTorch"), ("jax", "JAX"), ("onnxruntime", "ONNX Runtime"),
    ("numba", "Numba"), ("cupy", "CuPy"), ("ctranslate2", "CTranslate2"),
)  # fmt: skip
_GLIBC = "use a distribution or image with glibc (Debian, Ubuntu, RHEL …)"

DROPPED: tuple[Dropped, ...] = (
    Dropped(
        "tensorflow",
        "TensorFlow 2.10 was the last release with CUDA on native Windows",
        Source("know", "TensorFlow 2.11.1 release notes"),
        system="windows",
        since="2.11",
        instead=f"{_WSL}, or tensorflow-cpu 2.10 with tensorflow-directml-plugin",
        last="2.10.1",
    ),
    Dropped(
        "tensorflow",
        "TensorFlow has had no CUDA build for macOS since 1.2",
        Source("know", "TensorFlow 1.2 installation guide for macOS"),
        system="darwin",
        since="1.2",
        instead="install tensorflow-metal for Apple's GPU",
    ),
    Dropped(
        "tensorflow",
        "TensorFlow's wheels for Linux on aarch64 are built without CUDA",
        Source(
            "know",
            "tensorflow-2.21.0-cp312-cp312-manylinux_2_27_aarch64.whl: build_info.py says is_cuda_build False",
            "sha256 b07d15737406533898e36c7ef7944b1be18e9028dc521b9229952c537bbc5552",
        ),
        system="linux",
        machine="aarch64",
        instead="use NVIDIA's own TensorFlow containers for this machine",
    ),
    Dropped("torch", "PyTorch has no CUDA build for macOS", _MAC, system="darwin", instead='use device "mps"'),
    Dropped("jax", "JAX has no CUDA build for macOS", _MAC, system="darwin", instead="use the CPU build"),
    Dropped(
        "jax",
        "JAX has CUDA plugins for Linux only",
        _index("jax-cuda12-plugin 0.12.0.1: no win_amd64 file"),
        system="windows",
        instead=_WSL,
    ),
    Dropped(
        "onnxruntime",
        "ONNX Runtime has no CUDA build for macOS",
        _index("onnxruntime-gpu: no macosx file"),
        system="darwin",
        instead="use the CoreML execution provider",
    ),
    Dropped(
        "onnxruntime",
        "onnxruntime-gpu has wheels for Linux on aarch64 since 1.29.0 only",
        Source(
            "know",
            "onnxruntime_gpu-1.29.0-cp314-cp314-manylinux_2_34_aarch64.whl, the first with such a name",
            "sha256 17d6ec021b06…",
        ),
        system="linux",
        machine="aarch64",
        until="1.29.0",
        instead='install "onnxruntime-gpu[cuda,cudnn]>=1.29" (CUDA 13, glibc 2.34), or use NVIDIA\'s builds for Jetson',
    ),
    *(
        Dropped(
            name,
            f"{title} is built with CUDA for glibc only, and has no wheel for musl",
            _index(f"{name}: no musllinux file"),
            system="linux",
            libc="musl",
            instead=_GLIBC,
        )
        for name, title in _ON_GLIBC
    ),
)  # fmt: skip


def dropped(framework: str, version: str, system: str, machine: str, libc: str) -> Dropped | None:
    """The row that says why this release has no CUDA build here; None when it may have one."""
    for row in DROPPED:
        fits = row.framework == framework and row.system in ("", system) and row.machine in ("", machine)
        if not at_least(version, row.since) or (row.until and at_least(version, row.until)):
            continue
        if fits and libc.startswith(row.libc):
            return row
    return None
