"""Wheel: the directory and members of a remote zip file, read by ranges; sizes in the file are claims, not facts."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from isal import isal_zlib

from tools.harvest.web import Web

_TAIL = 1 << 16
_MAX_DIRECTORY = 64 << 20
_MAX_MEMBERS = 200_000
_CHUNK = 4 << 20
_OUT = 4 << 20
_RATIO = 1100  # deflate cannot expand further than about 1032 times
_END, _END64, _LOCATOR, _ENTRY, _LOCAL = b"PK\5\6", b"PK\6\6", b"PK\6\7", b"PK\1\2", b"PK\3\4"


class BrokenWheel(Exception):  # noqa: N818 - what the file is
    """The file is not the zip file it claims to be."""


class Member(NamedTuple):
    """One file inside, as the directory describes it."""

    name: str
    method: int
    crc: int
    packed: int
    size: int
    offset: int


class Wheel:
    """A remote wheel; nothing but its end is read until asked for."""

    def __init__(self, web: Web, url: str) -> None:
        self._web, self._url = web, url
        tail, self.size = web.tail(url, _TAIL)
        self.members = {m.name: m for m in self._directory(tail)}

    def _directory(self, tail: bytes) -> list[Member]:
        place = tail.rfind(_END)
        if place < 0 or place + 22 > len(tail):
            raise BrokenWheel("no end of a zip directory in the last 64 KiB")
        count, size, offset = struct.unpack_from("<HII", tail, place + 10)
        if 0xFFFF in (count,) or 0xFFFFFFFF in (size, offset):
            count, size, offset = self._end64(tail, place)
        if size > _MAX_DIRECTORY or count > _MAX_MEMBERS or offset + size > self.size:
            raise BrokenWheel(f"directory of {count} members, {size} bytes at {offset} in a file of {self.size}")
        start = self.size - len(tail)
        raw = (
            tail[offset - start : offset - start + size]
            if offset >= start
            else self._web.bytes(self._url, offset, size)
        )
        return list(_entries(raw, count, offset))

    def _end64(self, tail: bytes, place: int) -> tuple[int, int, int]:
        locator = tail.rfind(_LOCATOR, 0, place)
        if locator < 0:
            raise BrokenWheel("zip64 without its locator")
        (where,) = struct.unpack_from("<Q", tail, locator + 8)
        local = where - (self.size - len(tail))
        if local < 0 or tail[local : local + 4] != _END64:
            raise BrokenWheel("zip64 directory end not where its locator says")
        count, size, offset = struct.unpack_from("<QQQ", tail, local + 32)
        return count, size, offset

    def read(self, name: str, limit: int = 16 << 20) -> bytes:
        """A whole member, checked against its checksum; more than `limit` bytes are refused."""
        member = self.members[name]
        if member.size > limit:
            raise BrokenWheel(f"{name}: {member.size} bytes, more than {limit}")
        data = b"".join(self.stream(name))
        if len(data) != member.size or zlib.crc32(data) != member.crc:
            raise BrokenWheel(f"{name}: not the bytes its directory entry describes")
        return data

    def whole(self, name: str, limit: int = 2 << 30) -> bytearray:
        """A big member in one buffer, checked like `read`."""
        member = self.members[name]
        if member.size > limit or member.size > member.packed * _RATIO + 1024:
            raise BrokenWheel(f"{name}: {member.size} bytes out of {member.packed}")
        data, place = bytearray(member.size), 0
        for piece in self.stream(name):
            data[place : place + len(piece)] = piece
            place += len(piece)
        if zlib.crc32(data) != member.crc:
            raise BrokenWheel(f"{name}: not the bytes its directory entry describes")
        return data

    def stream(self, name: str) -> Iterator[bytes]:
        """A member's inflated bytes, piece by piece; never more than its entry claims."""
        member = self.members[name]
        if member.method not in (0, 8):
            raise BrokenWheel(f"{name}: compression method {member.method}")
        if member.size > member.packed * _RATIO + 1024:
            raise BrokenWheel(f"{name}: claims {member.size} bytes out of {member.packed}")
        inflate = isal_zlib.decompressobj(-15) if member.method == 8 else None
        done = 0
        for piece in self._packed(member):
            while piece:
                out = inflate.decompress(piece, _OUT) if inflate else piece
                done += len(out)
                if done > member.size:
                    raise BrokenWheel(f"{name}: longer than the {member.size} bytes it claims")
                if out:
                    yield out
                piece = inflate.unconsumed_tail if inflate and not inflate.eof else b""
        if done != member.size:
            raise BrokenWheel(f"{name}: {done} bytes instead of {member.size}")

    def _packed(self, member: Member) -> Iterator[bytes]:
        """The member's raw bytes in ranges; the first also holds its local header."""
        header = 30 + len(member.name.encode()) + 512
        first = self._web.bytes(
            self._url, member.offset, min(header + min(member.packed, _CHUNK), self.size - member.offset)
        )
        if first[:4] != _LOCAL:
            raise BrokenWheel(f"{member.name}: no local header at {member.offset}")
        names, extra = struct.unpack_from("<HH", first, 26)
        if first[30 : 30 + names].decode("utf-8", "replace") != member.name:
            raise BrokenWheel(f"{member.name}: another name in its local header")
        start, end = member.offset + 30 + names + extra, member.offset + 30 + names + extra + member.packed
        if end > self.size:
            raise BrokenWheel(f"{member.name}: reaches past the end of the file")
        place = member.offset + len(first)
        yield first[30 + names + extra : 30 + names + extra + member.packed]
        place = max(place, start)
        while place < end:
            piece = self._web.bytes(self._url, place, min(_CHUNK, end - place))
            place += len(piece)
            yield piece


def _entries(raw: bytes, count: int, limit: int) -> Iterator[Member]:
    place = 0
    for _ in range(count):
        if raw[place : place + 4] != _ENTRY or place + 46 > len(raw):
            raise BrokenWheel(f"directory entry at {place} is not one")
        method, crc, packed, size, names, extra, comment = struct.unpack_from("<H4xIIIHHH", raw, place + 10)
        (offset,) = struct.unpack_from("<I", raw, place + 42)
        name = raw[place + 46 : place + 46 + names].decode("utf-8", "replace")
        more = raw[place + 46 + names : place + 46 + names + extra]
        size, packed, offset = _wide(more, size, packed, offset)
        if offset + 30 > limit:
            raise BrokenWheel(f"{name}: lies past the directory")
        yield Member(name, method, crc, packed, size, offset)
        place += 46 + names + extra + comment


def _wide(extra: bytes, size: int, packed: int, offset: int) -> tuple[int, int, int]:
    """Zip64: the fields that did not fit, in their fixed order."""
    place = 0
    while place + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, place)
        if kind == 1:
            values = iter(struct.iter_unpack("<Q", extra[place + 4 : place + 4 + length // 8 * 8]))
            size, packed, offset = (next(values, (v,))[0] if v == 0xFFFFFFFF else v for v in (size, packed, offset))
        place += 4 + length
    return size, packed, offset
