"""HDF5, headers only: groups of both generations, each dataset's type and shape; no data, no filters."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from typing import NamedTuple

from gpuwhy.fit.model import Tensor, Unreadable
from gpuwhy.fit.readers.hdf5_links import Links, Sizes
from gpuwhy.fit.source import MOST_NAME, MOST_TENSORS, Source, shape_of

MAGIC = b"\x89HDF\r\n\x1a\n"
_MOST_MESSAGES = 100_000
_DEEPEST = 60
_SPACE, _LINK_INFO, _TYPE, _LINK, _ATTRIBUTE, _MORE, _SYMBOLS = 1, 2, 3, 6, 12, 16, 17
_FLOATS = {2: "f16", 4: "f32", 8: "f64"}
_SHARED = 2


class Contents(NamedTuple):
    """What one file holds."""

    tensors: list[Tensor]
    config: bytes  # Keras' model_config, where the root has one
    unknown: list[str]


class _Message(NamedTuple):
    kind: int
    flags: int
    data: bytes


def start_of(source: Source) -> int | None:
    """Where the file begins: at 0, or behind a block of the user's; None where it is no HDF5."""
    place = 0
    while place + 8 <= min(source.size, 1 << 24):
        if source.some(place, 8) == MAGIC:
            return place
        place = max(512, place * 2)
    return None


def read(source: Source) -> Contents:
    """Every dataset; raises Unreadable."""
    start = start_of(source)
    if start is None:
        raise Unreadable("it is no HDF5 file")
    return _File(source, start).contents()


class _Space(NamedTuple):
    dims: tuple[int, ...]
    empty: bool


class _File:
    def __init__(self, source: Source, start: int) -> None:
        self._source = source
        version = source.at(start + 8, 1)[0]
        if version > 3:
            raise Unreadable(f"it is HDF5 with a superblock of version {version}; versions 0 to 3 are read")
        place = 13 if version < 2 else 9
        offset, length = source.at(start + place, 2)
        if offset not in (2, 4, 8) or length not in (2, 4, 8):
            raise Unreadable("its HDF5 superblock is damaged")
        self._sizes = Sizes(offset, length)
        self._base, self._root = self._addresses(start, version)
        self._links = Links(source, self._base, self._sizes)
        self._seen: set[int] = set()
        self._unknown: list[str] = []
        self._found: list[Tensor] = []

    def _addresses(self, start: int, version: int) -> tuple[int, int]:
        """Base address and the root's header."""
        wide = self._sizes.offset
        if version < 2:
            place = start + (24 if version == 0 else 28)
            entry = place + 4 * wide
            return self._number(place), self._number(entry + wide)
        return self._number(start + 12), self._number(start + 12 + 3 * wide)

    def _number(self, place: int) -> int:
        return int.from_bytes(self._source.at(place, self._sizes.offset), "little")

    def contents(self) -> Contents:
        """Walk from the root."""
        config = b""
        for message in self._messages(self._root):
            if message.kind == _ATTRIBUTE:
                config = config or self._attribute(message.data, b"model_config")
        self._walk(self._root, "", 0)
        return Contents(self._found, config, self._unknown)

    def _walk(self, address: int, name: str, depth: int) -> None:
        if address in self._seen:
            return
        self._seen.add(address)
        if depth > _DEEPEST or len(self._seen) > MOST_TENSORS:
            raise Unreadable("its groups are nested deeper, or are more, than any real file's")
        messages = list(self._messages(address))
        kinds = {message.kind: message for message in messages}
        if _TYPE in kinds and _SPACE in kinds:
            self._found.append(self._dataset(name, kinds[_TYPE], kinds[_SPACE]))
            return
        for key, child in sorted(self._children(messages)):
            self._walk(child, f"{name}/{key}"[:MOST_NAME] if name else key[:MOST_NAME], depth + 1)

    def _children(self, messages: list[_Message]) -> Iterator[tuple[str, int]]:
        for message in messages:
            if message.kind == _SYMBOLS:
                yield from self._links.old(message.data)
            elif message.kind == _LINK:
                yield from self._links.link(message.data)
            elif message.kind == _LINK_INFO:
                yield from self._links.dense(message.data)

    def _messages(self, address: int) -> Iterator[_Message]:
        """The messages of an object's header, those of its continuations too."""
        place = self._base + address
        head = self._source.at(place, 8, "an object's header")
        if head[:4] == b"OHDR":
            yield from self._new_messages(place, head)
        elif head[0] == 1:
            (size,) = struct.unpack_from("<I", self._source.at(place + 8, 4))
            yield from self._blocks([(place + 16, size)], 0, 8)
        else:
            raise Unreadable("an object in it has a header that HDF5 does not know: the file is damaged")

    def _new_messages(self, place: int, head: bytes) -> Iterator[_Message]:
        flags = head[5]
        at = place + 6 + (16 if flags & 0x20 else 0) + (4 if flags & 0x10 else 0)
        wide = 1 << (flags & 3)
        size = int.from_bytes(self._source.at(at, wide), "little")
        yield from self._blocks([(at + wide, size)], 4, 6 if flags & 4 else 4)

    def _blocks(self, blocks: list[tuple[int, int]], tail: int, head: int) -> Iterator[_Message]:
        """Messages of all blocks: `head` bytes before each, `tail` at the end of a continuation."""
        count = 0
        for number, (place, size) in enumerate(blocks):
            data = self._source.at(place, size, "an object's header")
            if tail and number:  # a continuation of the newer form has a name before and a sum behind
                data = data[4 : len(data) - tail]
            at = 0
            while at + head <= len(data):
                count += 1
                if count > _MOST_MESSAGES or len(blocks) > 1000:
                    raise Unreadable("an object in it has a header longer than any real one")
                message, at = self._message(data, at, head)
                if message.kind == _MORE:
                    blocks.append(self._continued(message.data))
                else:
                    yield message

    def _message(self, data: bytes, at: int, head: int) -> tuple[_Message, int]:
        kind, size, flags = struct.unpack_from("<HHB" if head == 8 else "<BHB", data, at)
        end = at + head + size
        if end > len(data):
            raise Unreadable("a message in it is longer than its header: the file is damaged")
        return _Message(kind, flags, data[at + head : end]), end

    def _continued(self, data: bytes) -> tuple[int, int]:
        wide = self._sizes.offset
        if len(data) < wide + self._sizes.length:
            raise Unreadable("an object's header in it is cut short")
        length = int.from_bytes(data[wide : wide + self._sizes.length], "little")
        return self._base + int.from_bytes(data[:wide], "little"), length

    def _dataset(self, name: str, kind: _Message, space: _Message) -> Tensor:
        if kind.flags & _SHARED:
            self._unknown.append(
                f"{name[:80]} has a type that is kept elsewhere in the file: its bytes are not counted"
            )
            return Tensor(name, "?", (), 0)
        dtype, size = _type(kind.data)
        dims, empty = self._space(space.data)
        shape = shape_of(dims, name)
        return Tensor(name, dtype, shape, 0 if empty else math.prod(shape) * size)

    def _space(self, data: bytes) -> _Space:
        if len(data) < 4:
            raise Unreadable("a dataset in it has no shape: the file is damaged")
        version, rank = data[0], data[1]
        start = 8 if version == 1 else 4
        wide = self._sizes.length
        if version not in (1, 2) or start + rank * wide > len(data):
            raise Unreadable("a dataset in it has a shape that makes no sense: the file is damaged")
        dims = [int.from_bytes(data[start + n * wide : start + (n + 1) * wide], "little") for n in range(rank)]
        return _Space(tuple(dims), version == 2 and data[3] == 2)

    def _attribute(self, data: bytes, wanted: bytes) -> bytes:
        """The text of an attribute of that name; nothing where it is another, or no text."""
        if len(data) < 9 or data[0] not in (1, 2, 3):
            return b""
        names, types, spaces = struct.unpack_from("<HHH", data, 2)
        at = 8 + (data[0] == 3)
        name, step = data[at : at + names].rstrip(b"\0"), 8 if data[0] == 1 else 1  # version 1 fills up
        at += -(-names // step) * step
        kind = data[at : at + types]
        value = data[at + -(-types // step) * step + -(-spaces // step) * step :]
        if name != wanted or not kind:
            return b""
        if kind[0] & 15 == 9:
            return self._links.heap_text(value)
        return value.rstrip(b"\0") if kind[0] & 15 == 3 else b""


def _type(data: bytes) -> tuple[str, int]:
    """Our name for a type, and the bytes of one element."""
    if len(data) < 8:
        raise Unreadable("a dataset in it has no type: the file is damaged")
    size = int.from_bytes(data[4:8], "little")
    if size > 1 << 28:
        raise Unreadable(f"an element of a dataset in it claims {size:,} bytes")
    return _type_name(data[0] & 15, data, size), size


def _type_name(kind: int, data: bytes, size: int) -> str:
    if kind == 0 and size in (1, 2, 4, 8):
        return f"{'i' if data[1] & 8 else 'u'}{size * 8}"
    if kind == 1:
        return _float(data, size)
    if kind == 6 and size in (8, 16) and data[1] == 2:  # two members: a complex number
        return f"c{size * 8}"
    if kind == 8 and size == 1 and data[1] == 2:  # two names: no and yes
        return "bool"
    return "?"


def _float(data: bytes, size: int) -> str:
    if size == 2 and len(data) >= 14 and data[13] == 8:  # eight bits of exponent
        return "bf16"
    return _FLOATS.get(size, "?")
