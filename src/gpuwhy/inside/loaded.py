"""The frameworks this process has loaded, and whether they have initialised CUDA; never imports one."""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any

NOT_INITIALISED = 3
"""CUDA_ERROR_NOT_INITIALIZED: what the driver answers before cuInit, which is when it reads CUDA_VISIBLE_DEVICES."""


def loaded(name: str) -> Any:
    """A module that is already imported, or None."""
    return sys.modules.get(name)


def torch_cuda() -> Any:
    """torch.cuda where torch has initialised CUDA, or None."""
    cuda = getattr(loaded("torch"), "cuda", None)
    try:
        return cuda if cuda is not None and cuda.is_initialized() else None
    except Exception:
        return None


def tensorflow_started() -> bool:
    """Whether TensorFlow has created its devices, after which their options are fixed."""
    context = getattr(loaded("tensorflow.python.eager.context"), "context_safe", lambda: None)()
    return bool(getattr(context, "_initialized", False))


def jax_platforms() -> tuple[str, ...]:
    """The platforms that JAX has started; () before its first use."""
    return tuple(getattr(loaded("jax._src.xla_bridge"), "_backends", None) or ())


def cuda_started() -> str:
    """Who has initialised CUDA in this process, as a sentence; "" where nobody has."""
    if torch_cuda() is not None:
        return "PyTorch has already initialised CUDA in this process"
    if {"gpu", "cuda"} & set(jax_platforms()):
        return "JAX has already initialised CUDA in this process"
    if driver_started():
        who = "TensorFlow" if tensorflow_started() else "some library"
        return f"{who} has already initialised CUDA in this process"
    return ""


def driver_started() -> bool:
    """Whether cuInit was called in this process, by the driver library that is already loaded; loads nothing."""
    try:
        driver = ctypes.CDLL("libcuda.so.1", mode=os.RTLD_NOLOAD | os.RTLD_NOW)
        return bool(driver.cuDeviceGetCount(ctypes.byref(ctypes.c_int())) != NOT_INITIALISED)
    except (OSError, AttributeError):
        return False
