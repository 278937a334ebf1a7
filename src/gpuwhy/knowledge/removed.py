"""Removed: what a CUDA took out of its headers, and what stands for it now; read off the headers of both releases."""

from __future__ import annotations

import re
from typing import NamedTuple

from gpuwhy.model.fact import Source

SOURCE = Source(
    "know",
    "headers of nvidia-cuda-runtime-cu11 11.8.89, -cu12 12.9.79 and the CUDA toolkit 13.0",
    "functions declared in cuda_runtime_api.h and cuda.h, members of cudaDeviceProp",
)


class Removed(NamedTuple):
    """Names that a CUDA no longer has."""

    names: str  # an expression
    since: str  # the first CUDA without them
    instead: str


REMOVED: tuple[Removed, ...] = (
    Removed(r"cudaThread(?:Synchronize|Exit|[GS]etLimit|[GS]etCacheConfig)", "13.0", "cudaDevice… has the same functions: cudaDeviceSynchronize(), cudaDeviceReset()"),
    Removed(r"cudaLaunchCooperativeKernelMultiDevice|cudaSetDoubleFor(?:Device|Host)", "13.0", "there is nothing for it: launch once for each device, leave the conversion out"),
    Removed(r"clockRate|memoryClockRate|computeMode|deviceOverlap|kernelExecTimeoutEnabled|singleToDoublePrecisionPerfRatio|cooperativeMultiDeviceLaunch|maxTexture1DLinear",
            "13.0", "ask cudaDeviceGetAttribute(&value, cudaDevAttrClockRate, device), with the attribute of that name"),
    Removed(r"cudaMemPrefetchAsync|cudaMemAdvise", "13.0", "it takes a cudaMemLocation now: cudaMemLocation{cudaMemLocationTypeDevice, device}"),
    Removed(r"cuCtxCreate(?:_v4)?", "13.0", "it takes four arguments now: cuCtxCreate(&context, NULL, flags, device)"),
    Removed(r"cuda(?:Bind|Unbind)(?:Texture|Surface)\w*|cudaGet(?:Texture|Surface)\w*|tex[123]D\w*|texture|surface",
            "12.0", "use texture objects: cudaTextureObject_t, cudaCreateTextureObject()"),
    Removed(r"__shfl(?:_up|_down|_xor)?|__any|__all|__ballot", "9.0", "use the forms with _sync and a mask: __shfl_down_sync(0xffffffff, value, 1)"),
)  # fmt: skip
"""__shfl and its kin: gone for sm_70 and newer, which is all that CUDA 13 compiles for."""


def removed(name: str) -> Removed | None:
    """The row of a name that a CUDA no longer has, or has in another form."""
    return next((row for row in REMOVED if re.fullmatch(row.names, name)), None)
