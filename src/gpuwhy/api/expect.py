"""expect: the shape, dtype and device of an array, with names for sizes."""

import operator
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")
Sizes = tuple["int | None", ...]  # None: the framework does not know the size yet

SWITCH = "GPUWHY_EXPECT"
_KINDS = {
    "float": ("float16", "float32", "float64", "bfloat16"),
    "int": ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
}
_ALIASES = {"half": "float16", "double": "float64", "bool_": "bool"}
_DTYPE = re.compile(r"q?u?int\d+|b?float\d+\w*|complex\d*|bool|str\d*|string|object|bytes\d*")
_DEVICE = re.compile(r"\b(gpu|cuda|cpu|rocm|tpu|mps|xpu|meta)\b(?::(\d+))?", re.IGNORECASE)
_names: ContextVar[dict[str, int] | None] = ContextVar("gpuwhy_names", default=None)


class MismatchError(ValueError):
    """An array is not as expected; the text says what came and what was expected."""


class Array(NamedTuple):
    """What is known of an array; None (or "") where it does not tell."""

    shape: Sizes | None
    dtype: str
    device: str  # "cpu", "gpu:0"

    def __str__(self) -> str:
        shape = str(self.shape).replace("None", "?") if self.shape is not None else "of any shape"
        return " ".join(filter(None, (shape, self.dtype, self.device and f"on {self.device}")))


class Expect:
    """`gpuwhy.expect`: call it to check an array; in a `scope()` names keep their sizes."""

    @contextmanager
    def scope(self) -> Iterator[dict[str, int]]:
        """Names keep their sizes across the calls inside the block."""
        names: dict[str, int] = {}
        token = _names.set(names)
        try:
            yield names
        finally:
            _names.reset(token)

    def __call__(
        self,
        array: T,
        shape: str | Sequence[Any] | None = None,
        *,
        dtype: Any = None,
        device: str | None = None,
        name: str = "array",
    ) -> T:
        """Return the array if it is as expected, else raise MismatchError.

        A shape is words: sizes, names (one size each), `_` for any size, `...` or `*name` for any
        number of dimensions; or a tuple of these, with None for any size.
        """
        if os.environ.get(SWITCH, "").lower() in ("0", "off", "false", "no"):
            return array
        came, before = describe(array), _names.get()
        names = dict(before or {})
        wrong = [] if shape is None else list(_wrong_sizes(_words(shape), came.shape, names))
        wrong += [] if dtype is None else _wrong_dtype(came.dtype, dtype)
        wrong += [] if device is None else _wrong_device(came.device, device)
        if wrong:
            raise MismatchError(f"{name} came as {came}: {'; '.join(wrong)}")
        if before is not None:
            before.update(names)
        return array


expect = Expect()


def describe(value: Any) -> Array:
    """Look at an array without copying it; raises TypeError where it is none."""
    if not hasattr(value, "shape"):
        raise TypeError(f"expect() checks arrays; {type(value).__name__} has no shape")
    dtype, device, shape = (
        getattr(value, "dtype", None),
        getattr(value, "device", None),
        value.shape,
    )
    if device is None and type(value).__module__.partition(".")[0] == "numpy":
        device = "cpu"
    where = "" if device is None or callable(device) else device_name(str(device))
    unknown = shape is None or getattr(shape, "rank", 0) is None  # TensorFlow: not even the rank
    sizes = None if unknown else tuple(map(_size, shape))
    return Array(sizes, "" if dtype is None else dtype_name(dtype), where)


def _size(size: Any) -> int | None:
    try:
        return operator.index(size)
    except TypeError:  # None, and symbolic sizes of a trace
        return None


def dtype_name(dtype: Any) -> str:
    """The plain name of a dtype of any framework: float32, bfloat16, bool."""
    inner = getattr(getattr(dtype, "dtype", None), "name", "")
    name = dtype.__name__ if isinstance(dtype, type) else getattr(dtype, "name", "") or inner
    name = str(name or dtype).rpartition(".")[2].strip("<>'\" ").lower()
    return _ALIASES.get(name, name)


def device_name(text: str) -> str:
    """A device as gpu:0 or cpu, however a framework writes it; "" where it names none."""
    plain = text.replace("/", " ").replace("device:", " ").replace("CUDA Device ", "cuda:")
    found = _DEVICE.findall(plain)
    if not found:
        return ""
    kind, number = found[-1][0].lower(), found[-1][1]
    kind = "gpu" if kind in ("cuda", "rocm") else kind
    return f"{kind}:{number}" if number and kind != "cpu" else kind


def _words(shape: str | Sequence[Any]) -> list[str]:
    """The words of a shape; raises TypeError or ValueError where it is none."""
    if not isinstance(shape, (str, tuple, list)):
        raise TypeError(f"a shape is words or a tuple; {type(shape).__name__} came")
    words = []
    for one in shape.replace(",", " ").split() if isinstance(shape, str) else shape:
        word = "_" if one is None or one == -1 else "..." if one is Ellipsis else one
        if not isinstance(word, str) and _size(word) is None:
            raise TypeError(f"{one!r} is no size, no name, not None and not ...")
        words.append(str(word))
        plain = words[-1] in ("...", "*") or words[-1].isdigit()
        if not (plain or words[-1].removeprefix("*").isidentifier()):
            raise ValueError(f"{one!r} is no size, no name and none of '_', '...', '*name'")
    if sum(map(_is_many, words)) > 1:
        raise ValueError(f"{shape!r}: only one of the dimensions may be '...' or '*name'")
    return words


def _is_many(word: str) -> bool:
    return word == "..." or word.startswith("*")


def _wrong_sizes(words: list[str], shape: Sizes | None, names: dict[str, int]) -> Iterator[str]:
    if shape is None:
        return
    many = any(map(_is_many, words))
    spare = len(shape) - len(words) + many
    if spare < 0 or (spare and not many):
        least = f"{len(words) - many}{' or more' if many else ''}"
        yield f"it has {len(shape)} dimensions, {least} expected"
        return
    place = 0
    for word in words:
        size = None if _is_many(word) or word == "_" else shape[place]
        if size is not None and word.isdigit() and size != int(word):
            yield f"dimension {place} is {size}, {word} expected"
        elif size is not None and not word.isdigit() and names.setdefault(word, size) != size:
            yield f"dimension {place} ({word}) is {size}, but {word} is {names[word]}"
        place += spare if _is_many(word) else 1


def _wrong_dtype(came: str, dtype: Any) -> Iterator[str]:
    many = dtype if isinstance(dtype, (tuple, list, set, frozenset)) else (dtype,)
    wanted = {dtype_name(one): one for one in many}
    for name, one in wanted.items():
        if isinstance(one, str) and name not in _KINDS and not _DTYPE.fullmatch(name):
            raise ValueError(f"dtype={one!r} is no dtype")
    if came and not any(came in _KINDS.get(one, (one,)) for one in wanted):
        yield f"it is {came}, {' or '.join(wanted)} expected"


def _wrong_device(came: str, device: str) -> Iterator[str]:
    wanted = device_name(device)
    if not wanted:
        raise ValueError(f"device={device!r}: write 'cpu', 'gpu', 'cuda:0' or the like")
    if came and wanted not in (came, came.partition(":")[0]):
        yield f"it is on {came}, {device} expected"
