"""Shape, dtype, device and strides of anything that is an array: TensorFlow, torch, JAX, NumPy, CuPy, DLPack."""

from __future__ import annotations

import ctypes
import operator
import re
from dataclasses import dataclass
from math import prod
from typing import Any

Dim = int | None
"""None: the framework does not know the size yet."""

_TYPESTR = {"f": "float", "i": "int", "u": "uint", "c": "complex"}
_DLPACK_KINDS = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool"}
_DLPACK_DEVICES = {1: "cpu", 2: "gpu", 3: "cpu", 10: "gpu", 11: "cpu", 13: "gpu"}
_NUMBERED = re.compile(r"\b(gpu|cuda|cpu|rocm|tpu|mps|xpu|meta)\b(?::(\d+))?", re.IGNORECASE)
_ALIASES = {"half": "float16", "double": "float64", "bool_": "bool"}


@dataclass(frozen=True)
class Array:
    """What is known of an array; None (or "") where it does not tell."""

    shape: tuple[Dim, ...] | None
    dtype: str = ""
    device: str = ""  # "cpu", "gpu:0"
    strides: tuple[int, ...] | None = None  # in elements; None: row by row, or not told
    sparse: str = ""

    def __str__(self) -> str:
        shape = "of unknown shape" if self.shape is None else shown(self.shape)
        return " ".join(part for part in (shape, self.dtype, f"on {self.device}" if self.device else "") if part)


def shown(shape: tuple[Dim, ...]) -> str:
    """A shape as Python writes tuples, with ? for what is not known."""
    inner = ", ".join("?" if n is None else str(n) for n in shape)
    return f"({inner},)" if len(shape) == 1 else f"({inner})"


def describe(value: Any) -> Array:
    """Look at an array without copying it; raises TypeError where it is none."""
    if hasattr(value, "shape"):
        return Array(shape_of(value.shape), _dtype_of(value), _device_of(value), _strides_of(value), _sparse(value))
    interface = getattr(value, "__cuda_array_interface__", None)
    where = "gpu"
    if interface is None:
        interface, where = getattr(value, "__array_interface__", None), "cpu"
    if isinstance(interface, dict):
        return _by_interface(interface, where)
    if hasattr(value, "__dlpack__"):
        return _by_dlpack(value)
    raise TypeError(f"expect() checks arrays; {type(value).__name__} has no shape")


def shape_of(shape: Any) -> tuple[Dim, ...] | None:
    """A shape as integers; None where not even the rank is known."""
    if getattr(shape, "rank", 0) is None or shape is None:
        return None
    return tuple(_dim(n) for n in shape)


def _dim(size: Any) -> Dim:
    size = getattr(size, "value", size)  # TensorFlow 1's Dimension
    try:
        return operator.index(size)
    except TypeError:  # None, and symbolic sizes of a trace
        return None


def dtype_name(dtype: Any) -> str:
    """The plain name of a dtype of any framework: float32, bfloat16, bool."""
    if isinstance(dtype, str):
        name = dtype
    elif isinstance(dtype, type):
        name = dtype.__name__
    else:
        name = getattr(dtype, "name", "") or getattr(getattr(dtype, "dtype", None), "name", "") or str(dtype)
    name = str(name).rpartition(".")[2].strip("<>'\" ").lower()
    return _ALIASES.get(name, name)


def _dtype_of(value: Any) -> str:
    dtype = getattr(value, "dtype", None)
    return "" if dtype is None else dtype_name(dtype)


def device_name(text: str) -> str:
    """A device as gpu:0 or cpu, from any framework's way to write it; "" where it names none."""
    found = _NUMBERED.findall(text.replace("/", " ").replace("device:", " ").replace("CUDA Device ", "cuda:"))
    if not found:
        return ""
    kind, number = found[-1]
    kind = "gpu" if kind.lower() in ("cuda", "rocm") else kind.lower()
    return f"{kind}:{number}" if number and kind != "cpu" else kind


def _device_of(value: Any) -> str:
    device = getattr(value, "device", None)
    if callable(device):  # JAX before 0.4.31
        device = next(iter(value.devices()), None) if hasattr(value, "devices") else None
    if device is None:
        return "cpu" if type(value).__module__.partition(".")[0] == "numpy" else ""
    return device_name(str(device))


def _sparse(value: Any) -> str:
    layout = str(getattr(value, "layout", "")).rpartition(".")[2]
    return layout if layout.startswith("sparse") else ""


def _strides_of(value: Any) -> tuple[int, ...] | None:
    try:
        if callable(getattr(value, "stride", None)):
            return tuple(int(n) for n in value.stride())
        size = getattr(value, "itemsize", 0)
        strides = getattr(value, "strides", None)
        return tuple(int(n) // size for n in strides) if strides is not None and size else None
    except Exception:  # sparse and symbolic tensors have none
        return None


def _by_interface(told: dict[str, Any], where: str) -> Array:
    typestr = str(told.get("typestr", ""))
    kind, size = typestr[1:2], typestr[2:]
    dtype = "bool" if kind == "b" else f"{_TYPESTR.get(kind, kind)}{int(size) * 8}" if size.isdigit() else ""
    strides = told.get("strides")
    steps = tuple(int(n) // int(size) for n in strides) if strides and size.isdigit() and int(size) else None
    return Array(shape_of(told.get("shape")), dtype, where, steps)


class _DLTensor(ctypes.Structure):
    """The head of DLManagedTensor, as dlpack.h lays it out."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
    )


def _by_dlpack(value: Any) -> Array:
    """Read the tensor's head in its capsule, which is left unused, so that its owner frees it."""
    capsule = value.__dlpack__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    head = _DLTensor.from_address(pointer(capsule, b"dltensor"))
    shape = tuple(head.shape[i] for i in range(head.ndim))
    strides = tuple(head.strides[i] for i in range(head.ndim)) if head.strides else None
    kind = _DLPACK_KINDS.get(head.code, f"type {head.code} of ")
    dtype = "bool" if kind == "bool" else f"{kind}{head.bits}"
    where = _DLPACK_DEVICES.get(head.device_type, f"device type {head.device_type}")
    return Array(shape, dtype, f"gpu:{head.device_id}" if where == "gpu" else where, strides)


def contiguous(shape: tuple[Dim, ...], strides: tuple[int, ...] | None, order: tuple[int, ...]) -> bool:
    """Whether elements lie without gaps with the dimensions in this order, slowest first; sizes of 1 do not matter."""
    if strides is None or None in shape:
        return order == tuple(range(len(shape)))
    sizes = [n or 0 for n in shape]
    if prod(sizes) == 0:
        return True
    step = 1
    for place in reversed(order):
        if sizes[place] != 1 and strides[place] != step:
            return False
        step *= sizes[place]
    return True
