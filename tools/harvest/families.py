"""Families: which projects belong together, how they are read, and the file their rows go to."""

from __future__ import annotations

from typing import NamedTuple

from tools.harvest.readers import Reader, jax, library, onnxruntime, others, tensorflow, torch


class Family(NamedTuple):
    """One data file: projects, each with its reader."""

    name: str
    projects: tuple[str, ...]
    reader: Reader
    deep_order: int = 9


_PARTS = (
    "cublas", "cuda-runtime", "cuda-nvrtc", "cuda-cupti", "cuda-nvcc", "cudnn", "cufft", "curand", "cusolver",
    "cusparse", "cusparselt", "nccl", "nvtx", "nvjitlink", "cufile", "nvshmem", "nvjpeg", "npp", "cudss",
    "nvvm", "nvptxcompiler", "cuda-crt", "cuda-cccl", "cuda-cuobjdump", "cuda-nvdisasm", "cuda-opencl",
    "cuda-profiler-api", "cuda-sanitizer-api", "nvfatbin", "nvml-dev", "cublasmp", "cusolvermp", "nvcomp", "nvimgcodec",
)  # fmt: skip
_SUFFIXES = (
    "",
    "-cu11",
    "-cu12",
    "-cu13",
    "-cu110",
    "-cu111",
    "-cu112",
    "-cu113",
    "-cu114",
    "-cu115",
    "-cu116",
    "-cu117",
)
_CUPY = (
    "80",
    "90",
    "91",
    "92",
    "100",
    "101",
    "102",
    "110",
    "111",
    "112",
    "113",
    "114",
    "115",
    "116",
    "117",
    "11x",
    "12x",
    "13x",
)
_MXNET = ("75", "80", "90", "91", "92", "100", "101", "102", "110", "112", "113", "114", "115", "116", "117")

FAMILIES: tuple[Family, ...] = (
    Family(
        "tensorflow",
        ("tensorflow", "tensorflow-gpu", "tensorflow-cpu", "tensorflow-intel"),
        tensorflow.READER,
        deep_order=1,
    ),
    Family("torch", ("torch",), torch.READER, deep_order=2),
    Family("torch-companions", ("torchvision", "torchaudio"), torch.COMPANION),
    Family(
        "jax",
        ("jaxlib", *(f"jax-cuda{n}-{part}" for n in (11, 12, 13) for part in ("plugin", "pjrt"))),
        jax.READER,
        deep_order=4,
    ),
    Family("onnxruntime", ("onnxruntime-gpu", "onnxruntime"), onnxruntime.READER, deep_order=5),
    Family("cupy", tuple(f"cupy-cuda{n}" for n in _CUPY), others.CUPY),
    *(Family(f"nvidia-{p}", tuple(f"nvidia-{p}{end}" for end in _SUFFIXES), library.READER, 3) for p in _PARTS),
    Family("cutensor", tuple(f"cutensor{end}" for end in ("", "-cu11", "-cu12", "-cu13")), library.READER),
    Family("cuda-toolkit", ("cuda-toolkit",), library.TOOLKIT),
    Family("triton", ("triton",), others.TRITON),
    Family("paddle", ("paddlepaddle-gpu",), others.PADDLE),
    Family("mxnet", tuple(f"mxnet-cu{n}{mkl}" for n in _MXNET for mkl in ("", "mkl")), others.MXNET),
    Family("ctranslate2", ("ctranslate2",), others.CTRANSLATE2),
    Family("bitsandbytes", ("bitsandbytes",), others.BITSANDBYTES),
    Family("xformers", ("xformers",), others.XFORMERS),
    Family("vllm", ("vllm",), others.VLLM),
    Family(
        "tensorrt",
        ("tensorrt", *(f"tensorrt-cu{n}{part}" for n in (11, 12, 13) for part in ("", "-libs", "-bindings")),
         "tensorrt-libs", "tensorrt-bindings", "nvidia-tensorrt"),
        others.PLAIN,
    ),
    Family("flash-attn", ("flash-attn",), others.PLAIN),
)  # fmt: skip
