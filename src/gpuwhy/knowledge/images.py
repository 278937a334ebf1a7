"""Images and installers: where a CUDA and a cuDNN of the system come from, for releases that bring none."""

from __future__ import annotations

import msgspec

from gpuwhy.facts.version import at_least, major_minor, numbers
from gpuwhy.knowledge.tables import source

NAMED = source(
    "public Dockerfiles and installation scripts that use these names", "searched in November 2026"
)


class Parts(msgspec.Struct, frozen=True):
    """The packages of one CUDA release with the cuDNN that its frameworks were built with, or a newer minor of it."""

    cuda: str
    cudnn: str
    apt: str  # NVIDIA's repository for Ubuntu; the libraries without a driver
    conda: str  # conda-forge
    image: str  # on Docker Hub
    installer: str = ""  # Windows
    archive: str = ""  # cuDNN for Windows


PARTS: tuple[Parts, ...] = (
    Parts(
        "10.0", "7.6.5", "cuda-libraries-10-0 libcudnn7=7.6.5.32-1+cuda10.0", "cudatoolkit=10.0 cudnn=7.6.5", "",
        "cuda_10.0.130_411.31_win10.exe", "cudnn-10.0-windows10-x64-v7.6.5.32.zip",
    ),
    Parts(
        "10.1", "7.6.5", "cuda-libraries-10-1 libcudnn7=7.6.5.32-1+cuda10.1", "cudatoolkit=10.1 cudnn=7.6.5", "",
        "cuda_10.1.243_426.00_win10.exe", "cudnn-10.1-windows10-x64-v7.6.5.32.zip",
    ),
    Parts(
        "11.0", "8.0.4", "cuda-libraries-11-0 libcudnn8=8.0.4.30-1+cuda11.0", "cudatoolkit=11.0 cudnn=8.0", "",
        "cuda_11.0.3_451.82_win10.exe", "cudnn-11.0-windows-x64-v8.0.4.30.zip",
    ),
    Parts(
        "11.2", "8.1.0", "cuda-libraries-11-2 libcudnn8=8.1.0.77-1+cuda11.2", "cudatoolkit=11.2 cudnn=8.1.0", "",
        "cuda_11.2.2_461.33_win10.exe", "cudnn-11.2-windows-x64-v8.1.1.33.zip",
    ),
    Parts("11.6", "8", "", "", "nvidia/cuda:11.6.2-cudnn8-runtime-ubuntu20.04"),
    Parts(
        "11.8", "8.6.0", "cuda-libraries-11-8 libcudnn8=8.6.0.163-1+cuda11.8", "cudatoolkit=11.8 cudnn=8.8",
        "nvidia/cuda:11.8.0-cudnn8-runtime-ubuntu22.04",
    ),
    Parts("12.2", "8.9", "", "", "nvidia/cuda:12.2.2-cudnn8-runtime-ubuntu22.04"),
    Parts("12.6", "9.5.1", "", "", "nvidia/cuda:12.6.3-cudnn-runtime-ubuntu22.04"),
)  # fmt: skip


RUNFILES: dict[str, str] = {
    "8.0": "cuda_8.0.61_375.26_linux.run",
    "9.0": "cuda_9.0.176_384.81_linux.run",
    "9.1": "cuda_9.1.85_387.26_linux.run",
    "9.2": "cuda_9.2.148_396.37_linux.run",
    "10.2": "cuda_10.2.89_440.33.01_linux.run",
}
"""NVIDIA's installers for Linux of CUDA releases that today's repositories and images no longer have (see NAMED)."""

ARCHIVE = "developer.nvidia.com/cuda-toolkit-archive"
CUDNN_ARCHIVE = "developer.nvidia.com/rdp/cudnn-archive"


def parts(cuda: str, cudnn: str) -> Parts | None:
    """The row for a CUDA release; a later one of the same major where there is none."""
    wanted = numbers(cuda)
    fitting = [
        row
        for row in PARTS
        if numbers(row.cuda)[0] == wanted[0]
        and at_least(row.cuda, major_minor(cuda))
        and (not numbers(cudnn) or numbers(row.cudnn)[0] == numbers(cudnn)[0])
    ]
    exact = [row for row in fitting if row.cuda == major_minor(cuda)]
    if exact:
        return exact[0]
    return fitting[0] if fitting and wanted[0] >= 11 else None


def tensorflow_image(version: str) -> str:
    """TensorFlow's own image with the CUDA that a release was built for; '' where releases bring their libraries."""
    if at_least(version, "2.14") or not at_least(version, "1.13"):
        return ""
    return f"tensorflow/tensorflow:{version}-gpu{'' if at_least(version, '2.2') else '-py3'}"
