"""PyTorch's own indexes: which there are, with which release they ended, and what they hold beside PyTorch."""

from __future__ import annotations

import re

from gpuwhy.facts.version import at_least
from gpuwhy.knowledge.tables import source
from gpuwhy.knowledge.variants import MATRIX, variants

NEVER = frozenset(["cu112", "cu114", "cu119", "cu120", "cu122", "cu123", "cu125", "cu127", "cu131"])
"""Names of indexes that people write and that never were: PyTorch skipped these CUDA releases."""

MATRIX_NEVER = source(
    "PyTorch's RELEASE.md, release compatibility matrix", "no release has a build for that CUDA"
)
OLD_ENDS = {
    "cu92": "1.7.1",
    "cu101": "1.8.1",
    "cu102": "1.12.1",
    "cu110": "1.7.1",
    "cu111": "1.10.2",
    "cu115": "1.11.0",
    "rocm5.1.1": "1.12",
    "rocm5.2": "1.13",
    "rocm5.4.2": "2.0",
    "rocm5.6": "2.1",
    "rocm5.7": "2.3",
    "rocm6.0": "2.4",
    "rocm6.1": "2.6",
    "rocm6.2": "2.5",
}
"""The last torch of indexes that are older than the matrix."""

_NEWEST_ROW = "2.14"
LISTED = ("1.12", "1.13", *(f"2.{minor}" for minor in range(15)))
"""The torch releases whose builds PyTorch's own indexes have, oldest first."""

MIRRORED = frozenset(
    [
        "torch", "torchvision", "torchaudio", "torchtext", "torchdata", "torchao", "torchcodec", "torchrec",
        "fbgemm-gpu", "torch-tensorrt", "torchserve", "torch-model-archiver", "torch-xla", "pytorch-triton",
        "triton", "xformers", "functorch", "tensordict", "vllm", "flash-attn-3", "executorch", "numpy", "pillow",
        "requests", "certifi", "idna", "urllib3", "charset-normalizer", "typing-extensions", "sympy", "mpmath",
        "networkx", "jinja2", "markupsafe", "fsspec", "filelock", "packaging", "setuptools", "wheel", "pip", "tqdm",
        "psutil", "pyyaml", "cmake", "ninja", "lit", "optree", "expecttest", "hypothesis", "nvidia-cuda-runtime",
        "nvidia-cudnn", "tensorrt", "future", "six", "cuda-bindings", "cuda-pathfinder", "iopath", "portalocker",
        "pyre-extensions", "mypy-extensions", "mkl", "intel-openmp", "tbb", "importlib-metadata", "zipp", "dllist",
        "colorama", "attrs", "scipy",
    ]
)  # fmt: skip
"""Packages that PyTorch's index has or may have: itself, its companions, and what they require."""

HELD = source(
    "PyTorch's index", "it holds PyTorch, its companions and what these require, and nothing else"
)


def ends(name: str) -> str:
    """The last torch release (2.7) that an index has; '' where it still goes on, or is not known."""
    if name in OLD_ENDS:
        return OLD_ENDS[name]
    held = [
        minor for minor in LISTED if any(variant.backend == name for variant in variants(minor))
    ]
    return held[-1] if held and not at_least(held[-1], _NEWEST_ROW) else ""


def is_mirrored(name: str) -> bool:
    """Whether PyTorch's index has a package, or may have it."""
    return name in MIRRORED or bool(re.match(r"nvidia-|torch|tensorrt", name))


ENDED = MATRIX
"""Where the ends were read."""
