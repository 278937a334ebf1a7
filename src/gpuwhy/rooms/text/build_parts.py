"""The parts of CUDA that a build can miss, by their symbols, headers and libraries."""

from __future__ import annotations

import re
from typing import NamedTuple


class Part(NamedTuple):
    """A part of CUDA that a build can miss: how its symbols, headers and libraries are called, and what holds it."""

    title: str
    symbols: str
    headers: str
    library: str  # what follows -l
    target: str  # CMake's imported target; "" where CMake has none
    wheel: str  # without -cu12; "" where no wheel has the header
    apt: str  # NVIDIA's Debian package; "" where it comes with the toolkit


PARTS = (
    Part("cuDNN", r"cudnn", r"cudnn\w*\.h", "cudnn", "", "nvidia-cudnn", "cudnn9-cuda-12"),
    Part("cuBLAS", r"cublas", r"cublas\w*\.h", "cublas", "CUDA::cublas", "nvidia-cublas", ""),
    Part("cuFFT", r"cufft", r"cufft\w*\.h", "cufft", "CUDA::cufft", "nvidia-cufft", ""),
    Part("cuRAND", r"curand", r"curand\w*\.h", "curand", "CUDA::curand", "nvidia-curand", ""),
    Part("cuSOLVER", r"cusolver", r"cusolver\w*\.h", "cusolver", "CUDA::cusolver", "nvidia-cusolver", ""),
    Part("cuSPARSE", r"cusparse", r"cusparse\w*\.h", "cusparse", "CUDA::cusparse", "nvidia-cusparse", ""),
    Part("NCCL", r"nccl|pnccl", r"nccl\w*\.h", "nccl", "", "nvidia-nccl", "libnccl-dev"),
    Part("NVRTC", r"nvrtc", r"nvrtc\.h", "nvrtc", "CUDA::nvrtc", "nvidia-cuda-nvrtc", ""),
    Part("NVML", r"nvml", r"nvml\.h", "nvidia-ml", "CUDA::nvml", "nvidia-nvml-dev", ""),
    Part("NVTX", r"nvtx", r"nvToolsExt\w*\.h|nvtx3?/\S+", "nvToolsExt", "CUDA::nvtx3", "nvidia-nvtx", ""),
    Part("TensorRT", r"createInfer|nvinfer", r"NvInfer\w*\.h|NvOnnx\w*\.h", "nvinfer", "", "", "libnvinfer-dev"),
    Part("the CUDA runtime", r"cuda[A-Z]|__cuda", r"cuda\w*\.h(?:pp)?|device_\w+\.h|vector_types\.h|driver_types\.h|"
         r"cooperative_groups\.h|builtin_types\.h|host_defines\.h|crt/\S+|thrust/\S+|cub/\S+", "cudart", "CUDA::cudart", "", ""),
    Part("the CUDA driver", r"cu[A-Z]", r"-", "cuda", "CUDA::cuda_driver", "", ""),
)  # fmt: skip


def by_symbol(name: str) -> Part | None:
    """The part that defines a symbol."""
    return next((part for part in PARTS if re.match(part.symbols, name)), None)


def by_header(name: str) -> Part | None:
    """The part that brings a header."""
    return next((part for part in PARTS if re.fullmatch(part.headers, name, re.IGNORECASE)), None)


def by_library(name: str) -> Part | None:
    """The part of a library's name as the linker is given it."""
    bare = re.sub(r"\.lib$|_static$", "", name, flags=re.IGNORECASE).lower()
    exact = next((part for part in PARTS if part.library.lower() in (bare, f"lib{bare}")), None)
    return exact or next((part for part in PARTS if part.symbols.isalpha() and bare.startswith(part.symbols)), None)
