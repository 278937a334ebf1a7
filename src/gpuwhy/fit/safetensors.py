"""safetensors: a length, then JSON with each tensor's type, shape and place."""

from __future__ import annotations

import msgspec

from gpuwhy.fit import dtypes
from gpuwhy.fit.model import Tensor, Unreadable
from gpuwhy.fit.source import MOST_TENSORS, Source, shape_of

_MOST_HEADER = 40 << 20
_CUT = "it is cut short or still downloading"


class _Entry(msgspec.Struct):
    dtype: str
    shape: list[int]
    data_offsets: tuple[int, int]


_DECODER = msgspec.json.Decoder(_Entry)


def is_one(source: Source) -> bool:
    """Whether a file begins like one."""
    head = source.some(0, 9)
    return head[8:] == b"{" and 2 <= int.from_bytes(head[:8], "little") <= source.size - 8


def read(source: Source) -> list[Tensor]:
    """The tensors of one file; raises Unreadable."""
    length = int.from_bytes(source.at(0, 8), "little")
    if length > _MOST_HEADER:
        raise Unreadable(f"its header claims {length:,} bytes: it is no safetensors file")
    data = source.at(8, length, "its header")
    room = source.size - 8 - length
    try:
        raw = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
        raw.pop("__metadata__", None)
        entries = {name: _DECODER.decode(entry) for name, entry in raw.items()}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Unreadable("its header is not the JSON of a safetensors file") from None
    if len(entries) > MOST_TENSORS:
        raise Unreadable(f"its header claims {len(entries):,} tensors")
    tensors = [_tensor(name, entry, room) for name, entry in entries.items()]
    if sum(one.bytes for one in tensors) > room:
        raise Unreadable("its tensors need more bytes than it has: they lie upon each other")
    return tensors


def _tensor(name: str, entry: _Entry, room: int) -> Tensor:
    start, end = entry.data_offsets
    if not 0 <= start <= end <= room:
        raise Unreadable(f"the tensor {name[:80]} lies past the end of the file: {_CUT}")
    dtype, shape = dtypes.named(entry.dtype), shape_of(entry.shape, name)
    size = dtypes.size_of(dtype, shape)
    if size is not None and size != end - start:
        said = f"needs {size:,} bytes by its shape, and has {end - start:,}"
        raise Unreadable(f"the tensor {name[:80]} {said}")
    return Tensor(name, dtype, shape, end - start)
