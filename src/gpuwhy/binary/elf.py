"""ELF: what a shared library asks for and offers, read lazily from its headers and dynamic section.

A 1 GB library costs a handful of small reads. Every offset and count in the file is treated as hostile.
"""

from __future__ import annotations

import struct

import msgspec

from gpuwhy.binary import MalformedError, Pread

MACHINES = {3: "i386", 8: "mips", 21: "ppc64", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64"}

_MAX_HEADERS = 4096
_MAX_ROW = 256
_MAX_DYNAMIC = 4096
_MAX_STRING = 1 << 20

_PT_LOAD, _PT_DYNAMIC, _PT_INTERP = 1, 2, 3
_DT_NEEDED, _DT_STRTAB, _DT_STRSZ, _DT_SONAME, _DT_RPATH, _DT_RUNPATH, _DT_FLAGS_1 = 1, 5, 10, 14, 15, 29, 0x6FFFFFFB
_SHT_NOBITS = 8


class Section(msgspec.Struct, frozen=True):
    """A section that matters to us, by name, with its place in the file."""

    name: str
    offset: int
    size: int


class Elf(msgspec.Struct, frozen=True):
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

    @property
    def has_dynamic(self) -> bool:
        """Whether anything was read from a dynamic section."""
        return bool(self.needed or self.soname)


class Image:
    """The parsed header of one file: word size, byte order, program headers."""

    def __init__(self, pread: Pread, size: int) -> None:
        self._pread = pread
        self.size = size
        ident = self.pread(0, 64)
        if len(ident) < 4 or ident[:4] != b"\x7fELF":
            raise MalformedError("not ELF" if ident else "empty file")
        if len(ident) < 52 or ident[4] not in (1, 2) or ident[5] not in (1, 2):
            raise MalformedError("ELF header cut short or invalid", len(ident))
        self.bits = 64 if ident[4] == 2 else 32
        self.order = "<" if ident[5] == 1 else ">"
        wide = self.bits == 64
        if wide and len(ident) < 64:
            raise MalformedError("ELF header cut short", len(ident))
        fields = struct.unpack_from(self.order + ("HHIQQQIHHHHHH" if wide else "HHIIIIIHHHHHH"), ident, 16)
        self.kind, self.machine = fields[0], fields[1]
        self.phoff, self.shoff = fields[4], fields[5]
        self.phentsize, self.phnum, self.shentsize, self.shnum, self.shstrndx = fields[8:13]

    def pread(self, offset: int, size: int) -> bytes:
        """Read up to `size` bytes; none from outside the file, wherever a hostile offset points."""
        return self._pread(offset, size) if 0 <= offset < self.size else b""

    def take(self, offset: int, size: int, what: str) -> bytes:
        """Read exactly `size` bytes or say which part is missing."""
        data = self.pread(offset, size) if offset + size <= self.size else b""
        if len(data) < size:
            raise MalformedError(f"{what} lies past the end of the file ({self.size} bytes)", offset)
        return data

    def program_headers(self) -> list[tuple[int, int, int, int]]:
        """(type, offset, virtual address, size in file) of each segment."""
        if self.phnum > _MAX_HEADERS:
            raise MalformedError(f"{self.phnum} program headers", self.phoff)
        form = self.order + ("IIQQQQQQ" if self.bits == 64 else "IIIIIIII")
        step = struct.calcsize(form)
        if self.phnum and not step <= self.phentsize <= _MAX_ROW:
            raise MalformedError(f"program header entries of {self.phentsize} bytes", self.phoff)
        raw = self.take(self.phoff, self.phnum * self.phentsize, "program header table")
        out = []
        for i in range(self.phnum):
            f = struct.unpack_from(form, raw, i * self.phentsize)
            out.append((f[0], f[2], f[3], f[5]) if self.bits == 64 else (f[0], f[1], f[2], f[4]))
        return out


def offset_of(address: int, loads: list[tuple[int, int, int]]) -> int:
    """Where an address lies in the file, by the loadable segments (offset, address, size)."""
    for offset, start, size in loads:
        if start <= address < start + size:
            return address - start + offset
    raise MalformedError(f"address {address:#x} is in no segment")


def _string(image: Image, offset: int) -> str:
    size = 256
    while size <= _MAX_STRING and offset < image.size:
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


def read_elf(pread: Pread, size: int) -> Elf:
    """Summarise one ELF file of `size` bytes; raises MalformedError with the place where it stops making sense.

    A file whose segments reach past its end is still summarised as far as it can be read; `extent` tells.
    """
    image = Image(pread, size)
    headers = image.program_headers()
    extent = max([image.phoff + image.phnum * image.phentsize, *(offset + length for _, offset, _, length in headers)])
    if image.shnum:
        extent = max(extent, image.shoff + image.shnum * image.shentsize)
    loads = [(offset, start, length) for kind, offset, start, length in headers if kind == _PT_LOAD]
    truncated = extent > size
    try:
        entries = dynamic_entries(image, headers)
        table = offset_of(entries[_DT_STRTAB][0], loads) if _DT_STRTAB in entries else 0

        def strings(tag: int) -> list[str]:
            return [_string(image, table + value) for value in entries.get(tag, [])] if table else []

        needed, soname = strings(_DT_NEEDED), strings(_DT_SONAME)
        rpath, runpath = strings(_DT_RPATH), strings(_DT_RUNPATH)
    except MalformedError:
        if not truncated:
            raise
        entries, needed, soname, rpath, runpath = {}, [], [], [], []
    interpreter = next((_string(image, offset) for kind, offset, _, _ in headers if kind == _PT_INTERP), "")
    return Elf(
        bits=image.bits,
        machine=MACHINES.get(image.machine, f"machine-{image.machine}"),
        kind=image.kind,
        needed=tuple(needed),
        soname=soname[0] if soname else "",
        rpath=rpath[0] if rpath else "",
        runpath=runpath[0] if runpath else "",
        interpreter=interpreter,
        flags_1=entries.get(_DT_FLAGS_1, [0])[0],
        extent=extent,
    )


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
        name = text[row[0] : text.find(b"\0", row[0])].decode("ascii", "replace") if row[0] < len(text) else ""
        if name in names and row[1] != _SHT_NOBITS:
            out.append(Section(name, row[4], row[5]))
    return tuple(out)
