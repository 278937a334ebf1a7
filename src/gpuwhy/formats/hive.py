"""Registry hives (regf): keys and values of Windows' registry, read from its files cell by cell.

Only what was asked for is read. Every offset and count in the file is treated as hostile.
"""

import struct
from collections.abc import Iterator
from itertools import islice

import msgspec

from gpuwhy.formats import CutError, ForeignError, MalformedError, Pread

_BINS = 0x1000  # cells are counted from here
_MOST_KEYS, _MOST_VALUES, _MOST_DATA = 4096, 1024, 1 << 20
_DEEP = 1  # lists of lists of keys
_SEGMENT = 16344  # bytes of one part of a value that is kept in several
_TEXT, _EXPANDED, _DWORD, _LIST = 1, 2, 4, 7  # REG_SZ, REG_EXPAND_SZ, REG_DWORD, REG_MULTI_SZ
_RESIDENT = 0x8000_0000


class Value(msgspec.Struct, frozen=True):
    """One value: text, a number as text, or lines."""

    text: str
    expands: bool = False  # whether %NAME% in it is meant to be replaced


class HiveKey(msgspec.Struct, frozen=True):
    """One key: its values by name ("" is the default one) and the names of its subkeys."""

    values: dict[str, Value]
    keys: tuple[str, ...]


class Hive:
    """A hive that any key can be asked of."""

    def __init__(self, read: Pread) -> None:
        self._read = read
        head = read(0, 0x30)
        if head[:4] != b"regf" or len(head) < 0x30:
            raise ForeignError("not a registry hive")
        self._root: int = struct.unpack_from("<I", head, 0x24)[0]

    def key(self, path: str) -> HiveKey | None:
        """The key at `a/b/c`, in any case of letters; None where there is none."""
        try:
            return self._at(path)
        except struct.error as error:
            raise MalformedError("a cell is too short") from error

    def _at(self, path: str) -> HiveKey | None:
        place = self._root
        for name in filter(None, path.split("/")):
            wanted, below = name.casefold(), self._subkeys(place)
            found = next((at for title, at in below if title.casefold() == wanted), None)
            if found is None:
                return None
            place = found
        return HiveKey(dict(self._values(place)), tuple(name for name, _ in self._subkeys(place)))

    def _cell(self, place: int) -> bytes:
        """The bytes of a cell that is in use."""
        (size,) = struct.unpack("<i", self._exact(_BINS + place, 4))
        if not -_MOST_DATA - 8 <= size <= -8:
            raise MalformedError(f"a cell of {-size} bytes", _BINS + place)
        return self._exact(_BINS + place + 4, -size - 4)

    def _exact(self, offset: int, size: int) -> bytes:
        data = self._read(offset, size)
        if len(data) < size:
            raise CutError("hive is cut short", offset)
        return data

    def _typed(self, place: int, kind: bytes, least: int) -> bytes:
        """A cell of one kind."""
        cell = self._cell(place)
        if cell[:2] != kind or len(cell) < least:
            raise MalformedError(f"no {kind.decode()} cell", _BINS + place)
        return cell

    def _subkeys(self, place: int) -> Iterator[tuple[str, int]]:
        """Name and place of each key below the one at `place`."""
        count, listed = struct.unpack_from("<I4xI", self._typed(place, b"nk", 0x4C), 0x14)
        for one in islice(self._listed(listed), _MOST_KEYS) if count else ():
            child = self._typed(one, b"nk", 0x4C)
            flags, size = struct.unpack_from("<H68xH", child, 2)
            yield _name(child[0x4C : 0x4C + size], bool(flags & 0x20)), one

    def _listed(self, place: int, depth: int = 0) -> Iterator[int]:
        """The places in a list of keys."""
        cell = self._cell(place)
        kind, count = struct.unpack_from("<2sH", cell)
        step = 8 if kind in (b"lf", b"lh") else 4
        known = kind in (b"lf", b"lh", b"li", b"ri")
        if not known or depth > _DEEP or len(cell) < 4 + count * step:
            raise MalformedError("no list of keys", _BINS + place)
        for at in range(4, 4 + count * step, step):
            (one,) = struct.unpack_from("<I", cell, at)
            if kind == b"ri":
                yield from self._listed(one, depth + 1)
            else:
                yield one

    def _values(self, place: int) -> Iterator[tuple[str, Value]]:
        count, listed = struct.unpack_from("<II", self._typed(place, b"nk", 0x4C), 0x24)
        cell = self._cell(listed) if count else b""
        for number in range(min(count, _MOST_VALUES, len(cell) // 4)):
            (one,) = struct.unpack_from("<I", cell, 4 * number)
            found = self._value(self._typed(one, b"vk", 0x14))
            if found:
                yield found

    def _value(self, cell: bytes) -> tuple[str, Value] | None:
        length, size, where, kind, flags = struct.unpack_from("<HIIIH", cell, 2)
        if kind not in (_TEXT, _EXPANDED, _DWORD, _LIST):
            return None
        name = _name(cell[0x14 : 0x14 + length], bool(flags & 1))
        inside = size & _RESIDENT
        data = cell[8 : 8 + min(size & 0xFF, 4)] if inside else self._data(where, size)
        return name, _read(data, kind)

    def _data(self, place: int, size: int) -> bytes:
        if size > _MOST_DATA:
            raise MalformedError(f"a value of {size} bytes", _BINS + place)
        cell = self._cell(place) if size else b""
        if cell[:2] != b"db" or size <= _SEGMENT:
            return cell[:size]
        count, listed = struct.unpack_from("<HI", cell, 2)
        parts = struct.unpack_from(f"<{count}I", self._cell(listed))
        return b"".join(self._cell(one)[:_SEGMENT] for one in parts)[:size]


def _name(data: bytes, short: bool) -> str:
    return data.decode("latin-1") if short else data.decode("utf-16-le", "replace")


def _read(data: bytes, kind: int) -> Value:
    if kind == _DWORD:
        return Value(str(int.from_bytes(data[:4], "little")))
    text = data[: len(data) & ~1].decode("utf-16-le", "replace").rstrip("\0")
    lines = text.replace("\0", "\n") if kind == _LIST else text.partition("\0")[0]
    return Value(lines, kind == _EXPANDED)
