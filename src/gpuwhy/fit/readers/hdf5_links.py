"""The links of HDF5's groups: the older tree with its heap, links in the header, the newer heap with its index."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from gpuwhy.fit.model import Unreadable
from gpuwhy.fit.source import MOST_TENSORS, Source

_DAMAGED = "a group in it is damaged: its links cannot be followed"
_NOWHERE = 1 << 62


class Sizes(NamedTuple):
    """How long the file's addresses and lengths are."""

    offset: int
    length: int


class _Heap(NamedTuple):
    """A fractal heap's header."""

    offset_size: int
    length_size: int
    width: int
    start: int
    largest: int
    root: int
    rows: int


class Links:
    """Reads the links of any group."""

    def __init__(self, source: Source, base: int, sizes: Sizes) -> None:
        self._source, self._base, self._sizes = source, base, sizes
        self._left = 2 * MOST_TENSORS

    def _spend(self, count: int = 1) -> None:
        self._left -= count
        if self._left < 0:
            raise Unreadable("it has more links than any real file")

    def _at(self, address: int, count: int, mark: bytes = b"") -> bytes:
        if address >= _NOWHERE:
            raise Unreadable(_DAMAGED)
        data = self._source.at(self._base + address, count, "a group")
        if not data.startswith(mark):
            raise Unreadable(_DAMAGED)
        return data

    def _numbers(self, data: bytes, place: int, *sizes: int) -> list[int]:
        out = []
        for size in sizes:
            if place + size > len(data):
                raise Unreadable(_DAMAGED)
            out.append(int.from_bytes(data[place : place + size], "little"))
            place += size
        return out

    # the older form: a tree of tables, names in a heap

    def old(self, message: bytes) -> Iterator[tuple[str, int]]:
        """The links of a group of the older form."""
        wide, length = self._sizes
        tree, heap = self._numbers(message, 0, wide, wide)
        head = self._at(heap, 8 + 2 * length + wide, b"HEAP")
        size, _, place = self._numbers(head, 8, length, length, wide)
        names = self._at(place, size)
        yield from self._tree(tree, names, 0)

    def _tree(self, address: int, names: bytes, depth: int) -> Iterator[tuple[str, int]]:
        wide, length = self._sizes
        head = self._at(address, 8 + 2 * wide, b"TREE")
        level, count = head[5], int.from_bytes(head[6:8], "little")
        if depth > 16 or head[4] != 0:
            raise Unreadable(_DAMAGED)
        body = self._at(address + 8 + 2 * wide, count * (length + wide) + length)
        for number in range(count):
            self._spend()
            (child,) = self._numbers(body, number * (length + wide) + length, wide)
            yield from self._tree(child, names, depth + 1) if level else self._table(child, names)

    def _table(self, address: int, names: bytes) -> Iterator[tuple[str, int]]:
        wide = self._sizes.offset
        count = int.from_bytes(self._at(address, 8, b"SNOD")[6:8], "little")
        each = 2 * wide + 24
        body = self._at(address + 8, count * each)
        for number in range(count):
            self._spend()
            name, header = self._numbers(body, number * each, wide, wide)
            cached = int.from_bytes(body[number * each + 2 * wide : number * each + 2 * wide + 4], "little")
            if cached != 2 and name < len(names):  # 2: a symbolic link
                end = names.find(b"\0", name)
                yield names[name : end if end >= 0 else len(names)].decode("utf-8", "replace"), header

    # the newer forms

    def link(self, data: bytes) -> Iterator[tuple[str, int]]:
        """One link, as a message or as an object of a heap; nothing where it is a symbolic one."""
        self._spend()
        if len(data) < 4 or data[0] != 1:
            raise Unreadable(_DAMAGED)
        flags, place, kind = data[1], 2, 0
        if flags & 8:
            kind, place = data[place], place + 1
        place += (8 if flags & 4 else 0) + (1 if flags & 16 else 0)
        wide = 1 << (flags & 3)
        (length,) = self._numbers(data, place, wide)
        place += wide
        if kind == 0:
            (address,) = self._numbers(data, place + length, self._sizes.offset)
            yield data[place : place + length].decode("utf-8", "replace"), address

    def dense(self, message: bytes) -> Iterator[tuple[str, int]]:
        """The links of a group that keeps them in a fractal heap."""
        if len(message) < 2:
            raise Unreadable(_DAMAGED)
        wide = self._sizes.offset
        heap, index = self._numbers(message, 2 + (8 if message[1] & 1 else 0), wide, wide)
        if heap == (1 << 8 * wide) - 1:
            return
        found = self._heap(heap)
        for record in self._records(index):
            yield from self.link(self._object(found, record[4:]))

    def _heap(self, address: int) -> _Heap:
        wide, length = self._sizes
        head = self._at(address, 14 + 10 * length + 3 * wide + 2 + 2 * length + 6 + 2, b"FRHP")
        ident, filters, _, most = struct.unpack_from("<HHBI", head, 5)
        place = 14 + 2 * wide + 10 * length
        width, start, largest, bits, _, root, rows = self._numbers(head, place, 2, length, length, 2, 2, wide, 2)
        if filters or not width or not start or not largest or ident > 64:
            raise Unreadable("a group in it keeps its links compressed, which is not read")
        smallest = min(largest, most)
        return _Heap(-(-bits // 8), -(-smallest.bit_length() // 8), width, start, largest, root, rows)

    def _object(self, heap: _Heap, ident: bytes) -> bytes:
        kind = ident[0] >> 4 & 3
        if kind == 2:
            return ident[1 : 2 + (ident[0] & 15)]
        if kind != 0:
            raise Unreadable("a group in it keeps a link that is too large for its heap, which is not read")
        offset, length = self._numbers(ident, 1, heap.offset_size, heap.length_size)
        return self._at(self._place(heap, offset), length)

    def _place(self, heap: _Heap, offset: int) -> int:
        """Where a heap's offset lies in the file."""
        address, rows = heap.root, heap.rows
        if not rows:
            return address + offset
        for _ in range(64):
            before, row = 0, 0
            while row < min(rows, 64) and offset >= before + heap.width * _row_size(heap, row):
                before += heap.width * _row_size(heap, row)
                row += 1
            if row >= min(rows, 64):
                raise Unreadable(_DAMAGED)
            size = _row_size(heap, row)
            child = row * heap.width + (offset - before) // size
            place = 5 + self._sizes.offset + heap.offset_size + child * self._sizes.offset
            address_here = self._at(address, 5, b"FHIB") and self._at(address + place, self._sizes.offset)
            address, offset = int.from_bytes(address_here, "little"), (offset - before) % size
            if size <= heap.largest:
                return address + offset
            rows = size.bit_length() - (heap.start * heap.width).bit_length() + 1
        raise Unreadable(_DAMAGED)

    def _records(self, address: int) -> Iterator[bytes]:
        """The records of a tree of the newer form."""
        wide, length = self._sizes
        head = self._at(address, 16 + wide + 2 + length, b"BTHD")
        node, record, depth = struct.unpack_from("<IHH", head, 6)
        root, count = self._numbers(head, 16, wide, 2)
        if depth > 8 or record < 5 or node < 64 or node > 1 << 24:
            raise Unreadable(_DAMAGED)
        if count:
            yield from self._node(root, count, depth, node, record)

    def _node(self, address: int, count: int, depth: int, node: int, record: int) -> Iterator[bytes]:
        self._spend(count + 1)
        data = self._at(address, node, b"BTIN" if depth else b"BTLF")
        if 6 + count * record > len(data):
            raise Unreadable(_DAMAGED)
        for number in range(count):
            yield data[6 + number * record : 6 + (number + 1) * record]
        if not depth:
            return
        wide = self._sizes.offset
        sizes = _pointer_sizes(node, record, wide, depth)
        place = 6 + count * record
        for number in range(count + 1):
            child, below = self._numbers(data, place + number * (wide + sum(sizes)), wide, sizes[0])
            yield from self._node(child, below, depth - 1, node, record)

    def heap_text(self, value: bytes) -> bytes:
        """A text of any length, which lies in the global heap."""
        wide, length = self._sizes
        size, address, wanted = self._numbers(value, 0, 4, wide, 4)
        head = self._at(address, 8 + length, b"GCOL")
        (total,) = self._numbers(head, 8, length)
        data = self._at(address, total)
        place = 8 + length
        while place + 8 + length <= len(data):
            index, *_, held = self._numbers(data, place, 2, 2, 4, length)
            if index == wanted:
                return data[place + 8 + length : place + 8 + length + min(size, held)]
            if index == 0:
                break
            place += 8 + length + -(-held // 8) * 8
        return b""


def _row_size(heap: _Heap, row: int) -> int:
    return heap.start << max(row - 1, 0)


def _pointer_sizes(node: int, record: int, wide: int, depth: int) -> tuple[int, ...]:
    """Bytes of a child's count of records, and of all below it, in a node of that depth."""
    most = (node - 10) // record
    total = most
    sizes: tuple[int, ...] = (_bytes(most),)
    for _ in range(1, depth):
        most = (node - 10 - wide - sum(sizes)) // (record + wide + sum(sizes))
        total = (most + 1) * total + most
        sizes = (_bytes(most), _bytes(total))
    return sizes


def _bytes(value: int) -> int:
    return max(1, -(-value.bit_length() // 8))
