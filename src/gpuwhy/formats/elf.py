"""ELF: what a program or a shared library needs and offers, by its headers and dynamic section.

A library of 1 GB costs a few small reads. Every offset and count in the file is treated as hostile.
"""

import struct
from functools import cached_property

import msgspec

from gpuwhy.formats import Bounded, CutError, ForeignError, MalformedError, Pread, Section

MACHINES = {3: "i386", 21: "ppc64", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64"}
DT_NEEDED, DT_STRTAB, DT_SONAME, DT_RPATH, DT_RUNPATH, DT_FLAGS_1 = 1, 5, 14, 15, 29, 0x6FFFFFFB
PT_LOAD, PT_DYNAMIC, PT_INTERP, PT_NOTE = 1, 2, 3, 4

_MAX_HEADERS, _MAX_ROW, _MAX_DYNAMIC, _MAX_TABLE = 4096, 256, 4096, 1 << 16
_MAX_STRING = 1 << 20  # a search path
_MAX_NAME = 4096  # a library name
_SHT_NOBITS = 8
_SYSV, _LINUX = 0, 3
_SHARED = 3
_PAGE = 4096  # bytes: the smallest page of the machines that GPU libraries are built for


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
    flags_1: int  # DT_FLAGS_1
    extent: int  # bytes the headers say the file must have; more than its size = truncated
    has_runpath: bool = False  # the tag is there, even when its text is empty
    refused: str = ""  # why glibc refuses the file, although it can be read
    last: int = 0  # where in the file the last loadable segment begins

    @property
    def ignores_rpath(self) -> bool:
        """Whether a DT_RUNPATH switches off every DT_RPATH for what this file asks for."""
        return self.has_runpath or bool(self.runpath)

    @property
    def has_dynamic(self) -> bool:
        """Whether anything was read from a dynamic section."""
        return bool(self.needed or self.soname)


class Segment(msgspec.Struct, frozen=True):
    """One program header."""

    kind: int
    offset: int
    address: int
    size: int  # bytes in the file
    align: int


class Image(Bounded):
    """One file: its header; its segments and dynamic section, read when first asked for."""

    def __init__(self, pread: Pread, size: int) -> None:
        super().__init__(pread, size)
        ident = self.pread(0, 64)
        if len(ident) < 4 or ident[:4] != b"\x7fELF":
            raise ForeignError("not ELF") if ident else MalformedError("empty file")
        if len(ident) < 52 or ident[4] not in (1, 2) or ident[5] not in (1, 2):
            raise CutError("ELF header cut short or invalid", len(ident))
        self.ident = ident[:16]
        self.wide = ident[4] == 2
        self.order = "<" if ident[5] == 1 else ">"
        if self.wide and len(ident) < 64:
            raise CutError("ELF header cut short", len(ident))
        form = "HHIQQQIHHHHHH" if self.wide else "HHIIIIIHHHHHH"
        fields = struct.unpack_from(self.order + form, ident, 16)
        self.kind, self.machine, self.version = fields[:3]
        if self.wide and self.version != 1:
            # glibc looks at it before the machine, and in a 32-bit file at neither
            raise MalformedError(f"ELF version {self.version}", 20)
        self.phoff, self.shoff = fields[4], fields[5]
        self.phentsize, self.phnum, self.shentsize, self.shnum, self.shstrndx = fields[8:13]

    def unpack(self, form: str, offset: int, what: str) -> tuple[int, ...]:
        """Numbers in the file's byte order."""
        form = self.order + form
        return struct.unpack(form, self.take(offset, struct.calcsize(form), what))

    def text(self, offset: int, most: int = _MAX_NAME, errors: str = "surrogateescape") -> str:
        """The string at a place in the file."""
        size = 256
        while size <= most and offset < self.size:
            raw = self.pread(offset, size)
            end = raw.find(b"\0")
            if end >= 0:
                return raw[:end].decode("utf-8", errors)
            if len(raw) < size:
                break
            size *= 16
        raise MalformedError("string without an end", offset)

    @cached_property
    def segments(self) -> list[Segment]:
        """The program headers."""
        if self.phnum > _MAX_HEADERS:
            raise MalformedError(f"{self.phnum} program headers", self.phoff)
        form = self.order + ("I4xQQ8xQ8xQ" if self.wide else "III4xI8xI")
        if self.phnum and not struct.calcsize(form) <= self.phentsize <= _MAX_ROW:
            raise MalformedError(f"program header entries of {self.phentsize} bytes", self.phoff)
        raw = self.take(self.phoff, self.phnum * self.phentsize, "program header table")
        unpack, places = struct.Struct(form).unpack_from, range(0, len(raw), self.phentsize or 1)
        return [Segment(*unpack(raw, place)) for place in places]

    @cached_property
    def tags(self) -> dict[int, list[int]]:
        """The dynamic section: tag → values."""
        form = self.order + ("qQ" if self.wide else "iI")
        step = struct.calcsize(form)
        tags: dict[int, list[int]] = {}
        for segment in self.segments:
            if segment.kind != PT_DYNAMIC:
                continue
            size = min(segment.size, _MAX_DYNAMIC * step)
            raw = self.take(segment.offset, size, "dynamic section")
            for tag, value in struct.iter_unpack(form, raw[: len(raw) // step * step]):
                if tag == 0:
                    break
                tags.setdefault(tag & 0xFFFFFFFF, []).append(value)
        return tags

    def place(self, address: int) -> int:
        """Where an address lies in the file."""
        for one in self.segments:
            if one.kind == PT_LOAD and one.address <= address < one.address + one.size:
                return address - one.address + one.offset
        raise MalformedError(f"address {address:#x} is in no segment")

    @cached_property
    def strings(self) -> int:
        """Where the dynamic section's strings lie; of a tag given twice, glibc takes the last."""
        return self.place(self.tags[DT_STRTAB][-1]) if DT_STRTAB in self.tags else 0

    @property
    def extent(self) -> int:
        """Bytes that the headers say the file must have."""
        table: int = self.phoff + self.phnum * self.phentsize
        sections: int = self.shoff + self.shnum * self.shentsize if self.shnum else 0
        return max([table, sections, *[one.offset + one.size for one in self.segments]])


def read_elf(pread: Pread, size: int) -> Elf:
    """Summarise one ELF file; raises MalformedError with the place where it stops making sense.

    A file whose segments reach past its end is still summarised by its header; `extent` tells.
    """
    image = Image(pread, size)
    try:
        return _summary(image, image.segments, image.tags)
    except MalformedError:
        if image.extent <= size:
            raise
        return _summary(image, [], {})


def _summary(image: Image, segments: list[Segment], tags: dict[int, list[int]]) -> Elf:
    start = image.strings if tags else 0

    def texts(tag: int, most: int = _MAX_NAME) -> tuple[str, ...]:
        values = tags.get(tag, ()) if start else ()
        return tuple([image.text(start + value, most) for value in values])

    def last(tag: int, most: int = _MAX_NAME) -> str:
        return (texts(tag, most) or ("",))[-1]

    interpreters = (image.text(one.offset) for one in segments if one.kind == PT_INTERP)
    return Elf(
        bits=64 if image.wide else 32,
        machine=MACHINES.get(image.machine, f"machine-{image.machine}"),
        kind=image.kind,
        needed=texts(DT_NEEDED),
        soname=last(DT_SONAME),
        rpath=last(DT_RPATH, _MAX_STRING),
        runpath=last(DT_RUNPATH, _MAX_STRING),
        interpreter=next(interpreters, ""),
        flags_1=tags.get(DT_FLAGS_1, [0])[-1],
        extent=image.extent,
        has_runpath=DT_RUNPATH in tags,
        refused=_refused(image) or _misaligned(image) or _emptied(image, segments, tags),
        last=max((one.offset for one in segments if one.kind == PT_LOAD), default=0),
    )


def _refused(image: Image) -> str:
    """What glibc's check of a header objects to, beyond class and machine."""
    usual = struct.calcsize("<IIQQQQQQ" if image.wide else "<IIIIIIII")
    if image.ident[5:7] != b"\1\1":
        return "not little-endian, or not of version 1"
    abi, abi_version = image.ident[7:9]
    if abi not in (_SYSV, _LINUX) or (abi_version and abi != _LINUX):
        return f"made for OS ABI {abi}, version {abi_version}"
    if any(image.ident[9:16]):
        return "nonzero padding in its header"
    if image.version != 1:
        return f"of ELF version {image.version}"
    if image.kind not in (2, 3):
        return f"neither a program nor a shared library (ELF type {image.kind})"
    return f"program headers of {image.phentsize} bytes" if image.phentsize != usual else ""


def _misaligned(image: Image) -> str:
    """Why its segments cannot be mapped: `strip` after another tool had rewritten the library."""
    loads = [one for one in image.segments if one.kind == PT_LOAD]
    if any(one.align % _PAGE for one in loads):
        return "its segments are not aligned to pages"
    if any((one.address - one.offset) % _PAGE for one in loads):
        where = "its segments lie in the file where they cannot be mapped"
        return f"{where} (ELF load command not page-aligned)"
    return ""


def _emptied(image: Image, segments: list[Segment], tags: dict[int, list[int]]) -> str:
    """Zeros where a table must be: the file has its full length, and its end was never written."""
    if any(one.kind == PT_DYNAMIC for one in segments):
        if DT_STRTAB not in tags:
            return "its table for the loader is empty"
    elif segments and image.kind == _SHARED:
        return "it has no table for the loader (object file has no dynamic section)"
    size = image.shnum * image.shentsize
    whole = image.shoff and 0 < size <= min(_MAX_TABLE, image.size - image.shoff)
    if whole and not any(image.take(image.shoff, size, "section headers")):
        return "its table of sections is zeros"
    return ""


def read_sections(pread: Pread, size: int, names: frozenset[str]) -> tuple[Section, ...]:
    """Return the sections with one of `names` that have bytes in the file."""
    image = Image(pread, size)
    if not image.shoff or not image.shnum:
        return ()
    form = image.order + ("IIQQQQIIQQ" if image.wide else "IIIIIIIIII")
    fits = struct.calcsize(form) <= image.shentsize <= _MAX_ROW
    if not fits or image.shstrndx >= image.shnum:
        raise MalformedError("section table makes no sense", image.shoff)
    raw = image.take(image.shoff, image.shnum * image.shentsize, "section table")
    rows = [struct.unpack_from(form, raw, i * image.shentsize) for i in range(image.shnum)]
    label = rows[image.shstrndx]
    labels = image.take(label[4], min(label[5], _MAX_STRING), "section names")
    out = []
    for row in rows:
        name = labels[row[0] : labels.find(b"\0", row[0])].decode("ascii", "replace")
        if name in names and row[1] != _SHT_NOBITS:
            out.append(Section(name, row[4], row[5]))
    return tuple(out)
