"""Box told: releases and devices that a text itself names, where the way out is another one of the same kind: a tag that exists, a compiler of one toolkit, one slice of a card, a build of Windows."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.version import numbers
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.boxes import worded
from gpuwhy.rooms.text.ways import tried

Ways = Iterator[Fix]

_TAG = worded(r"nvidia/cuda:(?P<tag>(?P<cuda>\d+\.\d+)(?:\.\d+)?(?:-cudnn\d*)?(?:-(?P<kind>base|runtime|devel))?(?:-(?P<os>ubuntu\d\d\.\d\d|ubi\d|rockylinux\d|centos\d))?)(?![\w.-])[^\n]*not found")  # fmt: skip
_KEPT = {"11": ("11.8.0", "cudnn8"), "12": ("12.4.1", "cudnn"), "13": ("13.0.1", "cudnn")}
"""Of each CUDA a release whose images NVIDIA keeps, and how their tags name cuDNN."""
_SYSTEMS = {"11": ("ubuntu20.04", "ubuntu22.04", "ubi8", "rockylinux8"), "12": ("ubuntu20.04", "ubuntu22.04", "ubi8", "rockylinux8"), "13": ("ubuntu22.04", "ubuntu24.04")}  # fmt: skip


def tag_there(case: Asked) -> Ways:
    """A tag of NVIDIA's images that was taken off: the same kind of image that is there."""
    found = _TAG.search(case.text)
    if not found:
        return
    major = max("11", found["cuda"].split(".")[0], key=int)
    release, cudnn = _KEPT.get(major, _KEPT["12"])
    systems = _SYSTEMS.get(major, _SYSTEMS["12"])
    system = found["os"] if found["os"] in systems else systems[1]
    parts = (release, cudnn if "cudnn" in found["tag"] else "", found["kind"] or "base", system)
    tag = "nvidia/cuda:" + "-".join(part for part in parts if part)
    place = "image: " if re.search(r"gitlab|Job failed|docker-compose|^image:|manager\.go", case.text) else "FROM "
    line = on.code(f"{place}{tag}") if place == "image: " else on.dockerfile(f"{place}{tag}")
    yield tried(f"NVIDIA has taken nvidia/cuda:{found['tag']} off, as it does with old releases: name one of the same kind that is there, in the file that names it", line)  # fmt: skip
    yield tried("See that it can be had, before the job runs again", f"docker manifest inspect {tag}")


_SLICE = worded(r"MIG \S+ +Device +\d+: \(UUID: (MIG-[0-9a-f-]{36})\)")


def one_slice(case: Asked) -> Ways:
    """Several processes over slices of MIG: each sees one, and NCCL reaches no other."""
    found = _SLICE.search(case.text)
    if found:
        yield tried("Start one process, on one slice, as cuda:0: a process sees a single slice of MIG, and processes on several slices cannot train together (NCCL, DDP)", on.linux(f"CUDA_VISIBLE_DEVICES={found[1]} torchrun --nproc_per_node=1 PROGRAM"))  # fmt: skip
        yield tried("For several processes: whole cards; ask for them, or have MIG switched off on this one", on.host("sudo nvidia-smi -i 0 -mig 0"), root=True)  # fmt: skip


_STRAY = worded(r"Compiler: +/usr/bin/nvcc")


def stray_nvcc(case: Asked) -> Ways:
    """CMake takes an nvcc outside its toolkit, which finds none of the toolkit's parts beside it."""
    told = re.search(r"CUDAToolkit[^\n]*found version \"(\d+\.\d+)", case.text)
    folder = f"/usr/local/cuda-{told[1]}" if told else "/usr/local/cuda"
    yield tried("CMake takes /usr/bin/nvcc, which lies apart from its toolkit: name the toolkit's own, and configure anew in an empty build folder (where /usr/bin/nvcc is a link or a copy that somebody made: sudo rm it)", on.linux(f"export PATH={folder}/bin:$PATH CUDACXX={folder}/bin/nvcc\nrm -rf CMakeCache.txt CMakeFiles && cmake .. -DCMAKE_CUDA_COMPILER={folder}/bin/nvcc -DCUDAToolkit_ROOT={folder}"))  # fmt: skip


_INSIDER = worded(r"\bVersion 10\.0\.(2(?:0(?!348)|1)\d{3})\b")


def insider(case: Asked) -> Ways:
    """A preview of Windows between 10 and 11, whose GPU for WSL changed from build to build."""
    found = _INSIDER.search(case.text)
    if found and "wsl" in case.tools:
        yield tried(on.in_wsl(f"build {found[1]} of Windows is a preview between Windows 10 and 11, whose WSL had such faults: go back to the build before (Settings, Recovery, Go back), or update to Windows 11, or 10 22H2, with NVIDIA's current driver; then update WSL"), on.across("wsl --update && wsl --shutdown"))  # fmt: skip


def rapids_card(case: Asked) -> Ways:
    """RAPIDS asks for Volta and newer; on WSL what older cards lack shows as 801."""
    if case.gpu and numbers(case.gpu) < (7, 0):
        yield tried(f"RAPIDS needs a card of compute capability 7.0 or newer (RTX 20, T4 and newer), and this one has {case.gpu}; under WSL its memory calls do not exist for it either: run it on such a card, or in the cloud", "")  # fmt: skip
        yield tried("On this card, and on plain Linux instead of WSL: the last releases that knew it (up to 23.12)", 'conda create -n rapids -c rapidsai -c conda-forge -c nvidia "rapids=23.12" python=3.10 "cuda-version=11.8"')  # fmt: skip
