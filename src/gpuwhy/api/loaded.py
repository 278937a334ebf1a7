"""The frameworks that this process has loaded: who started CUDA, and how to clean up after a try.

Nothing here imports a framework.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import sys
from typing import Any

NOT_INITIALISED = 3
"""What the driver answers before cuInit, which reads CUDA_VISIBLE_DEVICES."""


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
    """Whether cuInit was called, by the driver library that is already loaded."""
    try:
        driver = ctypes.CDLL("libcuda.so.1", mode=os.RTLD_NOLOAD | os.RTLD_NOW)
        return bool(driver.cuDeviceGetCount(ctypes.byref(ctypes.c_int())) != NOT_INITIALISED)
    except (OSError, AttributeError):
        return False


def settle(result: Any) -> None:
    """Wait for work under way: frameworks that run ahead report only then that memory ran out."""
    cuda = torch_cuda()
    if cuda is not None:
        cuda.synchronize()
    if jax_platforms() and hasattr(loaded("jax"), "block_until_ready"):
        loaded("jax").block_until_ready(result)
    if tensorflow_started():
        testing = getattr(loaded("tensorflow"), "test", None)
        sync = getattr(getattr(testing, "experimental", None), "sync_devices", None)
        if sync is not None:
            sync()


def clean(failed: bool) -> None:
    """Give unused memory back and reset the peak counters; after a failure empty caches too."""
    gc.collect()
    for one in (_clean_torch, _clean_tensorflow, _clean_jax):
        with contextlib.suppress(Exception):  # the next try will show what could not be cleaned
            one(failed)


def _clean_torch(failed: bool) -> None:
    cuda = torch_cuda()
    if cuda is not None:
        cuda.empty_cache()
        for index in range(cuda.device_count()):
            cuda.reset_peak_memory_stats(index)


def _clean_tensorflow(failed: bool) -> None:
    keras = loaded("keras") or loaded("tf_keras")
    if failed and keras is not None and loaded("tensorflow") is not None:
        keras.backend.clear_session()
        gc.collect()
    if tensorflow_started():
        config = loaded("tensorflow").config
        for index, _ in enumerate(config.list_logical_devices("GPU")):
            config.experimental.reset_memory_stats(f"GPU:{index}")


def _clean_jax(failed: bool) -> None:
    """Caches alone: arrays that are alive belong to the program."""
    if failed and jax_platforms():
        loaded("jax").clear_caches()
        gc.collect()
