"""The stages of the probe by name, as a person reads them."""

from __future__ import annotations

TITLES = {
    "libcuda": "loading the driver library",
    "init": "cuInit",
    "devices": "driver version, devices",
    "context": "context",
    "memory": "allocate, copy, free",
    "nvrtc": "compile a kernel (NVRTC)",
    "launch": "launch it",
    "cudart": "CUDA runtime",
    "cublas": "cuBLAS matmul",
    "cudnn": "cuDNN and its parts",
    "cudnn_create": "cudnnCreate",
    "convolution": "convolution",
    "nccl": "NCCL all-reduce",
}
