"""Which exceptions may come from the GPU stack: by type and words, before anything is loaded."""

from __future__ import annotations

import re

FRAMEWORKS = re.compile(
    "torch|torchvision|torchaudio|tensorflow|jax|jaxlib|cupy|cupy_backends|cupyx|numba|onnxruntime"
    "|triton|pycuda|paddle|mxnet|tensorrt|pynvml|cuda|rmm|cudf|xformers|flash_attn|bitsandbytes"
)
"""Packages whose own exception types are worth reading."""
_INNOCENT = (KeyError, NameError, StopIteration, StopAsyncIteration, SyntaxError, Warning)
_WORDS = re.compile(
    "cuda|cudnn|cublas|cufft|curand|cusolver|cusparse|cupti|nccl|nvidia|nvrtc|nvml"
    "|nvjitlink|nvcc|gpu|hip error|rocm|xla|ptx|resource_exhausted|resource exhausted"
    "|out of memory|oom when|device-side|sm_|tensorrt|triton|torch|tensorflow|jaxlib"
    "|onnxruntime|dataloader|shapes cannot be multiplied|size of tensor"
    "|expected scalar type|same dtype|on the same device|incompatible shapes"
    "|expected input"
)
"""What a message of the GPU stack contains; the log reader decides whether it is an error."""
_ENOUGH = 20_000
_FURTHEST = 40


def target(error: BaseException) -> BaseException | None:
    """The exception that should carry the diagnosis; None where none looks like the GPU stack.

    It is the error that was raised, also where a GPU error is its stated cause. An error that only
    happened while a GPU error was handled stays as it is, and the GPU error carries the note.
    """
    return _target(error, error, [_FURTHEST])


def _target(error: BaseException, carrier: BaseException, left: list[int]) -> BaseException | None:
    left[0] -= 1
    if left[0] < 0:
        return None
    if suspicious(error):
        return carrier
    members = getattr(error, "exceptions", None)
    for member in members if isinstance(members, tuple) else ():
        found = _target(member, member, left) if isinstance(member, BaseException) else None
        if found is not None:
            return found
    if error.__cause__ is not None:
        return _target(error.__cause__, carrier, left)
    if error.__context__ is not None and not error.__suppress_context__:
        return _target(error.__context__, error.__context__, left)
    return None


def suspicious(error: BaseException) -> bool:
    """Whether an exception's type or text speaks of the GPU stack."""
    if not isinstance(error, Exception) or isinstance(error, _INNOCENT):
        return False
    return of_framework(error) or bool(_WORDS.search(said(error).lower()))


def of_framework(error: BaseException) -> bool:
    """Whether the exception's type is one of a framework's own."""
    package = str(getattr(type(error), "__module__", "")).partition(".")[0]
    return bool(FRAMEWORKS.fullmatch(package))


def said(error: BaseException) -> str:
    """The text of an exception; "" where it cannot be had."""
    try:
        return str(error)[:_ENOUGH]
    except Exception:
        return ""
