"""PE: what a Windows library or program asks for and says of itself, read lazily from its headers and tables.

A 700 MB library costs a few dozen small reads. Every address and count in the file is treated as hostile.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

import msgspec

from gpuwhy.binary import Bounded, CutError, ForeignError, MalformedError, Pread
from gpuwhy.binary.elf import Section

MACHINES = {0x14C: "i386", 0x1C0: "arm", 0x1C4: "arm", 0x8664: "x86_64", 0xAA64: "aarch64", 0x200: "ia64"}

EXPORTS, IMPORTS, RESOURCES, DELAYED = 0, 1, 2, 13  # data directories

_MAX_SECTIONS = 96  # the Windows loader's own limit
_MAX_DLLS = 1024
_MAX_NAME = 512
_MAX_ENTRIES = 256  # of one resource folder
_MAX_RESOURCE = 1 << 16
_PE32, _PE64 = 0x10B, 0x20B
_DLL = 0x2000
_SECTOR = 512  # the loader rounds a section's place in the file down to it
_VERSION, _MANIFEST = 16, 24  # kinds of resource
_FIXED = struct.pack("<I", 0xFEEF04BD)  # signature of VS_FIXEDFILEINFO
_ASSEMBLY = re.compile(rb"<(?:\w+:)?dependentAssembly.*?</(?:\w+:)?dependentAssembly", re.DOTALL)
_ATTRIBUTE = re.compile(rb"""\b(name|version)\s*=\s*["']([^"']{1,200})""")


class Pe(msgspec.Struct, frozen=True, omit_defaults=True):
    """The summary of one PE file."""

    bits: int
    machine: str  # x86_64, i386, aarch64
    is_dll: bool
    imports: tuple[str, ...]  # DLL names as written, in the order of the table
    extent: int  # bytes the section table says the file must have; more than its size = truncated
    delayed: tuple[str, ...] = ()  # DLLs that are loaded when first called
    version: str = ""  # FILEVERSION of the version resource: 6.14.11.12040
    product: str = ""  # its ProductVersion, as written
    description: str = ""  # its FileDescription
    assemblies: tuple[str, ...] = ()  # side by side, by the manifest: "Microsoft.VC90.CRT 9.0.21022.8"


class Row(msgspec.Struct, frozen=True):
    """One section: its place in memory and in the file."""

    name: str
    address: int
    span: int  # bytes in memory
    offset: int
    size: int  # bytes in the file


class PeImage(Bounded):
    """The parsed headers of one file: word size, section table, data directories."""

    def __init__(self, pread: Pread, size: int) -> None:
        super().__init__(pread, size)
        head = self.pread(0, 64)
        if head[:2] != b"MZ":
            raise ForeignError("not PE") if head else MalformedError("empty file")
        if len(head) < 64:
            raise CutError("DOS header cut short", len(head))
        (self.start,) = struct.unpack_from("<I", head, 60)
        raw = self.take(self.start, 24, "PE header")
        if raw[:4] != b"PE\0\0":
            raise ForeignError("not PE: a DOS program", self.start)
        self.machine, self._count, self._optional, self.flags = struct.unpack_from("<HH12xHH", raw, 4)
        self._read_optional()
        self.rows = self._rows()

    def _read_optional(self) -> None:
        raw = self.take(self.start + 24, self._optional, "optional header")
        magic = struct.unpack_from("<H", raw)[0] if len(raw) >= 2 else 0
        if magic not in (_PE32, _PE64) or len(raw) < (96 if magic == _PE32 else 112):
            raise CutError("PE optional header cut short or invalid", self.start + 24)
        self.bits = 32 if magic == _PE32 else 64
        (self.base,) = struct.unpack_from("<I" if self.bits == 32 else "<Q", raw, 28 if self.bits == 32 else 24)
        (self.headers,) = struct.unpack_from("<I", raw, 60)
        place = 96 if self.bits == 32 else 112
        (count,) = struct.unpack_from("<I", raw, place - 4)
        held = raw[place : place + 8 * min(count, 16)]
        self.directories = tuple(struct.iter_unpack("<II", held[: len(held) // 8 * 8]))

    def _rows(self) -> tuple[Row, ...]:
        if self._count > _MAX_SECTIONS:
            raise MalformedError(f"{self._count} sections", self.start)
        raw = self.take(self.start + 24 + self._optional, 40 * self._count, "section table")
        out = []
        for name, span, address, size, offset in struct.iter_unpack("<8sIIII16x", raw):
            out.append(Row(name.rstrip(b"\0").decode("ascii", "replace"), address, span, offset, size))
        return tuple(out)

    @property
    def extent(self) -> int:
        """Bytes that the headers say the file must have."""
        table: int = self.start + 24 + self._optional + 40 * self._count
        return max([table, *(row.offset + row.size for row in self.rows if row.size and row.offset)])

    def place(self, address: int) -> int:
        """Where an address, relative to the image, lies in the file."""
        for row in self.rows:
            if row.address <= address < row.address + max(row.span, row.size):
                return address - row.address + (row.offset & -_SECTOR if row.offset >= _SECTOR else row.offset)
        if 0 < address < self.headers:
            return address
        raise MalformedError(f"address {address:#x} is in no section")

    def directory(self, number: int) -> tuple[int, int]:
        """(address, size) of a data directory; (0, 0) where there is none."""
        return self.directories[number] if number < len(self.directories) else (0, 0)

    def text(self, address: int) -> str:
        """The string at an address."""
        place = self.place(address)
        raw = self.pread(place, _MAX_NAME)
        end = raw.find(b"\0")
        if end < 0:
            raise MalformedError("name without an end", place)
        return raw[:end].decode("utf-8", "surrogateescape")


def read_pe(pread: Pread, size: int) -> Pe:
    """Summarise one PE file of `size` bytes; raises MalformedError with the place where it stops making sense.

    A file whose sections reach past its end is still summarised as far as it can be read; `extent` tells.
    """
    image = PeImage(pread, size)
    extent = image.extent
    try:
        imports, delayed = tuple(_imported(image)), tuple(_delayed(image))
    except MalformedError:
        if extent <= size:
            raise
        imports, delayed = (), ()
    version, product, description = _version(image)
    return Pe(
        bits=image.bits,
        machine=MACHINES.get(image.machine, f"machine-{image.machine:#x}"),
        is_dll=bool(image.flags & _DLL),
        imports=imports,
        extent=extent,
        delayed=delayed,
        version=version,
        product=product,
        description=description,
        assemblies=_assemblies(image),
    )


def read_pe_sections(pread: Pread, size: int, names: frozenset[str]) -> tuple[Section, ...]:
    """Return the sections with one of `names` (at most eight characters are kept in the file)."""
    short = {name[:8] for name in names}
    rows = PeImage(pread, size).rows
    return tuple(Section(row.name, row.offset, row.size) for row in rows if row.name in short and row.size)


# ---------------------------------------------------------------- imports


def import_rows(image: PeImage) -> Iterator[tuple[str, int]]:
    """(DLL, address of its list of imported names), in the order of the table."""
    for row in _table(image, IMPORTS, "<IIIII"):
        if not row[3]:
            return
        yield image.text(row[3]), row[0] or row[4]


def _imported(image: PeImage) -> Iterator[str]:
    return (name for name, _ in import_rows(image))


def _delayed(image: PeImage) -> Iterator[str]:
    for row in _table(image, DELAYED, "<IIIIIIII"):
        if not row[1]:
            return
        yield image.text(row[1] if row[0] & 1 else row[1] - image.base)  # old linkers wrote absolute addresses


def _table(image: PeImage, directory: int, form: str) -> Iterator[tuple[int, ...]]:
    """The rows of a table that ends with a row of zeros; its size in the header is not relied on."""
    address, size = image.directory(directory)
    if not address:
        return
    step = struct.calcsize(form)
    place = image.place(address)
    block = max(4 * step, min(size, 64 * step)) // step
    for first in range(0, _MAX_DLLS, block):
        raw = image.pread(place + first * step, block * step)
        yield from struct.iter_unpack(form, raw[: len(raw) // step * step])
        if len(raw) < block * step:
            raise MalformedError("table without an end", place)
    raise MalformedError(f"more than {_MAX_DLLS} imported libraries", place)


# ---------------------------------------------------------------- resources


def resource(image: PeImage, kind: int) -> bytes:
    """The bytes of the first resource of a kind; empty where there is none or its folders make no sense."""
    address, size = image.directory(RESOURCES)
    if not address or size < 16:
        return b""
    try:
        root = image.place(address)
        place = _entry(image, root, 0, kind)
        for _ in range(2):  # name, then language: the first of each
            place = _entry(image, root, place - (1 << 31), None) if place >= 1 << 31 else 0
        if not place:
            return b""
        data, length = struct.unpack("<II", image.take(root + place, 8, "resource"))
        return image.pread(image.place(data), min(length, _MAX_RESOURCE))
    except MalformedError:
        return b""


def _entry(image: PeImage, root: int, folder: int, kind: int | None) -> int:
    """Where a resource folder's entry leads: the one with a number, or the first; 0 = no such entry."""
    head = image.take(root + folder, 16, "resource folder")
    named, numbered = struct.unpack_from("<HH", head, 12)
    raw = image.pread(root + folder + 16, 8 * min(named + numbered, _MAX_ENTRIES))
    for number, place in struct.iter_unpack("<II", raw[: len(raw) // 8 * 8]):
        if kind is None or number == kind:
            return int(place)
    return 0


def _version(image: PeImage) -> tuple[str, str, str]:
    """FILEVERSION, ProductVersion and FileDescription."""
    data = resource(image, _VERSION)
    fixed = data.find(_FIXED)
    version = ""
    if 0 <= fixed <= len(data) - 16:
        high, low = struct.unpack_from("<II", data, fixed + 8)
        version = f"{high >> 16}.{high & 0xFFFF}.{low >> 16}.{low & 0xFFFF}"
    return version, _string(data, "ProductVersion"), _string(data, "FileDescription")


def _string(data: bytes, key: str) -> str:
    """The value of a string in a version resource; keys and values are UTF-16, aligned to four bytes."""
    wide = f"{key}\0".encode("utf-16-le")
    place = data.find(wide)
    if place < 0:
        return ""
    place += len(wide)
    place += -place % 4
    text = data[place : place + 512].decode("utf-16-le", "replace")
    return text.partition("\0")[0].strip()


def _assemblies(image: PeImage) -> tuple[str, ...]:
    """The assemblies that the manifest depends on: name and version."""
    out = []
    for block in _ASSEMBLY.findall(resource(image, _MANIFEST)):
        found = {key.decode(): value.decode("utf-8", "replace") for key, value in _ATTRIBUTE.findall(block)}
        out.append(f"{found.get('name', '')} {found.get('version', '')}".strip())
    return tuple(out)
