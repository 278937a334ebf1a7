"""The staircase: every native stage in order, which child runs it, and what it needs below it."""

from __future__ import annotations

from typing import NamedTuple


class Step(NamedTuple):
    """One native stage."""

    name: str
    title: str  # how the staircase shows it
    group: str  # stages of one group run in one child process, in order
    needs: tuple[str, ...] = ()  # libraries (families) without which it is skipped
    gentle: bool = False  # reads only: takes no memory and no context on the GPU


STEPS: tuple[Step, ...] = (
    Step("libcuda", "load the driver library", "driver", gentle=True),
    Step("init", "cuInit", "driver", gentle=True),
    Step("devices", "driver version and devices", "driver", gentle=True),
    Step("context", "a context on each GPU", "device"),
    Step("memory", "allocate, copy, free", "device"),
    Step("nvrtc", "compile a kernel (NVRTC)", "device", ("nvrtc",)),
    Step("launch", "launch it", "device", ("nvrtc",)),
    Step("cudart", "CUDA runtime", "runtime", ("cudart",), gentle=True),
    Step("cublas", "cuBLAS matmul", "blas", ("cublas",)),
    Step("cudnn", "cuDNN and its parts", "cudnn", ("cudnn",), gentle=True),
    Step("cudnn_create", "cudnnCreate", "convolution", ("cudnn",)),
    Step("convolution", "convolution, forward and back", "convolution", ("cudnn",)),
    Step("nccl", "NCCL all-reduce", "nccl", ("nccl",)),
)
"""On a machine without a GPU, `nvrtc`, `cudart` and `cudnn` still run: they need the library alone."""

WITHOUT_GPU = frozenset({"libcuda", "init", "devices", "nvrtc", "cudart", "cudnn"})

FRAMEWORK_STAGES = ("import", "devices", "matmul", "convolution")
"""What a framework does in its own interpreter, in order."""
