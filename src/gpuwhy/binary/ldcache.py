"""ld.so.cache: the loader's index of library name → file, in its old and new formats."""

from __future__ import annotations

import struct

import msgspec

from gpuwhy.binary import CutError, MalformedError

_OLD = b"ld.so-1.7.0"
_NEW = b"glibc-ld.so.cache1.1"
_MAX_ENTRIES = 1 << 20
_MAX_STRING = 4097  # PATH_MAX and its NUL
_EXTENSION, _HWCAPS, _MAX_PARTS = 0xEAA42174, 1, 1024
_NAMED, _ISA_BITS = 1 << 30, 0x3FF  # upper half of `hwcap`: an index into the named levels, and an ISA level

# The low byte of `flags` says which loader may use an entry; these are the 64-bit ones we meet, by machine.
_ABI = {"x86_64": 0x0303, "aarch64": 0x0A03, "i386": 0x0003, "ppc64": 0x0503, "riscv64": 0x1003, "arm": 0x0903}


class CacheEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of `ldconfig -p`: a name, the file, and the machine it is for."""

    name: str
    path: str
    flags: int
    hwcap: int
    level: str = ""  # the glibc-hwcaps folder it lies in: "x86-64-v3"

    def serves(self, machine: str) -> bool:
        """Whether a program of `machine` would take this entry."""
        wanted = _ABI.get(machine)
        return wanted is None or self.flags == wanted


def _text(data: bytes, offset: int) -> str:
    end = data.find(b"\0", offset, offset + _MAX_STRING)
    if end < 0:
        raise MalformedError("ld.so.cache: string without an end", offset)
    return data[offset:end].decode("utf-8", "surrogateescape")


def read_ldcache(data: bytes) -> tuple[CacheEntry, ...]:
    """Read every entry in the cache's own order, which is the loader's."""
    start = data.find(_NEW)
    if start >= 0:
        return _read_new(data, start)
    if data.startswith(_OLD):
        return _read_old(data)
    raise MalformedError("not an ld.so.cache" if data else "empty ld.so.cache")


def _read_new(data: bytes, start: int) -> tuple[CacheEntry, ...]:
    if len(data) < start + 48:
        raise CutError("ld.so.cache: header cut short", len(data))
    count, _ = struct.unpack_from("<II", data, start + 20)
    if count > _MAX_ENTRIES or start + 48 + count * 24 > len(data):
        raise MalformedError(f"ld.so.cache: {count} entries do not fit", start + 20)
    levels = _levels(data, start)
    out = []
    for i in range(count):
        flags, key, value, _, hwcap = struct.unpack_from("<iIIIQ", data, start + 48 + i * 24)
        named = hwcap >> 32 & ~_ISA_BITS == _NAMED and hwcap & 0xFFFFFFFF < len(levels)
        level = levels[hwcap & 0xFFFFFFFF] if named else ""
        out.append(CacheEntry(_text(data, start + key), _text(data, start + value), flags, hwcap, level))
    return tuple(out)


def _levels(data: bytes, start: int) -> tuple[str, ...]:
    """The glibc-hwcaps names of the extension part (glibc 2.33 and newer), by index; damaged ones count as none."""
    (place,) = struct.unpack_from("<I", data, start + 32)
    if not place or place + 8 > len(data) or struct.unpack_from("<I", data, place)[0] != _EXTENSION:
        return ()
    (count,) = struct.unpack_from("<I", data, place + 4)
    for spot in range(place + 8, min(place + 8 + 16 * min(count, _MAX_PARTS), len(data) - 15), 16):
        tag, _, offset, size = struct.unpack_from("<IIII", data, spot)
        if tag == _HWCAPS and size <= 4 * _MAX_PARTS and offset + size <= len(data):
            return tuple(
                _text(data, start + at) for (at,) in struct.iter_unpack("<I", data[offset : offset + (size & ~3)])
            )
    return ()


def _read_old(data: bytes) -> tuple[CacheEntry, ...]:
    if len(data) < 16:
        raise CutError("ld.so.cache: header cut short", len(data))
    (count,) = struct.unpack_from("<I", data, 12)
    base = 16 + count * 12
    if count > _MAX_ENTRIES or base > len(data):
        raise MalformedError(f"ld.so.cache: {count} entries do not fit", 12)
    out = []
    for i in range(count):
        flags, key, value = struct.unpack_from("<iII", data, 16 + i * 12)
        out.append(CacheEntry(_text(data, base + key), _text(data, base + value), flags, 0))
    return tuple(out)
