"""Flavours: distributions that install one module, in builds with and without CUDA."""

from __future__ import annotations

from typing import NamedTuple


class Flavour(NamedTuple):
    """What a distribution is a flavour of."""

    module: str  # import name that all flavours write
    cuda: bool  # a build that can use CUDA, where the platform has one


_PREFIXES = {"cupy-cuda": "cupy", "mxnet-cu": "mxnet"}
_WITH_CUDA = {
    "tensorflow": "tensorflow tensorflow-gpu tf-nightly tf-nightly-gpu",
    "onnxruntime": "onnxruntime-gpu ort-nightly-gpu",
    "paddle": "paddlepaddle-gpu",
}
_WITHOUT = {
    "tensorflow": "tensorflow-cpu tf-nightly-cpu intel-tensorflow tensorflow-cpu-aws",
    "onnxruntime": "onnxruntime ort-nightly onnxruntime-directml onnxruntime-openvino",
    "paddle": "paddlepaddle",
}
ALL = {
    name: Flavour(module, cuda)
    for cuda, rows in ((True, _WITH_CUDA), (False, _WITHOUT))
    for module, names in rows.items()
    for name in names.split()
}
MAIN = frozenset({"tensorflow", "torch", "jax"})
"""Frameworks that people install for their own sake; the others often come as somebody's helper."""
COMPILES_AT_RUN_TIME = frozenset({"numba", "numba_cuda", "triton", "cupy"})
"""Packages that make code for the GPU that they find: the code they carry decides nothing."""
FOLLOWERS = frozenset(
    {"numba", "numba_cuda", "triton", "torchvision", "torchaudio", "xformers", "flash_attn"}
    | {"bitsandbytes", "vllm", "tensorrt", "torch_tensorrt"}
)
"""Packages with one build for all machines, or whose build follows another's: never CPU-only."""


def flavour(distribution: str) -> Flavour | None:
    """What the distribution is a flavour of; None when it has no rival."""
    for prefix, module in _PREFIXES.items():
        if distribution.startswith(prefix):
            return Flavour(module, True)
    return ALL.get(distribution)


def is_follower(framework: str) -> bool:
    """Whether a framework's build says nothing by itself."""
    return framework.replace("-", "_") in FOLLOWERS


def compiles_at_run_time(framework: str) -> bool:
    """Whether a framework makes its GPU code where it runs."""
    return framework.replace("-", "_") in COMPILES_AT_RUN_TIME


def library_wheel(distribution: str) -> tuple[str, int] | None:
    """A library wheel's family and CUDA major: nvidia-cudnn-cu12 → ('nvidia-cudnn', 12)."""
    family, found, major = distribution.rpartition("-cu")
    if not found or not family.startswith("nvidia-") or not major.isdigit():
        return None
    return family, int(major[:2] if len(major) == 3 else major)  # -cu115: CUDA 11.5
