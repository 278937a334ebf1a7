"""The sorted table that TensorFlow's checkpoints have as their index: keys and values in blocks."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.fit.model import Unreadable
from gpuwhy.fit.source import MOST_TENSORS, Source

MAGIC = bytes.fromhex("57fb808b247547db")
_FOOTER = 48
_MOST_BLOCK = 48 << 20
_DAMAGED = "its index is damaged: a block of it makes no sense"


def is_one(source: Source) -> bool:
    """Whether it ends like one."""
    return source.size >= _FOOTER and source.some(source.size - 8, 8) == MAGIC


def items(source: Source) -> Iterator[tuple[bytes, bytes]]:
    """Keys and values in order; raises Unreadable."""
    if not is_one(source):
        raise Unreadable("it is no index of a checkpoint")
    footer = source.at(source.size - _FOOTER, _FOOTER)
    _, _, place = _two(footer, 0)
    offset, size, _ = _two(footer, place)
    count = 0
    for _, handle in _block(source, offset, size):
        offset, size, _ = _two(handle, 0)
        for key, value in _block(source, offset, size):
            count += 1
            if count > MOST_TENSORS:
                raise Unreadable(f"its index has more than {MOST_TENSORS:,} entries")
            yield key, value


def _two(data: bytes, place: int) -> tuple[int, int, int]:
    first, place = _varint(data, place)
    second, place = _varint(data, place)
    return first, second, place


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while place < len(data) and shift < 64:
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
        shift += 7
    raise Unreadable(_DAMAGED)


def _block(source: Source, offset: int, size: int) -> Iterator[tuple[bytes, bytes]]:
    if size > _MOST_BLOCK:
        raise Unreadable(_DAMAGED)
    data = source.at(offset, size + 1, "its index")
    if data[-1] != 0:
        raise Unreadable("its index is compressed (snappy), as TensorFlow's checkpoints of version 1 may be: not read")
    restarts = int.from_bytes(data[-5:-1], "little")
    end = size - 4 - 4 * restarts
    place, key = 0, b""
    while place < end:
        shared, fresh, place = _two(data, place)
        length, place = _varint(data, place)
        if shared > len(key) or place + fresh + length > end or shared + fresh > 1 << 16:
            raise Unreadable(_DAMAGED)
        key = key[:shared] + data[place : place + fresh]
        place += fresh
        yield key, data[place : place + length]
        place += length
