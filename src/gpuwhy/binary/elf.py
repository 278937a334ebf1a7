"""ELF: what a shared library asks for and offers, read lazily from its headers and dynamic section.

A 1 GB library costs a handful of small reads. Every offset and count in the file is treated as hostile.
"""

from __future__ import annotations

import struct

import msgspec

from gpuwhy.binary import Bounded, CutError, ForeignError, MalformedError, Pread

MACHINES = {3: "i386", 8: "mips", 21: "ppc64", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64"}

_MAX_HEADERS = 4096
_MAX_ROW = 256
_MAX_DYNAMIC = 4096
_MAX_TABLE = 1 << 16
_MAX_STRING = 1 << 20  # a search path
_MAX_NAME = 4096  # a library name

_PT_LOAD, _PT_DYNAMIC, _PT_INTERP = 1, 2, 3
_DT_NEEDED, _DT_STRTAB, _DT_SONAME, _DT_RPATH, _DT_RUNPATH, _DT_FLAGS, _DT_FLAGS_1 = 1, 5, 14, 15, 29, 30, 0x6FFFFFFB
_SHT_NOBITS = 8
_SYSV, _LINUX = 0, 3
_SHARED = 3
_PAGE = 4096  # bytes: the smallest page of the machines that GPU libraries are built for


class Section(msgspec.Struct, frozen=True):
    """A section that matters to us, by name, with its place in the file."""

    name: str
    offset: int
    size: int


class Elf(msgspec.Struct, frozen=True, omit_defaults=True):
    """The summary of one ELF file."""

    bits: int
    machine: str
    kind: int  # 2 executable, 3 shared object, 1 relocatable
    needed: tuple[str, ...]
    soname: str
    rpath: str
    runpath: str
    interpreter: str
    flags_1: int
    extent: int  # bytes the headers say the file must have; more than its size = truncated
    flags: int = 0  # DT_FLAGS
    has_runpath: bool = False  # the tag is there, even when its text is empty
    refused: str = ""  # what in its header makes glibc refuse the file, although it can be read
    last: int = 0  # where in the file the loadable segment begins that lies last

    @property
    def ignores_rpath(self) -> bool:
        """Whether a DT_RUNPATH switches off every DT_RPATH for what this file asks for."""
        return self.has_runpath or bool(self.runpath)

    @property
    def has_dynamic(self) -> bool:
        """Whether anything was read from a dynamic section."""
        return bool(self.needed or self.soname)


class Image(Bounded):
    """The parsed header of one file: word size, byte order, program headers."""

    def __init__(self, pread: Pread, size: int) -> None:
        super().__init__(pread, size)
        ident = self.pread(0, 64)
        if len(ident) < 4 or ident[:4] != b"\x7fELF":
            raise ForeignError("not ELF") if ident else MalformedError("empty file")
        if len(ident) < 52 or ident[4] not in (1, 2) or ident[5] not in (1, 2):
            raise CutError("ELF header cut short or invalid", len(ident))
        self.ident = ident[:16]
        self.bits = 64 if ident[4] == 2 else 32
        self.order = "<" if ident[5] == 1 else ">"
        wide = self.bits == 64
        if wide and len(ident) < 64:
            raise CutError("ELF header cut short", len(ident))
        fields = struct.unpack_from(self.order + ("HHIQQQIHHHHHH" if wide else "HHIIIIIHHHHHH"), ident, 16)
        self.kind, self.machine, self.version = fields[:3]
        if wide and self.version != 1:  # glibc looks at it before the machine, and of the other class at neither
            raise MalformedError(f"ELF version {self.version}", 20)
        self.phoff, self.shoff = fields[4], fields[5]
        self.phentsize, self.phnum, self.shentsize, self.shnum, self.shstrndx = fields[8:13]
        self.alignments: set[int] = set()

    def program_headers(self) -> list[tuple[int, int, int, int]]:
        """(type, offset, virtual address, size in file) of each segment."""
        if self.phnum > _MAX_HEADERS:
            raise MalformedError(f"{self.phnum} program headers", self.phoff)
        form = self.order + ("IIQQQQQQ" if self.bits == 64 else "IIIIIIII")
        step = struct.calcsize(form)
        if self.phnum and not step <= self.phentsize <= _MAX_ROW:
            raise MalformedError(f"program header entries of {self.phentsize} bytes", self.phoff)
        raw = self.take(self.phoff, self.phnum * self.phentsize, "program header table")
        rows = [struct.unpack_from(form, raw, i * self.phentsize) for i in range(self.phnum)]
        self.alignments = {row[7] for row in rows if row[0] == _PT_LOAD}
        return [(f[0], f[2], f[3], f[5]) if self.bits == 64 else (f[0], f[1], f[2], f[4]) for f in rows]


def offset_of(address: int, loads: list[tuple[int, int, int]]) -> int:
    """Where an address lies in the file, by the loadable segments (offset, address, size)."""
    for offset, start, size in loads:
        if start <= address < start + size:
            return address - start + offset
    raise MalformedError(f"address {address:#x} is in no segment")


def _string(image: Image, offset: int, most: int) -> str:
    size = 256
    while size <= most and offset < image.size:
        raw = image.pread(offset, size)
        end = raw.find(b"\0")
        if end >= 0:
            return raw[:end].decode("utf-8", "surrogateescape")
        if len(raw) < size:
            break
        size *= 16
    raise MalformedError("string without an end", offset)


def dynamic_entries(image: Image, headers: list[tuple[int, int, int, int]]) -> dict[int, list[int]]:
    """The dynamic section: tag → values."""
    entries: dict[int, list[int]] = {}
    for kind, offset, _, size in headers:
        if kind != _PT_DYNAMIC:
            continue
        form = image.order + ("qQ" if image.bits == 64 else "iI")
        step = struct.calcsize(form)
        raw = image.take(offset, min(size, _MAX_DYNAMIC * step), "dynamic section")
        for place in range(0, len(raw) - step + 1, step):
            tag, value = struct.unpack_from(form, raw, place)
            if tag == 0:
                break
            entries.setdefault(tag & 0xFFFFFFFF, []).append(value)
    return entries


class _Strings:
    """The texts that the dynamic section points to; of a tag given twice, glibc takes the last."""

    def __init__(self, image: Image, entries: dict[int, list[int]], table: int) -> None:
        self._image, self._entries, self._table = image, entries, table

    def all(self, tag: int, most: int = _MAX_NAME) -> tuple[str, ...]:
        values = self._entries.get(tag, []) if self._table else []
        return tuple(_string(self._image, self._table + value, most) for value in values)

    def last(self, tag: int, most: int = _MAX_NAME) -> str:
        return (self.all(tag, most) or ("",))[-1]


def read_elf(pread: Pread, size: int) -> Elf:
    """Summarise one ELF file of `size` bytes; raises MalformedError with the place where it stops making sense.

    A file whose segments reach past its end is still summarised as far as it can be read; `extent` tells.
    """
    image = Image(pread, size)
    headers = image.program_headers()
    extent = _extent(image, headers)
    try:
        return _summary(image, headers, extent, dynamic_entries(image, headers))
    except MalformedError:
        if extent <= size:
            raise
        return _summary(image, [], extent, {})


def _extent(image: Image, headers: list[tuple[int, int, int, int]]) -> int:
    table: int = image.phoff + image.phnum * image.phentsize
    sections: int = image.shoff + image.shnum * image.shentsize if image.shnum else 0
    return max([table, sections, *(offset + length for _, offset, _, length in headers)])


def _summary(image: Image, headers: list[tuple[int, int, int, int]], extent: int, tags: dict[int, list[int]]) -> Elf:
    loads = [(offset, start, length) for kind, offset, start, length in headers if kind == _PT_LOAD]
    strings = _Strings(image, tags, offset_of(tags[_DT_STRTAB][-1], loads) if _DT_STRTAB in tags else 0)
    interpreter = (_string(image, offset, _MAX_NAME) for kind, offset, _, _ in headers if kind == _PT_INTERP)
    return Elf(
        bits=image.bits,
        machine=MACHINES.get(image.machine, f"machine-{image.machine}"),
        kind=image.kind,
        needed=strings.all(_DT_NEEDED),
        soname=strings.last(_DT_SONAME),
        rpath=strings.last(_DT_RPATH, _MAX_STRING),
        runpath=strings.last(_DT_RUNPATH, _MAX_STRING),
        interpreter=next(interpreter, ""),
        flags_1=tags.get(_DT_FLAGS_1, [0])[-1],
        extent=extent,
        flags=tags.get(_DT_FLAGS, [0])[-1],
        has_runpath=_DT_RUNPATH in tags,
        refused=_refused(image) or _crooked(image, loads) or _emptied(image, headers, tags),
        last=max((offset for offset, _, _ in loads), default=0),
    )


def _crooked(image: Image, loads: list[tuple[int, int, int]]) -> str:
    """What keeps its segments from being mapped: as `strip` leaves a library that another tool had rewritten."""
    if any(align % _PAGE for align in image.alignments):
        return "its segments are not aligned to pages"
    if any((address - offset) % _PAGE for offset, address, _ in loads):
        return "its segments lie in the file where they cannot be mapped (ELF load command not page-aligned)"
    return ""


def _emptied(image: Image, headers: list[tuple[int, int, int, int]], tags: dict[int, list[int]]) -> str:
    """Zeros where a table must be: the file was made as long as it should be, and never written to its end."""
    if any(kind == _PT_DYNAMIC for kind, *_ in headers):
        if _DT_STRTAB not in tags:
            return "its table for the loader is empty"
    elif headers and image.kind == _SHARED:
        return "it has no table for the loader (object file has no dynamic section)"
    size = image.shnum * image.shentsize
    whole = image.shoff and 0 < size <= min(_MAX_TABLE, image.size - image.shoff)
    if whole and not any(image.take(image.shoff, size, "section headers")):
        return "its table of sections is zeros"
    return ""


def _refused(image: Image) -> str:
    """What glibc's check of a header objects to, beyond class and machine."""
    usual = struct.calcsize("<IIQQQQQQ" if image.bits == 64 else "<IIIIIIII")
    if image.ident[5:7] != b"\1\1":
        return "not little-endian, or not of version 1"
    if image.ident[7] not in (_SYSV, _LINUX) or (image.ident[8] and image.ident[7] != _LINUX):
        return f"made for OS ABI {image.ident[7]}, version {image.ident[8]}"
    if any(image.ident[9:16]):
        return "nonzero padding in its header"
    if image.version != 1:
        return f"of ELF version {image.version}"
    if image.kind not in (2, 3):
        return f"neither a program nor a shared library (ELF type {image.kind})"
    return f"program headers of {image.phentsize} bytes" if image.phentsize != usual else ""


def read_sections(pread: Pread, size: int, names: frozenset[str]) -> tuple[Section, ...]:
    """Return the sections with one of `names` that have bytes in the file."""
    image = Image(pread, size)
    if not image.shoff or not image.shnum:
        return ()
    form = image.order + ("IIQQQQIIQQ" if image.bits == 64 else "IIIIIIIIII")
    if not struct.calcsize(form) <= image.shentsize <= _MAX_ROW or image.shstrndx >= image.shnum:
        raise MalformedError("section table makes no sense", image.shoff)
    raw = image.take(image.shoff, image.shnum * image.shentsize, "section table")
    rows = [struct.unpack_from(form, raw, i * image.shentsize) for i in range(image.shnum)]
    label = rows[image.shstrndx]
    text = image.take(label[4], min(label[5], _MAX_STRING), "section names")
    out = []
    for row in rows:
        name = text[row[0] : text.find(b"\0", row[0])].decode("ascii", "replace")
        if name in names and row[1] != _SHT_NOBITS:
            out.append(Section(name, row[4], row[5]))
    return tuple(out)
