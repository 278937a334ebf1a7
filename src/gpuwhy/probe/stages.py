"""The staircase: every native stage in order, which child runs it, and what it needs below it."""

from __future__ import annotations

from typing import NamedTuple

from gpuwhy.model.stages import TITLES


class Step(NamedTuple):
    """One native stage."""

    name: str
    group: str  # stages of one group run in one child process, in order
    needs: tuple[str, ...] = ()  # libraries (families) without which it is skipped
    gentle: bool = False  # reads only: takes no memory and no context on the GPU

    @property
    def title(self) -> str:
        """How the staircase shows it."""
        return TITLES[self.name]


STEPS: tuple[Step, ...] = (
    Step("libcuda", "driver", gentle=True),
    Step("init", "driver", gentle=True),
    Step("devices", "driver", gentle=True),
    Step("context", "device"),
    Step("memory", "device"),
    Step("nvrtc", "device", ("nvrtc",)),
    Step("launch", "device", ("nvrtc",)),
    Step("cudart", "runtime", ("cudart",), gentle=True),
    Step("cublas", "blas", ("cublas",)),
    Step("cudnn", "cudnn", ("cudnn",), gentle=True),
    Step("cudnn_create", "convolution", ("cudnn",)),
    Step("convolution", "convolution", ("cudnn",)),
    Step("nccl", "nccl", ("nccl",)),
)
"""On a machine without a GPU, `nvrtc`, `cudart` and `cudnn` still run: they need the library alone."""


FRAMEWORK_STAGES = ("import", "devices", "matmul", "convolution")
"""What a framework does in its own interpreter, in order."""
