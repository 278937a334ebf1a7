"""The releases that are read, oldest to newest of current relevance, and what of each wheel."""

from __future__ import annotations

import re
from typing import NamedTuple

NEWEST = "newest"


class Family(NamedTuple):
    """One reader of variables: its project on the index, releases, and which members hold its code."""

    name: str
    project: str
    releases: tuple[str, ...]
    libraries: str = ""  # of which compiled members the strings are read
    prefixes: tuple[str, ...] = ()  # of the names that count among those strings
    python: bool = True
    heavy: str = ""  # compiled members of hundreds of megabytes, read of these releases only:
    heavy_releases: tuple[str, ...] = ()


_TORCH = ("PYTORCH", "TORCH", "TORCHINDUCTOR", "TORCHDYNAMO", "C10", "CUBLAS", "CUBLASLT", "CUDA", "CUDNN", "NCCL", "GLOO", "UCC",
          "KINETO", "ATEN", "CAFFE2", "AOT_INDUCTOR", "OMP", "MKL", "DISABLE_ADDMM", "HIPBLASLT")  # fmt: skip
_TF = ("TF", "XLA", "CUDA", "NCCL", "CUDNN", "TENSORFLOW", "TSL", "ONEDNN", "DNNL", "TPU", "PJRT", "TF2", "MLIR_BRIDGE")
_ORT = ("ORT", "ONNXRUNTIME", "CUDA", "OMP", "TENSORRT", "NV")
SKIPPED = re.compile(
    r"(?:^|/)(?:tests?|testing|benchmarks?|examples?|tools/test|_internal/(?:test|distributed))(?:/|$)"
)

FAMILIES: tuple[Family, ...] = (
    Family("tensorflow", "tensorflow", ("1.15.0", "2.3.0", "2.6.0", "2.10.1", "2.12.1", "2.15.1", "2.18.1", "2.20.0", NEWEST),
           r"libtensorflow_framework\.so(?:\.\d+)?", _TF, heavy=r"libtensorflow_cc\.so(?:\.\d+)?|_pywrap_tensorflow_internal\.so", heavy_releases=("2.10.1", "2.15.1", NEWEST)),
    Family("torch", "torch", ("1.8.1", "1.11.0", "1.13.1", "2.0.1", "2.2.2", "2.4.1", "2.6.0", "2.8.0", "2.9.1", "2.11.0", "2.13.0", NEWEST),
           r"lib(?:c10|c10_cuda|torch_python)\.so", _TORCH, heavy=r"libtorch_(?:cpu|cuda|cuda_cpp)\.so", heavy_releases=("2.0.1", "2.6.0", NEWEST)),
    Family("jax", "jax", ("0.4.16", "0.4.20", "0.4.26", "0.4.30", "0.4.38", "0.5.3", "0.6.2", "0.7.2", "0.8.2", "0.10.2", NEWEST)),
    Family("jaxlib", "jaxlib", ("0.4.30", "0.7.2", NEWEST), r"(?:xla_extension|_jax|libjax_common)\.so", ("JAX", "XLA", "TF", "CUDA", "NCCL", "TPU", "PJRT")),
    Family("jax-cuda-pjrt", "jax-cuda12-pjrt", ("0.5.3", NEWEST), r"xla_cuda_plugin\.so", ("JAX", "XLA", "TF", "CUDA", "NCCL", "PJRT", "CUDNN")),
    Family("triton", "triton", ("2.0.0", "2.1.0", "2.2.0", "3.0.0", "3.1.0", "3.2.0", "3.3.1", "3.4.0", "3.5.1", NEWEST),
           "", ("TRITON", "MLIR", "LLVM", "AMDGCN", "NVPTX", "DISABLE", "PTXAS", "USE", "ENABLE", "PROTON", "SWAP", "DUMP"), heavy=r"libtriton\.so", heavy_releases=("3.0.0", NEWEST)),
    Family("cupy", "cupy-cuda12x", ("12.0.0", "13.0.0", "13.3.0", "13.6.0", NEWEST), r"cupy/.*(?:memory|runtime|driver|cublas|cudnn|_core/core|_accelerator|_environment)[\w.-]*\.so", ("CUPY", "CUDA", "NVCC")),
    Family("numba", "numba", ("0.53.1", "0.56.4", "0.58.1", "0.60.0", "0.61.2", NEWEST)),
    Family("numba-cuda", "numba-cuda", ("0.0.12", "0.4.0", "0.10.1", "0.17.0", "0.20.0", NEWEST)),
    Family("onnxruntime", "onnxruntime-gpu", ("1.12.1", "1.15.1", "1.17.1", "1.19.2", "1.22.0", NEWEST),
           r"libonnxruntime_providers_(?:shared|tensorrt)\.so", _ORT, heavy=r"onnxruntime_pybind11_state[\w.-]*\.so", heavy_releases=("1.17.1", NEWEST)),
    Family("nccl", "nvidia-nccl-cu12", ("2.18.3", "2.21.5", "2.26.2", NEWEST), r"libnccl\.so\.2", ("NCCL",), python=False),
    Family("cudnn", "nvidia-cudnn-cu12", ("8.9.2.26", "9.1.0.70", "9.10.2.21", NEWEST), r"libcudnn(?:_graph)?\.so\.\d+", ("CUDNN",), python=False),
    Family("cublas", "nvidia-cublas-cu12", ("12.1.3.1", NEWEST), r"libcublas\.so\.12", ("CUBLAS", "CUBLASLT", "NVIDIA", "CUDA"), python=False),
    Family("cudart", "nvidia-cuda-runtime-cu12", ("12.1.105", "12.4.127", "12.8.90", NEWEST), r"libcudart\.so\.12", ("CUDA",), python=False),
    Family("keras", "keras", ("2.15.0", "3.0.5", "3.6.0", "3.10.0", NEWEST)),
)  # fmt: skip
