"""Registry hives: keys and values of Windows' registry, read from its files (regf).

Only what was asked for is read, cell by cell. Every offset and count in the file is treated as hostile.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import msgspec

from gpuwhy.binary import MalformedError, Pread

_BINS = 0x1000  # cells are counted from here
_MOST_KEYS, _MOST_VALUES, _MOST_DATA = 4096, 1024, 1 << 20
_DEEP = 1  # lists of lists of keys
_SEGMENT = 16344  # bytes of one part of a value that is kept in several
_TEXTS = (1, 2)  # REG_SZ, REG_EXPAND_SZ
_DWORD, _LIST = 4, 7
_RESIDENT = 0x8000_0000


class Value(msgspec.Struct, frozen=True):
    """One value: text, a number as text, or lines; `expands` where %NAME% in it is meant to be replaced."""

    text: str
    expands: bool = False


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
            raise MalformedError("not a registry hive")
        self._root = struct.unpack_from("<I", head, 0x24)[0]

    def key(self, path: str) -> HiveKey | None:
        """The key at `a/b/c`, in any case of letters; None where there is none."""
        try:
            return self._at(path)
        except struct.error as error:
            raise MalformedError("a cell is too short") from error

    def _at(self, path: str) -> HiveKey | None:
        place = self._root
        for name in filter(None, path.split("/")):
            found = next((at for title, at in self._subkeys(place) if title.casefold() == name.casefold()), None)
            if found is None:
                return None
            place = found
        return HiveKey(dict(self._values(place)), tuple(title for title, _ in self._subkeys(place)))

    def _cell(self, place: int, most: int = _MOST_DATA) -> bytes:
        """The bytes of a cell that is in use."""
        size = struct.unpack("<i", self._exact(_BINS + place, 4))[0]
        if not -most - 8 <= size <= -8:
            raise MalformedError(f"a cell of {-size} bytes", _BINS + place)
        return self._exact(_BINS + place + 4, -size - 4)

    def _exact(self, offset: int, size: int) -> bytes:
        data = self._read(offset, size)
        if len(data) < size:
            raise MalformedError("hive is cut short", offset)
        return data

    def _node(self, place: int) -> bytes:
        cell = self._cell(place)
        if cell[:2] != b"nk" or len(cell) < 0x4C:
            raise MalformedError("no key", _BINS + place)
        return cell

    def _subkeys(self, place: int) -> Iterator[tuple[str, int]]:
        node = self._node(place)
        count, listed = struct.unpack_from("<I", node, 0x14)[0], struct.unpack_from("<I", node, 0x1C)[0]
        for number, one in enumerate(self._places(listed) if count else ()):
            if number >= _MOST_KEYS:
                return
            child = self._node(one)
            size, flags = struct.unpack_from("<H", child, 0x48)[0], struct.unpack_from("<H", child, 2)[0]
            yield _name(child[0x4C : 0x4C + size], bool(flags & 0x20)), one

    def _places(self, place: int, depth: int = 0) -> Iterator[int]:
        cell = self._cell(place)
        kind, count = cell[:2], struct.unpack_from("<H", cell, 2)[0]
        step = 8 if kind in (b"lf", b"lh") else 4
        if kind not in (b"lf", b"lh", b"li", b"ri") or depth > _DEEP or len(cell) < 4 + count * step:
            raise MalformedError("no list of keys", _BINS + place)
        for number in range(count):
            one = struct.unpack_from("<I", cell, 4 + number * step)[0]
            if kind == b"ri":
                yield from self._places(one, depth + 1)
            else:
                yield one

    def _values(self, place: int) -> Iterator[tuple[str, Value]]:
        node = self._node(place)
        count, listed = struct.unpack_from("<II", node, 0x24)
        cell = self._cell(listed) if count else b""
        for number in range(min(count, _MOST_VALUES, len(cell) // 4)):
            found = self._value(struct.unpack_from("<I", cell, 4 * number)[0])
            if found:
                yield found

    def _value(self, place: int) -> tuple[str, Value] | None:
        cell = self._cell(place)
        if cell[:2] != b"vk" or len(cell) < 0x14:
            raise MalformedError("no value", _BINS + place)
        length, size, where, kind, flags = struct.unpack_from("<HIIIH", cell, 2)
        name = _name(cell[0x14 : 0x14 + length], bool(flags & 1))
        if kind not in (*_TEXTS, _DWORD, _LIST):
            return None
        data = cell[8 : 8 + min(size & 0xFF, 4)] if size & _RESIDENT else self._data(where, size)
        return name, _as_text(data, kind)

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


def _as_text(data: bytes, kind: int) -> Value:
    if kind == _DWORD:
        return Value(str(int.from_bytes(data[:4], "little")))
    text = data[: len(data) & ~1].decode("utf-16-le", "replace").rstrip("\0")
    return Value(text.replace("\0", "\n") if kind == _LIST else text.partition("\0")[0], kind == _TEXTS[1])
