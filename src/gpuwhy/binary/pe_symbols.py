"""The names that a PE file imports and exports, one by one or by a pattern; forwarded exports count as exported."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from gpuwhy.binary import MalformedError, Pread
from gpuwhy.binary.pe import EXPORTS, PeImage, import_rows
from gpuwhy.binary.symbols import Symbol

_MAX_EXPORTS = 1 << 20
_MAX_IMPORTS = 1 << 16
_BLOCK = 4096


class PeSymbols:
    """The export and import tables of one file; `find` costs a binary search, as the loader's own."""

    def __init__(self, pread: Pread, size: int) -> None:
        self.image = PeImage(pread, size)
        self._count = self._names = self._ordinals = self._addresses = 0
        address, length = self.image.directory(EXPORTS)
        if address and length >= 40:
            raw = self.image.take(self.image.place(address), 40, "export directory")
            self._functions, self._count, addresses, names, ordinals = struct.unpack_from("<IIIII", raw, 20)
            if self._count > _MAX_EXPORTS:
                raise MalformedError(f"{self._count} exported names", self.image.place(address))
            if self._count:
                self._addresses, self._names, self._ordinals = map(self.image.place, (addresses, names, ordinals))

    def place(self, address: int) -> int:
        """Where an address lies in the file."""
        return self.image.place(address)

    def find(self, name: str) -> Symbol | None:
        """An exported name; a PE file does not tell its size."""
        low, high = 0, self._count
        while low < high:
            middle = (low + high) // 2
            here = self._name(middle)
            if here == name:
                return Symbol(self._address(middle), 0)
            low, high = (middle + 1, high) if here < name else (low, middle)
        return None

    def exports(self, match: str = "", most: int = 10_000) -> tuple[str, ...]:
        """The first `most` exported names that match a regular expression from their start."""
        fits = re.compile(match).match
        out: list[str] = []
        for number in range(self._count):
            if len(out) >= most:
                break
            name = self._name(number)
            if fits(name):
                out.append(name)
        return tuple(out)

    def imports(self, dll: str) -> tuple[str, ...]:
        """The names imported from one DLL, upper and lower case alike; ordinals are left out."""
        for name, table in import_rows(self.image):
            if name.lower() == dll.lower():
                return tuple(self._imported(table))
        return ()

    def _name(self, number: int) -> str:
        (address,) = struct.unpack("<I", self.image.take(self._names + 4 * number, 4, "export name"))
        return self.image.text(address)

    def _address(self, number: int) -> int:
        (ordinal,) = struct.unpack("<H", self.image.take(self._ordinals + 2 * number, 2, "export ordinal"))
        (address,) = struct.unpack("<I", self.image.take(self._addresses + 4 * ordinal, 4, "export address"))
        return int(address)

    def _imported(self, table: int) -> Iterator[str]:
        step = self.image.bits // 8
        place = self.image.place(table)
        by_ordinal = 1 << (self.image.bits - 1)
        for first in range(0, _MAX_IMPORTS * step, _BLOCK):
            raw = self.image.pread(place + first, _BLOCK)
            for (entry,) in struct.iter_unpack("<Q" if step == 8 else "<I", raw[: len(raw) // step * step]):
                if not entry:
                    return
                if not entry & by_ordinal:
                    yield self.image.text((entry & 0x7FFFFFFF) + 2)
            if len(raw) < _BLOCK:
                return
