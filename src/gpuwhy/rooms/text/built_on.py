"""Built on: what an image lacks, or has too old, is mended in the image that it is built on, by its first line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.version import at_least, numbers
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.told_names import image_of
from gpuwhy.rooms.text.ways import tried

_NO_NVCC = Later(r"nvcc was not found|CUDA_HOME environment variable is not set|nvcc['\"]?: (?:command )?not found|No such file[^\n]*nvcc", re.IGNORECASE)  # fmt: skip
_FLASH = Later(r"flash[-_]attn", re.IGNORECASE)
_CUDA = Later(r"torch\S*\+cu(1[1-3])(\d)\b")
_TAGS = {"11.8": "11.8.0", "12.1": "12.1.1", "12.4": "12.4.1", "12.6": "12.6.3", "12.8": "12.8.1", "12.9": "12.9.1"}
"""Of the images of CUDA that PyTorch's builds are for, the last."""
_COMPILES = frozenset({"env.path", "cuda.compiler_missing", "program.build"})


def with_nvcc(cause: str, case: Asked) -> Iterator[Fix]:
    """A step of a Dockerfile that compiles, in an image without a compiler for CUDA."""
    if cause not in _COMPILES or "image" not in case.tools or not _NO_NVCC.search(case.text):
        return
    built = _CUDA.search(case.text)
    cuda = f"{built[1]}.{built[2]}" if built and f"{built[1]}.{built[2]}" in _TAGS else "12.8"
    yield tried(f"This step compiles, and the image that it is built on has no nvcc: begin the Dockerfile with one that has the toolkit (its name ends in devel), of the CUDA that PyTorch was built for ({cuda} here)", on.dockerfile(f"FROM nvidia/cuda:{_TAGS[cuda]}-devel-ubuntu22.04\nRUN apt-get update && apt-get install -y python3-pip git"))  # fmt: skip
    if _FLASH.search(case.text):
        yield tried("Or install flash-attn as a wheel that is built already, which needs no nvcc: its page of releases (Dao-AILab/flash-attention) names each file by CUDA, PyTorch and Python", on.dockerfile("RUN pip install https://github.com/Dao-AILab/flash-attention/releases/download/vRELEASE/FILE.whl"))  # fmt: skip


_TEN = Later(r"libcudart\.so\.10\.\d|libcudart\.so\.9\.\d|cudart64_10\d")


def with_newer_tensorflow(cause: str, case: Asked) -> Iterator[Fix]:
    """A container whose TensorFlow is of a CUDA that does not know the card: another tag of the image, by the card."""
    image = image_of(case.text)[1]
    boxed = bool(case.tools & {"docker", "compose", "image"}) and bool(image)
    if cause != "framework.gpu_unsupported" or case.framework != "tensorflow" or not boxed or not case.gpu:
        return
    least = "2.16.1" if at_least(case.gpu, "9.0") else "2.11.0" if at_least(case.gpu, "8.9") else "2.5.0"
    if not _TEN.search(case.text) or numbers(case.gpu) < (8, 0):
        return
    yield tried(f"The TensorFlow in {image} is built for CUDA 10, which has no code for this card (compute capability {case.gpu}): begin its Dockerfile with TensorFlow {least} or newer, and build it again", on.dockerfile(f"FROM tensorflow/tensorflow:{least}-gpu"))  # fmt: skip
    yield tried("Or, for a program for TensorFlow 1, with NVIDIA's own build of 1.15 for CUDA 12", on.dockerfile("FROM nvcr.io/nvidia/tensorflow:23.03-tf1-py3"))  # fmt: skip
