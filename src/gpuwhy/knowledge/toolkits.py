"""Toolkits: where a CUDA and a cuDNN of the system come from, for releases that bring none."""

from __future__ import annotations

import msgspec

from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import at_least, major_minor, numbers
from gpuwhy.knowledge.tables import load

ARCHIVE = "developer.nvidia.com/cuda-toolkit-archive"
CUDNN_ARCHIVE = "developer.nvidia.com/rdp/cudnn-archive"


class Parts(msgspec.Struct, frozen=True):
    """The packages of one CUDA release with the cuDNN that its frameworks were built with."""

    cuda: str
    cudnn: str  # or a newer minor of it
    apt: str  # NVIDIA's repository for Ubuntu; the libraries without a driver
    conda: str  # conda-forge
    image: str  # on Docker Hub
    installer: str = ""  # Windows
    archive: str = ""  # cuDNN for Windows


class Table(msgspec.Struct, frozen=True):
    """system_parts.json."""

    source: Source
    parts: tuple[Parts, ...]
    runfiles: dict[str, str]  # for Linux, of releases that no repository or image has any more


def table() -> Table:
    """Every toolkit that is known by its parts."""
    return load("system_parts.json", Table)


def parts(cuda: str, cudnn: str) -> Parts | None:
    """The row for a CUDA release; a later one of the same major where there is none."""
    wanted, minor = numbers(cuda), major_minor(cuda)
    newer = (row for row in table().parts if at_least(row.cuda, minor))
    fitting = [
        row
        for row in newer
        if numbers(row.cuda)[0] == wanted[0]
        and (not numbers(cudnn) or numbers(row.cudnn)[0] == numbers(cudnn)[0])
    ]
    exact = [row for row in fitting if row.cuda == minor]
    return next(iter(exact or (fitting if wanted[0] >= 11 else ())), None)


def runfile(cuda: str) -> str:
    """NVIDIA's installer of a CUDA release for Linux."""
    return table().runfiles.get(cuda, f"cuda_{cuda}_linux.run")


def tensorflow_image(version: str) -> str:
    """TensorFlow's image with the CUDA that a release was built for; "" where it brings its own."""
    if at_least(version, "2.14") or not at_least(version, "1.13"):
        return ""
    return f"tensorflow/tensorflow:{version}-gpu{'' if at_least(version, '2.2') else '-py3'}"
