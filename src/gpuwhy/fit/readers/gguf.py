"""GGUF: metadata by key, then each tensor's name, shape, block type and place."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

from gpuwhy.fit import dtypes
from gpuwhy.fit.model import Tensor, Unreadable
from gpuwhy.fit.source import MOST_NAME, MOST_TENSORS, Cursor, Source, shape_of

MAGIC = b"GGUF"
_PLAIN = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_MOST_KEYS = 100_000
_KEPT = 1024
"""Arrays longer than this (tokens, their scores) are counted, not kept."""


class Counted(NamedTuple):
    """An array that is not kept."""

    number: int


class Contents(NamedTuple):
    """One GGUF file."""

    meta: dict[str, Any]
    tensors: list[Tensor]


class _Cursor(Cursor):
    """With the strings of this format."""

    def string(self, most: int = 1 << 24) -> str:
        """The next string."""
        length = self.number("Q")
        if length > most:
            raise Unreadable(f"a text in its metadata claims {length:,} bytes")
        return self.take(length).decode("utf-8", "replace")

    def skip_strings(self, count: int) -> None:
        """Go past so many strings."""
        unpack = struct.Struct(self.order + "Q").unpack_from
        while count > 0:
            self.take(8)
            self.place -= 8
            data, place, end = self.data, self.place - self.start, len(self.data) - 8
            while count > 0 and place <= end:
                place += 8 + unpack(data, place)[0]
                count -= 1
            self.skip(self.start + place - self.place)


def read(source: Source) -> Contents:
    """Metadata and tensors; raises Unreadable."""
    if source.at(0, 4) != MAGIC:
        raise Unreadable("it is no GGUF file: it does not begin with GGUF")
    cursor = _Cursor(source, 4)
    version = cursor.number("I")
    if version & 0xFFFF == 0:  # written in the other byte order
        cursor.order = ">"
        version = int.from_bytes(version.to_bytes(4, "little"), "big")
    if version not in (2, 3):
        raise Unreadable(f"it is GGUF version {version}; versions 2 and 3 are read")
    count, keys = cursor.number("Q"), cursor.number("Q")
    if count > MOST_TENSORS or keys > _MOST_KEYS:
        raise Unreadable(f"it claims {count:,} tensors and {keys:,} keys, more than any real file")
    meta = {cursor.string(MOST_NAME): _value(cursor) for _ in range(keys)}
    return Contents(meta, _tensors(source, cursor, count, meta))


def _value(cursor: _Cursor) -> Any:
    return _of(cursor, cursor.number("I"), 0)


def _of(cursor: _Cursor, kind: int, depth: int) -> Any:
    if kind in _PLAIN:
        return cursor.number(_PLAIN[kind])
    if kind == _STRING:
        return cursor.string()
    if kind == _ARRAY and depth < 4:
        return _array(cursor, depth)
    raise Unreadable(f"its metadata has a value of kind {kind}, which GGUF does not know")


def _array(cursor: _Cursor, depth: int) -> Any:
    kind, count = cursor.number("I"), cursor.number("Q")
    if count <= _KEPT:
        return [_of(cursor, kind, depth + 1) for _ in range(count)]
    if kind == _STRING:
        cursor.skip_strings(count)
    elif kind in _PLAIN:
        cursor.skip(count * struct.calcsize(_PLAIN[kind]))
    else:
        raise Unreadable(f"its metadata has {count:,} arrays in an array")
    return Counted(count)


class _Row(NamedTuple):
    name: str
    shape: tuple[int, ...]
    kind: int
    place: int


def _tensors(source: Source, cursor: _Cursor, count: int, meta: dict[str, Any]) -> list[Tensor]:
    rows = [_row(cursor) for _ in range(count)]
    align = meta.get("general.alignment", 32)
    align = align if isinstance(align, int) and 0 < align <= 1 << 20 else 32
    start = -(-cursor.place // align) * align
    room = _rooms(rows, source.size - start)
    return [_tensor(row, source.size - start, room) for row in rows]


def _row(cursor: _Cursor) -> _Row:
    name = cursor.string(MOST_NAME)
    rank = cursor.number("I")
    if rank > 32:
        raise Unreadable(f"the tensor {name[:80]} claims {rank} dimensions")
    dims = [cursor.number("Q") for _ in range(rank)]
    return _Row(name, shape_of(dims[::-1], name), cursor.number("I"), cursor.number("Q"))


def _rooms(rows: list[_Row], end: int) -> Callable[[int], int]:
    """How far it is from a tensor's place to the next one."""
    marks = sorted({row.place for row in rows} | {end})
    following = dict(pairwise(marks))
    return lambda place: following.get(place, 0)


def _tensor(row: _Row, room: int, until_next: Callable[[int], int]) -> Tensor:
    dtype, block, size = dtypes.GGML.get(row.kind, ("?", 0, 0))
    if not block:
        return Tensor(row.name, "?", row.shape, until_next(row.place))
    width = row.shape[-1] if row.shape else 1
    if width % block:
        raise Unreadable(f"the tensor {row.name[:80]} has rows of {width} elements, and blocks of {block}")
    elements = 1
    for one in row.shape:
        elements *= one
    count = elements // block * size
    if row.place + count > room:
        raise Unreadable(
            f"the tensor {row.name[:80]} lies past the end of the file: it is cut short or still downloading"
        )
    return Tensor(row.name, dtype, row.shape, count)


_SPLIT = re.compile(r"(.*-)(\d{5})(-of-)(\d{5})(\.gguf)")


def siblings(name: str) -> list[str]:
    """The names of all files of a model that was split, this one's among them."""
    found = _SPLIT.fullmatch(name)
    if not found or not 1 < int(found[4]) <= 10_000:
        return [name]
    return [f"{found[1]}{number:05}{found[3]}{found[4]}{found[5]}" for number in range(1, int(found[4]) + 1)]
