"""ld.so.cache: the loader's index of library name → file, in its old and new formats."""

import struct

import msgspec

from gpuwhy.formats import CutError, ForeignError, MalformedError

_OLD, _NEW = b"ld.so-1.7.0", b"glibc-ld.so.cache1.1"
_MAX_ENTRIES = 1 << 20
_MAX_STRING = 4097  # PATH_MAX and its NUL
_EXTENSION, _HWCAPS, _MAX_PARTS = 0xEAA42174, 1, 1024
# the upper half of `hwcap`: that the lower is an index into the named levels, and an ISA level
_NAMED, _ISA_BITS = 1 << 30, 0x3FF
# `flags` says which loader may use an entry; these are the ones for 64 bits that we meet
_ABI = {
    "x86_64": 0x0303,
    "aarch64": 0x0A03,
    "i386": 3,
    "ppc64": 0x0503,
    "riscv64": 0x1003,
    "arm": 0x0903,
}


class CacheEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of `ldconfig -p`: a name, the file, and the machine it is for."""

    name: str
    path: str
    flags: int
    hwcap: int
    level: str = ""  # the glibc-hwcaps folder it lies in: "x86-64-v3"

    def serves(self, machine: str) -> bool:
        """Whether a program of `machine` would take this entry."""
        return self.flags == _ABI.get(machine, self.flags)


def read_ldcache(data: bytes) -> tuple[CacheEntry, ...]:
    """Read every entry in the cache's own order, which is the loader's."""
    start = data.find(_NEW)
    if start >= 0:
        return _read_new(data, start)
    if data.startswith(_OLD):
        return _read_old(data)
    raise ForeignError("not an ld.so.cache") if data else MalformedError("empty ld.so.cache")


def _read_new(data: bytes, start: int) -> tuple[CacheEntry, ...]:
    """The format since glibc 2.2, which may follow the old one; places count from its start."""
    rows, levels, out = _rows(data, start + 20, start + 48, "<iII4xQ"), _levels(data, start), []
    for flags, key, value, hwcap in rows:
        high, low = hwcap >> 32, hwcap & 0xFFFFFFFF
        level = levels[low] if high & ~_ISA_BITS == _NAMED and low < len(levels) else ""
        name, path = _text(data, start + key), _text(data, start + value)
        out.append(CacheEntry(name, path, flags, hwcap, level))
    return tuple(out)


def _read_old(data: bytes) -> tuple[CacheEntry, ...]:
    """The format before; places count from behind the entries."""
    rows = _rows(data, 12, 16, "<iII")
    texts = data[16 + 12 * len(rows) :]
    return tuple(CacheEntry(_text(texts, a), _text(texts, b), flags, 0) for flags, a, b in rows)


def _rows(data: bytes, number: int, first: int, form: str) -> list[tuple[int, ...]]:
    """The rows from `first` on, as many as the number at `number` says."""
    if len(data) < first:
        raise CutError("ld.so.cache: header cut short", len(data))
    (count,) = struct.unpack_from("<I", data, number)
    end = first + count * struct.calcsize(form)
    if count > _MAX_ENTRIES or end > len(data):
        raise MalformedError(f"ld.so.cache: {count} entries do not fit", number)
    return list(struct.iter_unpack(form, data[first:end]))


def _text(data: bytes, offset: int) -> str:
    end = data.find(b"\0", offset, offset + _MAX_STRING)
    if end < 0:
        raise MalformedError("ld.so.cache: string without an end", offset)
    return data[offset:end].decode("utf-8", "surrogateescape")


def _levels(data: bytes, start: int) -> list[str]:
    """The glibc-hwcaps names by index, which glibc 2.33 and newer add; none where damaged."""
    (place,) = struct.unpack_from("<I", data, start + 32)
    if not place or place + 8 > len(data):
        return []
    magic, count = struct.unpack_from("<II", data, place)
    parts = (
        data[place + 8 : place + 8 + 16 * min(count, _MAX_PARTS)] if magic == _EXTENSION else b""
    )
    for tag, _, offset, size in struct.iter_unpack("<IIII", parts[: len(parts) // 16 * 16]):
        if tag == _HWCAPS and size <= 4 * _MAX_PARTS and offset + size <= len(data):
            names = struct.unpack_from(f"<{size // 4}I", data, offset)
            return [_text(data, start + one) for one in names]
    return []
