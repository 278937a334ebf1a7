"""Dynamic symbols of an ELF file: what it asks others for, and whether it defines a name (by its hash table)."""

from __future__ import annotations

import re
import struct
from functools import cached_property

import msgspec

from gpuwhy.binary import MalformedError, Pread
from gpuwhy.binary.elf import Image, dynamic_entries, offset_of

_DT_HASH, _DT_STRTAB, _DT_SYMTAB, _DT_STRSZ = 4, 5, 6, 10
_DT_GNU_HASH, _DT_VERSYM, _DT_VERNEED, _DT_VERNEEDNUM = 0x6FFFFEF5, 0x6FFFFFF0, 0x6FFFFFFE, 0x6FFFFFFF
_MAX_SYMBOLS = 4_000_000
_MAX_CHAIN = 100_000
_MAX_VERSIONS, _MAX_NODES = 512, 256  # libraries with version nodes, and nodes of one library
_WEAK = 2


class Symbol(msgspec.Struct, frozen=True):
    """A defined symbol: its address and size."""

    address: int
    size: int


class Import(msgspec.Struct, frozen=True):
    """An undefined symbol, and the library and version node it is bound to, where it is bound to one."""

    name: str
    library: str
    version: str
    weak: bool


class Symbols:
    """The dynamic symbol table of one 64-bit little-endian file, read where needed."""

    def __init__(self, pread: Pread, size: int) -> None:
        self.image = Image(pread, size)
        if self.image.bits != 64 or self.image.order != "<":
            raise MalformedError("symbols are read from 64-bit little-endian files only")
        headers = self.image.program_headers()
        self._loads = [(offset, start, length) for kind, offset, start, length in headers if kind == 1]
        self._tags = dynamic_entries(self.image, headers)

    def place(self, address: int) -> int:
        """The file offset of an address."""
        return offset_of(address, self._loads)

    def _table(self, tag: int) -> int:
        if tag not in self._tags:
            raise MalformedError(f"no dynamic tag {tag:#x}")
        return self.place(self._tags[tag][0])

    @cached_property
    def _symtab(self) -> int:
        return self._table(_DT_SYMTAB)

    @cached_property
    def _strings(self) -> bytes:
        size = self._tags.get(_DT_STRSZ, [0])[0]
        if size > self.image.size:
            raise MalformedError(f"a string table of {size} bytes")
        return self.image.take(self._table(_DT_STRTAB), size, "dynamic strings")

    def _name_at(self, offset: int) -> bytes:
        start = self._table(_DT_STRTAB) + offset
        raw = self.image.pread(start, 512)
        return raw.split(b"\0", 1)[0]

    def _text_at(self, offset: int) -> str:
        return self._name_at(offset).decode("utf-8", "replace")

    def find(self, name: str) -> Symbol | None:
        """A symbol that this file defines, through whichever hash table it has."""
        wanted = name.encode("utf-8", "surrogateescape")
        return self._find_gnu(wanted, self._gnu) if self._gnu else self._find_sysv(wanted)

    def _find_gnu(self, wanted: bytes, table: tuple[int, int, int, bytes, int]) -> Symbol | None:
        buckets, first, shift, bloom, base = table
        value = 5381
        for byte in wanted:
            value = (value * 33 + byte) & 0xFFFFFFFF
        word = struct.unpack_from("<Q", bloom, (value // 64) % (len(bloom) // 8) * 8)[0]
        if not (word >> (value % 64) & 1 and word >> ((value >> shift) % 64) & 1):
            return None
        (start,) = struct.unpack("<I", self.image.take(base + value % buckets * 4, 4, "hash bucket"))
        chains = base + buckets * 4
        for index in range(start, start + _MAX_CHAIN) if start >= first else ():
            (hashed,) = struct.unpack("<I", self.image.take(chains + (index - first) * 4, 4, "hash chain"))
            if hashed | 1 == value | 1:
                found = self._symbol(index, wanted)
                if found:
                    return found
            if hashed & 1:
                break
        return None

    def _find_sysv(self, wanted: bytes) -> Symbol | None:
        if _DT_HASH not in self._tags:
            raise MalformedError("no hash table")
        start = self._table(_DT_HASH)
        buckets, count = struct.unpack("<II", self.image.take(start, 8, "hash header"))
        if not buckets:
            return None
        value = 0
        for byte in wanted:
            value = (value << 4) + byte
            value = (value ^ (value >> 24 & 0xF0)) & 0x0FFFFFFF
        place, seen = start + 8 + value % buckets * 4, set()
        for _ in range(min(count, _MAX_CHAIN)):
            (index,) = struct.unpack("<I", self.image.take(place, 4, "hash chain"))
            if not index:
                return None
            if index in seen:
                raise MalformedError("a hash chain without an end", place)
            seen.add(index)
            found = self._symbol(index, wanted)
            if found:
                return found
            place = start + 8 + (buckets + index) * 4
        return None

    @cached_property
    def _gnu(self) -> tuple[int, int, int, bytes, int] | None:
        """(bucket count, first symbol, bloom shift, bloom words, offset of the buckets)."""
        if _DT_GNU_HASH not in self._tags:
            return None
        start = self._table(_DT_GNU_HASH)
        buckets, first, words, shift = struct.unpack("<IIII", self.image.take(start, 16, "GNU hash header"))
        if not buckets or not words or words * 8 > self.image.size:
            return None
        bloom = self.image.take(start + 16, words * 8, "GNU hash bloom filter")
        return buckets, first, shift, bloom, start + 16 + words * 8

    def _symbol(self, index: int, wanted: bytes) -> Symbol | None:
        raw = self.image.take(self._symtab + index * 24, 24, "symbol")
        name, _, _, section, address, size = struct.unpack("<IBBHQQ", raw)
        return Symbol(address, size) if section and self._name_at(name) == wanted else None

    def imports(self, match: str) -> tuple[Import, ...]:
        """The undefined symbols whose names start as the pattern `match` says, in table order."""
        raw = self.image.take(self._symtab, self._count() * 24, "symbol table")
        strings, versions, fits = self._strings, self._versions, re.compile(match.encode()).match
        versym = self._versym(len(raw) // 24) if versions else b""
        out = []
        for index, (name, info, _, section, _, _) in enumerate(struct.iter_unpack("<IBBHQQ", raw)):
            if section or not name or not fits(strings, name):
                continue
            text = strings[name : strings.find(b"\0", name)].decode("utf-8", "surrogateescape")
            node = struct.unpack_from("<H", versym, index * 2)[0] & 0x7FFF if versym else 0
            library, version = versions.get(node, ("", ""))
            out.append(Import(text, library, version, info >> 4 == _WEAK))
        return tuple(out)

    def _count(self) -> int:
        """How many symbols there are: the hash tables know."""
        if _DT_HASH in self._tags:
            _, count = struct.unpack("<II", self.image.take(self._table(_DT_HASH), 8, "hash header"))
        else:
            count = self._count_gnu()
        if count > _MAX_SYMBOLS:
            raise MalformedError(f"{count} dynamic symbols")
        return int(count)

    def _count_gnu(self) -> int:
        if self._gnu is None:
            raise MalformedError("no hash table")
        buckets, first, _, _, base = self._gnu
        if buckets * 4 > self.image.size:
            raise MalformedError(f"{buckets} hash buckets", base)
        raw = self.image.take(base, buckets * 4, "hash buckets")
        last = max(struct.unpack(f"<{buckets}I", raw), default=0)
        if last < first:
            return first
        chains = base + buckets * 4
        for index in range(last, last + _MAX_CHAIN):
            (hashed,) = struct.unpack("<I", self.image.take(chains + (index - first) * 4, 4, "hash chain"))
            if hashed & 1:
                return index + 1
        raise MalformedError("a hash chain without an end", chains)

    def _versym(self, count: int) -> bytes:
        return (
            self.image.take(self._table(_DT_VERSYM), count * 2, "symbol versions") if _DT_VERSYM in self._tags else b""
        )

    @cached_property
    def _versions(self) -> dict[int, tuple[str, str]]:
        """Version index → (library, version name), from DT_VERNEED."""
        out: dict[int, tuple[str, str]] = {}
        if _DT_VERNEED not in self._tags:
            return out
        place = self._table(_DT_VERNEED)
        for _ in range(min(self._tags.get(_DT_VERNEEDNUM, [0])[0], _MAX_VERSIONS)):
            _, count, file, aux, following = struct.unpack("<HHIII", self.image.take(place, 16, "version need"))
            spot = place + aux
            for _ in range(min(count, _MAX_NODES)):
                _, _, other, name, step = struct.unpack("<IHHII", self.image.take(spot, 16, "version need entry"))
                out[other & 0x7FFF] = (self._text_at(file), self._text_at(name))
                spot += step
                if not step:
                    break
            place += following
            if not following:
                break
        return out
