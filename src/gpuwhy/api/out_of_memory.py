"""Which exceptions mean "does not fit into memory", and how much the failed request was for."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator
from math import prod

from gpuwhy.api.sizes import parse
from gpuwhy.api.suspects import FRAMEWORKS, package, said

_WORDS = re.compile(
    r"out of memory|out_of_memory|\boom when allocating|alloc_failed|can't allocate memory"
    r"|not enough memory"
    r"|unable to allocate|failed to allocate|dst tensor is not initialized|bad_?alloc"
    r"|resource_?exhausted.{0,200}(?:memory|allocat|reserve)",
    re.IGNORECASE | re.DOTALL,
)
_NAMES = frozenset({"OutOfMemoryError", "MemoryError", "_ArrayMemoryError"})
_SIZE = r"(?P<size>[\d.,]+ ?[KMGT]?i?B(?:ytes)?\b|[\d.,]+[KMGT]\b)"
_REQUESTS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"allocate request for [^(]*\((?P<size>\d+B)\)",
        r"(?:tried to|trying to|unable to|failed to|memory) allocat(?:e|ing)"
        rf"[^\d\n]{{0,40}}?{_SIZE}",
        rf"allocating {_SIZE}",
        r"buffer of size (?P<size>\d+)",
        rf"attempting to (?:allocate|reserve) {_SIZE}",
    )
)
_SHAPE = re.compile(r"allocating tensor with shape\s*\[([\d,\s]*)\] and type (\w+)", re.IGNORECASE)
_BYTES = {
    "double": 8,
    "int64": 8,
    "uint64": 8,
    "complex64": 8,
    "complex128": 16,
    "float": 4,
    "int32": 4,
    "uint32": 4,
    "half": 2,
    "bfloat16": 2,
    "int16": 2,
    "uint16": 2,
    "int8": 1,
    "uint8": 1,
    "bool": 1,
}


def chain(error: BaseException) -> Iterator[BaseException]:
    """An exception and those it came from, each once."""
    seen: set[int] = set()
    step: BaseException | None = error
    while step is not None and id(step) not in seen:
        seen.add(id(step))
        yield step
        step = step.__cause__ or (None if step.__suppress_context__ else step.__context__)


def forget(error: BaseException) -> None:
    """Drop what the frames of a failed call hold; their variables would keep the tensors alive."""
    for one in chain(error):
        traceback.clear_frames(one.__traceback__)
        BaseException.with_traceback(one, None)


def out_of_memory(error: Exception) -> bool:
    """Whether an exception, or what it was raised from, says that memory did not suffice."""
    return any(_says_so(one) for one in chain(error))


def _says_so(error: BaseException) -> bool:
    if isinstance(error, MemoryError) or type(error).__name__ in _NAMES:
        return True
    if not isinstance(error, RuntimeError) and package(error) not in FRAMEWORKS:
        return False
    return bool(_WORDS.search(said(error)))


def requested(error: BaseException) -> int | None:
    """How many bytes the failed request was for; None where no message tells."""
    for one in chain(error):
        text = said(one)
        for pattern in _REQUESTS:
            match = pattern.search(text)
            if match:
                return _bytes(match.group("size"))
        shape = _SHAPE.search(text)
        if shape and shape.group(2) in _BYTES:
            return (
                prod(int(n) for n in shape.group(1).split(",") if n.strip())
                * _BYTES[shape.group(2)]
            )
    return None


def _bytes(size: str) -> int | None:
    try:
        return parse(re.sub(r"(?<=[KMGT])B", "iB", size.rstrip(".,"), flags=re.IGNORECASE))
    except ValueError:
        return None
