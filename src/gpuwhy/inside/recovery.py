"""Clean memory between tries: what a failed step left behind, in each framework that this process has loaded."""

from __future__ import annotations

import contextlib
import gc
import traceback
from typing import Any

from gpuwhy.inside.loaded import jax_platforms, loaded, tensorflow_started, torch_cuda
from gpuwhy.inside.memory_errors import chain


def forget(error: BaseException) -> None:
    """Drop what the frames of a failed call hold; their variables would keep the tensors alive."""
    for one in chain(error):
        traceback.clear_frames(one.__traceback__)
        BaseException.with_traceback(one, None)


def settle(result: Any) -> None:
    """Wait for work under way: frameworks that run ahead tell only then that memory did not suffice."""
    cuda = torch_cuda()
    if cuda is not None:
        cuda.synchronize()
    if jax_platforms() and hasattr(loaded("jax"), "block_until_ready"):
        loaded("jax").block_until_ready(result)
    if tensorflow_started():
        sync = getattr(getattr(getattr(loaded("tensorflow"), "test", None), "experimental", None), "sync_devices", None)
        if sync is not None:
            sync()


def clean(failed: bool) -> None:
    """Give unused memory back and start the counters of the peak anew; after a failure also empty the caches."""
    gc.collect()
    for one in (_torch, _tensorflow, _jax):
        with contextlib.suppress(Exception):  # a try that cannot be cleaned up after tells so itself
            one(failed)


def _torch(failed: bool) -> None:
    cuda = torch_cuda()
    if cuda is not None:
        cuda.empty_cache()
        for index in range(cuda.device_count()):
            cuda.reset_peak_memory_stats(index)


def _tensorflow(failed: bool) -> None:
    keras = loaded("keras") or loaded("tf_keras")
    if failed and keras is not None and loaded("tensorflow") is not None:
        keras.backend.clear_session()
        gc.collect()
    if tensorflow_started():
        config = loaded("tensorflow").config
        for index, _ in enumerate(config.list_logical_devices("GPU")):
            config.experimental.reset_memory_stats(f"GPU:{index}")


def _jax(failed: bool) -> None:
    """Caches alone: arrays that are still alive belong to the program, and deleting them would break its next try."""
    if failed and jax_platforms():
        loaded("jax").clear_caches()
        gc.collect()
