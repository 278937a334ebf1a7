"""Memory of the frameworks that this process has loaded: what ran out, and how to give it back.

Nothing here imports a framework.
"""

import contextlib
import ctypes
import gc
import os
import re
import sys
import traceback
from collections.abc import Iterator
from typing import Any

from gpuwhy.api.note import of_framework, said

NOT_INITIALISED = 3
"""What the driver answers before cuInit, which reads CUDA_VISIBLE_DEVICES."""
_WORDS = re.compile(
    r"out of memory|out_of_memory|\boom when allocating|alloc_failed|can't allocate memory"
    r"|not enough memory|unable to allocate|failed to allocate|dst tensor is not initialized"
    r"|bad_?alloc|resource_?exhausted.{0,200}(?:memory|allocat|reserve)",
    re.IGNORECASE | re.DOTALL,
)
_NAMES = frozenset({"OutOfMemoryError", "MemoryError", "_ArrayMemoryError"})


def out_of_memory(error: Exception) -> bool:
    """Whether an exception, or what it was raised from, says that memory did not suffice."""
    for one in _chain(error):
        named = isinstance(one, MemoryError) or type(one).__name__ in _NAMES
        read = isinstance(one, RuntimeError) or of_framework(one)
        if named or (read and _WORDS.search(said(one))):
            return True
    return False


def requested(error: BaseException) -> int | None:
    """How many bytes the failed request was for; None where no message tells."""
    from gpuwhy.log.read import read

    figures = read("\n".join(map(said, _chain(error)))).case.memory
    return figures.asked if figures else None


def forget(error: BaseException) -> None:
    """Drop what the frames of a failed call hold; their variables would keep the tensors alive."""
    for one in _chain(error):
        traceback.clear_frames(one.__traceback__)
        BaseException.with_traceback(one, None)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An exception and those it came from, each once."""
    seen: set[int] = set()
    step: BaseException | None = error
    while step is not None and id(step) not in seen:
        seen.add(id(step))
        yield step
        step = step.__cause__ or (None if step.__suppress_context__ else step.__context__)


# ---------------------------------------------------------------- the frameworks of this process


def _torch_cuda() -> Any:
    """torch.cuda where torch has initialised CUDA, or None."""
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    try:
        return cuda if cuda is not None and cuda.is_initialized() else None
    except Exception:
        return None


def tensorflow_started() -> bool:
    """Whether TensorFlow has created its devices, after which their options are fixed."""
    module = sys.modules.get("tensorflow.python.eager.context")
    return bool(getattr(getattr(module, "context_safe", lambda: None)(), "_initialized", False))


def _jax_platforms() -> tuple[str, ...]:
    """The platforms that JAX has started; () before its first use."""
    return tuple(getattr(sys.modules.get("jax._src.xla_bridge"), "_backends", None) or ())


def cuda_started() -> bool:
    """Whether cuInit was called, by the driver library that is already loaded."""
    try:
        driver = ctypes.CDLL("libcuda.so.1", mode=os.RTLD_NOLOAD | os.RTLD_NOW)
        return bool(driver.cuDeviceGetCount(ctypes.byref(ctypes.c_int())) != NOT_INITIALISED)
    except (OSError, AttributeError):
        return False


def settle(result: Any) -> None:
    """Wait for work under way: frameworks that run ahead report only then that memory ran out."""
    if (cuda := _torch_cuda()) is not None:
        cuda.synchronize()
    jax: Any = sys.modules.get("jax")
    if _jax_platforms() and hasattr(jax, "block_until_ready"):
        jax.block_until_ready(result)
    if tensorflow_started():
        testing = getattr(sys.modules.get("tensorflow"), "test", None)
        sync = getattr(getattr(testing, "experimental", None), "sync_devices", None)
        if sync is not None:
            sync()


def clean(failed: bool) -> None:
    """Give unused memory back; after a failure empty the frameworks' caches too."""
    gc.collect()
    with contextlib.suppress(Exception):  # the next try will show what could not be cleaned
        if (cuda := _torch_cuda()) is not None:
            cuda.empty_cache()
    keras = sys.modules.get("keras") or sys.modules.get("tf_keras")
    if failed and keras is not None and "tensorflow" in sys.modules:
        with contextlib.suppress(Exception):
            keras.backend.clear_session()
    if failed and _jax_platforms():  # caches alone: arrays that are alive belong to the program
        with contextlib.suppress(Exception):
            sys.modules["jax"].clear_caches()
    gc.collect()
