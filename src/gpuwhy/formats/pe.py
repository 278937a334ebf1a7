"""PE: what a Windows library or program asks for, offers and says of itself.

A library of 700 MB costs a few dozen small reads. Every address and count in the file is hostile.
"""

import struct
from collections.abc import Iterator

import msgspec

from gpuwhy.formats import Bounded, CutError, ForeignError, MalformedError, Pread, Section, Symbol

MACHINES = {0x14C: "i386", 0x1C4: "arm", 0x8664: "x86_64", 0xAA64: "aarch64"}
_EXPORTS, _IMPORTS, _RESOURCES, _DELAYED = 0, 1, 2, 13  # data directories
_MAX_SECTIONS = 96  # the Windows loader's own limit
_MAX_DLLS, _MAX_EXPORTS, _MAX_IMPORTS = 1024, 1 << 20, 1 << 16
_MAX_NAME = 512
_MAX_ENTRIES = 256  # of one resource folder
_MAX_RESOURCE = 1 << 16
_BLOCK = 4096
_PE32, _PE64 = 0x10B, 0x20B
_DLL = 0x2000
_SECTOR = 512  # the loader rounds a section's place in the file down to it
_VERSION = 16  # a kind of resource
_IS_FOLDER = 1 << 31
_FIXED = struct.pack("<I", 0xFEEF04BD)  # signature of VS_FIXEDFILEINFO


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


class _Row(msgspec.Struct, frozen=True):
    """One section: its place in memory and in the file."""

    name: str
    address: int
    span: int  # bytes in memory, as many as in the file at least
    offset: int
    size: int  # bytes in the file


class _Image(Bounded):
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
        self.machine, count, optional, self.flags = struct.unpack_from("<HH12xHH", raw, 4)
        self._read_optional(optional)
        table = self.start + 24 + optional
        self.rows = self._rows(table, count)
        ends = [row.offset + row.size for row in self.rows if row.size and row.offset]
        self.extent: int = max([table + 40 * count, *ends])  # bytes the headers say it must have

    def _read_optional(self, size: int) -> None:
        raw = self.take(self.start + 24, size, "optional header")
        magic = struct.unpack_from("<H", raw)[0] if len(raw) >= 2 else 0
        place = 96 if magic == _PE32 else 112
        if magic not in (_PE32, _PE64) or len(raw) < place:
            raise CutError("PE optional header cut short or invalid", self.start + 24)
        self.bits, form, base = (32, "<I", 28) if magic == _PE32 else (64, "<Q", 24)
        (self.base,) = struct.unpack_from(form, raw, base)
        (self.headers,) = struct.unpack_from("<I", raw, 60)
        (count,) = struct.unpack_from("<I", raw, place - 4)
        held = raw[place : place + 8 * min(count, 16)]
        self._directories = tuple(struct.iter_unpack("<II", held[: len(held) // 8 * 8]))

    def _rows(self, table: int, count: int) -> list[_Row]:
        if count > _MAX_SECTIONS:
            raise MalformedError(f"{count} sections", self.start)
        raw = self.take(table, 40 * count, "section table")
        out = []
        for name, span, address, size, offset in struct.iter_unpack("<8sIIII16x", raw):
            text = name.rstrip(b"\0").decode("ascii", "replace")
            out.append(_Row(text, address, max(span, size), offset, size))
        return out

    def place(self, address: int) -> int:
        """Where an address, relative to the image, lies in the file."""
        for row in self.rows:
            if row.address <= address < row.address + row.span:
                start = row.offset & -_SECTOR if row.offset >= _SECTOR else row.offset
                return address - row.address + start
        if 0 < address < self.headers:
            return address
        raise MalformedError(f"address {address:#x} is in no section")

    def directory(self, number: int) -> tuple[int, int]:
        """(address, size) of a data directory; (0, 0) where there is none."""
        return self._directories[number] if number < len(self._directories) else (0, 0)

    def text(self, address: int) -> str:
        """The string at an address."""
        place = self.place(address)
        raw = self.pread(place, _MAX_NAME)
        end = raw.find(b"\0")
        if end < 0:
            raise MalformedError("name without an end", place)
        return raw[:end].decode("utf-8", "surrogateescape")

    def number(self, form: str, place: int, what: str) -> int:
        """One number."""
        number: int = struct.unpack(form, self.take(place, struct.calcsize(form), what))[0]
        return number


def read_pe(pread: Pread, size: int) -> Pe:
    """Summarise one PE file; raises MalformedError with the place where it stops making sense.

    A file whose sections reach past its end is still summarised as far as possible; `extent` tells.
    """
    image = _Image(pread, size)
    try:
        imports = tuple(name for name, _ in _imported_dlls(image))
        delayed = tuple(_delayed_dlls(image))
    except MalformedError:
        if image.extent <= size:
            raise
        imports, delayed = (), ()
    version, product, description = _version(image)
    return Pe(
        bits=image.bits,
        machine=MACHINES.get(image.machine, f"machine-{image.machine:#x}"),
        is_dll=bool(image.flags & _DLL),
        imports=imports,
        extent=image.extent,
        delayed=delayed,
        version=version,
        product=product,
        description=description,
    )


def read_pe_sections(pread: Pread, size: int, names: frozenset[str]) -> tuple[Section, ...]:
    """Return the sections with one of `names`, of which the file keeps eight characters."""
    short = {name[:8] for name in names}
    rows = (row for row in _Image(pread, size).rows if row.name in short and row.size)
    return tuple(Section(row.name, row.offset, row.size) for row in rows)


# ---------------------------------------------------------------- imports


def _imported_dlls(image: _Image) -> Iterator[tuple[str, int]]:
    """(DLL, address of its list of imported names), in the order of the table."""
    for row in _table(image, _IMPORTS, "<IIIII"):
        if not row[3]:
            return
        yield image.text(row[3]), row[0] or row[4]


def _delayed_dlls(image: _Image) -> Iterator[str]:
    for row in _table(image, _DELAYED, "<IIIIIIII"):
        if not row[1]:
            return
        # old linkers wrote absolute addresses
        yield image.text(row[1] if row[0] & 1 else row[1] - image.base)


def _table(image: _Image, directory: int, form: str) -> Iterator[tuple[int, ...]]:
    """The rows of a table that ends with a row of zeros; its size in the header is ignored."""
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


def _version(image: _Image) -> tuple[str, str, str]:
    """FILEVERSION, ProductVersion and FileDescription."""
    data = _resource(image, _VERSION)
    fixed = data.find(_FIXED)
    version = ""
    if 0 <= fixed <= len(data) - 16:
        high, low = struct.unpack_from("<II", data, fixed + 8)
        version = f"{high >> 16}.{high & 0xFFFF}.{low >> 16}.{low & 0xFFFF}"
    return version, _string(data, "ProductVersion"), _string(data, "FileDescription")


def _string(data: bytes, key: str) -> str:
    """A string of a version resource; keys and values are UTF-16, aligned to four bytes."""
    wide = f"{key}\0".encode("utf-16-le")
    place = data.find(wide)
    if place < 0:
        return ""
    place += len(wide)
    place += -place % 4
    text = data[place : place + 512].decode("utf-16-le", "replace")
    return text.partition("\0")[0].strip()


def _resource(image: _Image, kind: int) -> bytes:
    """The first resource of a kind; empty where there is none or its folders make no sense."""
    address, size = image.directory(_RESOURCES)
    if not address or size < 16:
        return b""
    try:
        root = image.place(address)
        place = _entry(image, root, 0, kind)
        for _ in range(2):  # name, then language: the first of each
            place = _entry(image, root, place - _IS_FOLDER, None) if place >= _IS_FOLDER else 0
        if not place:
            return b""
        data, length = struct.unpack("<II", image.take(root + place, 8, "resource"))
        return image.pread(image.place(data), min(length, _MAX_RESOURCE))
    except MalformedError:
        return b""


def _entry(image: _Image, root: int, folder: int, kind: int | None) -> int:
    """Where the entry of a resource folder leads: the one of a kind, or the first; 0 = none."""
    head = image.take(root + folder, 16, "resource folder")
    named, numbered = struct.unpack_from("<HH", head, 12)
    raw = image.pread(root + folder + 16, 8 * min(named + numbered, _MAX_ENTRIES))
    for number, place in struct.iter_unpack("<II", raw[: len(raw) // 8 * 8]):
        if kind is None or number == kind:
            return int(place)
    return 0


# ---------------------------------------------------------------- symbols


class PeSymbols:
    """The names that one file exports and imports; `find` is a binary search, as the loader's."""

    def __init__(self, pread: Pread, size: int) -> None:
        self.image = image = _Image(pread, size)
        self.place = image.place
        self._count = self._names = self._ordinals = self._addresses = 0
        address, length = image.directory(_EXPORTS)
        if not address or length < 40:
            return
        start = image.place(address)
        raw = image.take(start, 40, "export directory")
        self._count, addresses, names, ordinals = struct.unpack_from("<IIII", raw, 24)
        if self._count > _MAX_EXPORTS:
            raise MalformedError(f"{self._count} exported names", start)
        if self._count:
            self._addresses, self._names = image.place(addresses), image.place(names)
            self._ordinals = image.place(ordinals)

    def find(self, name: str) -> Symbol | None:
        """An exported name, a forwarded one too; a PE file does not tell its size."""
        low, high = 0, self._count
        while low < high:
            middle = (low + high) // 2
            here = self._name(middle)
            if here == name:
                return Symbol(self._address(middle), 0)
            low, high = (middle + 1, high) if here < name else (low, middle)
        return None

    def exports(self) -> Iterator[str]:
        """Every exported name."""
        return map(self._name, range(self._count))

    def imports(self, dll: str) -> tuple[str, ...]:
        """The names imported from one DLL, in any case of letters; ordinals are left out."""
        for name, table in _imported_dlls(self.image):
            if name.lower() == dll.lower():
                return tuple(self._imported(table))
        return ()

    def _name(self, number: int) -> str:
        return self.image.text(self.image.number("<I", self._names + 4 * number, "export name"))

    def _address(self, number: int) -> int:
        ordinal = self.image.number("<H", self._ordinals + 2 * number, "export ordinal")
        return self.image.number("<I", self._addresses + 4 * ordinal, "export address")

    def _imported(self, table: int) -> Iterator[str]:
        step = self.image.bits // 8
        place = self.image.place(table)
        by_ordinal = 1 << (self.image.bits - 1)
        for first in range(0, _MAX_IMPORTS * step, _BLOCK):
            raw = self.image.pread(place + first, _BLOCK)
            words = raw[: len(raw) // step * step]
            for (entry,) in struct.iter_unpack("<Q" if step == 8 else "<I", words):
                if not entry:
                    return
                if not entry & by_ordinal:
                    yield self.image.text((entry & 0x7FFFFFFF) + 2)
            if len(raw) < _BLOCK:
                return
