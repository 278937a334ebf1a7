"""Version nodes and build id of an ELF file: which symbol versions it needs of which library, and which it defines."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

import msgspec

from gpuwhy.binary import MalformedError, Pread
from gpuwhy.binary.elf import Image, dynamic_entries, offset_of

_PT_LOAD, _PT_NOTE = 1, 4
_DT_STRTAB = 5
_DT_VERDEF, _DT_VERDEFNUM, _DT_VERNEED, _DT_VERNEEDNUM = 0x6FFFFFFC, 0x6FFFFFFD, 0x6FFFFFFE, 0x6FFFFFFF
_BASE, _WEAK = 1, 2
_NT_GNU_BUILD_ID = 3
_MAX_FILES, _MAX_NODES, _MAX_NOTES, _MAX_NAME = 512, 4096, 64, 512
_GLIBC = re.compile(r"GLIBC_(\d+)\.(\d+)(?:\.\d+)?$")


class VersionNeed(msgspec.Struct, frozen=True):
    """The versions that a file asks of one library; weak ones left out, because the loader only warns of those."""

    library: str
    versions: tuple[str, ...]


class Versions(msgspec.Struct, frozen=True):
    """The version nodes of one file, and its build id in hexadecimal ("" when it has none)."""

    needs: tuple[VersionNeed, ...]
    defines: tuple[str, ...]
    build_id: str

    @property
    def glibc(self) -> str:
        """The oldest glibc that offers everything asked for ("2.28"); "" when nothing versioned is asked."""
        asked = [m for need in self.needs for name in need.versions if (m := _GLIBC.match(name))]
        highest = max(((int(m[1]), int(m[2])) for m in asked), default=None)
        return f"{highest[0]}.{highest[1]}" if highest else ""


def read_versions(pread: Pread, size: int) -> Versions:
    """Read the version nodes and the build id; raises MalformedError where the tables make no sense."""
    return _Reader(pread, size).read()


class _Reader:
    """The tables of one file."""

    def __init__(self, pread: Pread, size: int) -> None:
        self._image = Image(pread, size)
        self._headers = self._image.program_headers()
        self._loads = [(offset, start, length) for kind, offset, start, length in self._headers if kind == _PT_LOAD]
        self._tags = dynamic_entries(self._image, self._headers)

    def read(self) -> Versions:
        needs = tuple(VersionNeed(library, versions) for library, versions in self._needs())
        return Versions(needs, tuple(self._defines()), self._build_id())

    def _unpack(self, form: str, place: int, what: str) -> tuple[int, ...]:
        form = self._image.order + form
        return struct.unpack(form, self._image.take(place, struct.calcsize(form), what))

    def _start(self, tag: int) -> int:
        return offset_of(self._tags[tag][0], self._loads)

    def _name(self, offset: int) -> str:
        place = self._start(_DT_STRTAB) + offset
        raw, end, _ = self._image.pread(place, _MAX_NAME).partition(b"\0")
        if not end:
            raise MalformedError("version name without an end", place)
        return raw.decode("utf-8", "replace")

    def _needs(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        if _DT_VERNEED not in self._tags or _DT_STRTAB not in self._tags:
            return
        place = self._start(_DT_VERNEED)
        for _ in range(min(self._tags.get(_DT_VERNEEDNUM, [0])[0], _MAX_FILES)):
            _, count, file, aux, step = self._unpack("HHIII", place, "version need")
            yield self._name(file), tuple(self._asked(place + aux, count))
            place += step
            if not step:
                return

    def _asked(self, place: int, count: int) -> Iterator[str]:
        for _ in range(min(count, _MAX_NODES)):
            _, flags, _, name, step = self._unpack("IHHII", place, "version need entry")
            if not flags & _WEAK:
                yield self._name(name)
            place += step
            if not step:
                return

    def _defines(self) -> Iterator[str]:
        if _DT_VERDEF not in self._tags or _DT_STRTAB not in self._tags:
            return
        place = self._start(_DT_VERDEF)
        for _ in range(min(self._tags.get(_DT_VERDEFNUM, [0])[0], _MAX_NODES)):
            _, flags, _, _, _, aux, step = self._unpack("HHHHIII", place, "version definition")
            if not flags & _BASE:
                yield self._name(self._unpack("II", place + aux, "version definition entry")[0])
            place += step
            if not step:
                return

    def _build_id(self) -> str:
        for kind, offset, _, size in self._headers:
            place, end = offset, min(offset + size, self._image.size)
            for _ in range(_MAX_NOTES if kind == _PT_NOTE else 0):
                if place + 12 > end:
                    break
                name, length, tag = self._unpack("III", place, "note")
                body = place + 12 + (name + 3 & ~3)
                if tag == _NT_GNU_BUILD_ID and self._image.pread(place + 12, 4) == b"GNU\0" and length <= 64:
                    return self._image.pread(body, length).hex()
                place = body + (length + 3 & ~3)
        return ""
