"""Binaries: what the head of a streamed library tells: GPU code, NEEDED names, imported DLLs; cut off when known."""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from tools.harvest.reading import arch_order

_MAGIC = bytes.fromhex("50ed55ba01001000")
_NAME = re.compile(
    rb"(?<=\0)(lib(?:cu(?!rl)|nv|nccl)[\w.-]*\.so(?:\.[\d.]+)?|(?:cu|nv|nccl)[\w.-]*\.dll|@rpath/lib(?:cu|nv)[\w.]*\.dylib)\0"
)
_MAX_ENTRIES = 256
Sets = Counter[tuple[frozenset[str], frozenset[str]]]


class Code(NamedTuple):
    """The GPU code of a library's first regions: the set that most of them carry."""

    sass: list[str]
    ptx: list[str]
    isa: str  # newest PTX language version seen: 6.3
    regions: int


def gpu_code(pieces: Iterator[bytes | bytearray], enough: int, limit: int) -> Code:
    """List fatbin regions of a stream until `enough` of them or `limit` inflated bytes; the modal set wins."""
    sets: Sets = Counter()
    isas: set[tuple[int, int]] = set()
    buffer, base, wanted = bytearray(), 0, 0
    for piece in pieces:
        buffer += piece
        while True:
            place = buffer.find(_MAGIC, max(wanted - base, 0))
            if place < 0 or place + 16 > len(buffer):
                wanted = base + (place if place >= 0 else max(len(buffer) - 15, 0))
                break
            (size,) = struct.unpack_from("<Q", buffer, place + 8)
            if place + 16 + size > len(buffer) and size < 256 << 20:
                wanted = base + place
                break
            found = _region(buffer, place + 16, size, isas)
            if found[0] or found[1]:
                sets[found] += 1
            wanted = base + place + 16
            if _enough(sets, enough):
                return _modal(sets, isas)
        drop = max(min(wanted - base, len(buffer)), 0)
        del buffer[:drop]
        base += drop
        if base > limit:
            break
    return _modal(sets, isas)


def _enough(sets: Sets, enough: int) -> bool:
    """Kernels for one architecture alone may come first: where they seem to be all, more is read."""
    if sets.total() < enough:
        return False
    return sets.total() >= 16 * enough or len(_most(sets)[0]) > 1


def _most(sets: Sets) -> tuple[frozenset[str], frozenset[str]]:
    none: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
    return max(sets, key=lambda one: (sets[one], len(one[0]), sorted(one[0])), default=none)


def _region(
    data: bytearray, start: int, size: int, isas: set[tuple[int, int]]
) -> tuple[frozenset[str], frozenset[str]]:
    sass, ptx = set(), set()
    place, end = start, min(start + size, len(data))
    for _ in range(_MAX_ENTRIES):
        if place + 64 > end:
            break
        kind, _, header, payload = struct.unpack_from("<HHIQ", data, place)
        minor, major, arch = struct.unpack_from("<HHI", data, place + 24)
        (flags,) = struct.unpack_from("<Q", data, place + 40)
        if kind not in (1, 2) or header < 64 or arch > 10_000:
            break
        suffix = "a" if flags & 0x100000 else "f" if flags & 0x200000 else ""
        if kind == 1:
            ptx.add(f"compute_{arch}{suffix}")
            if 4 <= major < 12 and minor < 20:
                isas.add((major, minor))
        else:
            sass.add(f"sm_{arch}{suffix}")
        place += header + payload
    return frozenset(sass), frozenset(ptx)


def _modal(sets: Sets, isas: set[tuple[int, int]]) -> Code:
    best = _most(sets)
    isa = ".".join(map(str, max(isas))) if isas else ""
    return Code(sorted(best[0], key=arch_order), sorted(best[1], key=arch_order), isa, sets.total())


def names(pieces: Iterator[bytes], limit: int) -> list[str]:
    """CUDA library names that stand alone between NULs in the first `limit` bytes, in order of appearance."""
    data = bytearray()
    for piece in pieces:
        data += piece
        if len(data) >= limit:
            break
    found = _NAME.finditer(bytes(data))
    return list(dict.fromkeys(m.group(1).decode().removeprefix("@rpath/") for m in found))


def head(pieces: Iterator[bytes], limit: int) -> bytes:
    """The first `limit` bytes of a stream."""
    data = bytearray()
    for piece in pieces:
        data += piece
        if len(data) >= limit:
            break
    return bytes(data[:limit])


def end_of_data(head: bytes | bytearray) -> int:
    """Where the sections before the GPU code of a Windows library end in the file, by its section table."""
    (start,) = struct.unpack_from("<I", head, 60)
    count, optional = struct.unpack_from("<H12xH", head, start + 6)
    rows = [start + 24 + optional + 40 * n for n in range(count)]
    ends = [sum(struct.unpack_from("<II", head, row + 16)) for row in rows if head[row : row + 6] == b".rdata"]
    return max(ends, default=1 << 40)


def imported(data: bytes | bytearray) -> list[str]:
    """CUDA libraries in the import table of a Windows library."""
    try:
        return _imports(data)
    except struct.error:
        return []


def _imports(data: bytes | bytearray) -> list[str]:
    (start,) = struct.unpack_from("<I", data, 60)
    count, optional = struct.unpack_from("<H12xH", data, start + 6)
    (table,) = struct.unpack_from("<I", data, start + 24 + 112 + 8)
    rows = [struct.unpack_from("<IIII", data, start + 24 + optional + 40 * n + 8) for n in range(count)]

    def place(address: int) -> int:
        return next((address - r[1] + r[3] for r in rows if r[1] <= address < r[1] + max(r[0], r[2])), -1)

    out, row = [], place(table)
    while row > 0 and len(out) < 1000:
        (name,) = struct.unpack_from("<I", data, row + 12)
        where = place(name)
        if not name or where < 0:
            break
        out.append(data[where : data.find(b"\0", where, where + 256)].decode("ascii", "replace").lower())
        row += 20
    return [n for n in out if re.match(r"(cu(da|bl|dn|ff|ra|so|sp|pt)|nv)", n)]
