"""Dynamic symbols of an ELF file, the versions that it needs and defines, and its build id."""

import re
import struct
from collections.abc import Iterator
from functools import cached_property

import msgspec

from gpuwhy.formats import MalformedError, Pread, Symbol
from gpuwhy.formats.elf import DT_STRTAB, PT_NOTE, Image

_DT_HASH, _DT_SYMTAB, _DT_STRSZ, _DT_GNU_HASH = 4, 6, 10, 0x6FFFFEF5
_DT_VERDEF, _DT_VERDEFNUM, _DT_VERNEED, _DT_VERNEEDNUM = range(0x6FFFFFFC, 0x70000000)
_MAX_SYMBOLS, _MAX_CHAIN = 4_000_000, 100_000
_MAX_VERSIONS, _MAX_NOTES = 1024, 64
_WEAK_SYMBOL = 2
_BASE, _WEAK = 1, 2  # flags of a version
_NT_GNU_BUILD_ID = 3
_GLIBC = re.compile(r"GLIBC_(\d+)\.(\d+)(?:\.\d+)?$")


class Import(msgspec.Struct, frozen=True):
    """An undefined symbol; a weak one may stay so."""

    name: str
    weak: bool


class VersionNeed(msgspec.Struct, frozen=True):
    """The versions needed of one library, without weak ones, of which the loader only warns."""

    library: str
    versions: tuple[str, ...]


class Versions(msgspec.Struct, frozen=True):
    """The symbol versions of one file, and its build id in hexadecimal ("" when it has none)."""

    needs: tuple[VersionNeed, ...]
    defines: tuple[str, ...]
    build_id: str

    @property
    def glibc(self) -> str:
        """The oldest glibc that offers every version needed ("2.28"); "" when none is needed."""
        asked = [m for need in self.needs for name in need.versions if (m := _GLIBC.match(name))]
        highest = max(((int(m[1]), int(m[2])) for m in asked), default=None)
        return f"{highest[0]}.{highest[1]}" if highest else ""


class _GnuHash(msgspec.Struct, frozen=True):
    """The header of a DT_GNU_HASH table, its bloom filter, and where its parts lie."""

    buckets: int
    first: int  # symbol
    shift: int
    bloom: bytes
    base: int  # offset of the buckets
    chains: int  # offset of the chains

    def may_have(self, value: int) -> bool:
        """Whether the bloom filter admits a hash."""
        place = (value // 64) % (len(self.bloom) // 8) * 8
        word: int = struct.unpack_from("<Q", self.bloom, place)[0]
        return bool(word >> (value % 64) & 1 and word >> ((value >> self.shift) % 64) & 1)


class Symbols:
    """The dynamic symbol table of one 64-bit little-endian file, read where needed."""

    def __init__(self, pread: Pread, size: int) -> None:
        self.image = Image(pread, size)
        if not self.image.wide or self.image.order != "<":
            raise MalformedError("symbols are read from 64-bit little-endian files only")
        self.place = self.image.place
        self._tags = self.image.tags

    def find(self, name: str) -> Symbol | None:
        """A symbol that this file defines, through whichever hash table it has."""
        wanted = name.encode("utf-8", "surrogateescape")
        return self._find_gnu(wanted, self._gnu) if self._gnu else self._find_sysv(wanted)

    def imports(self, match: str) -> tuple[Import, ...]:
        """The undefined symbols whose names start as the pattern `match` says, in table order."""
        raw = self.image.take(self._symtab, self._count() * 24, "symbol table")
        size = self._tags.get(_DT_STRSZ, [0])[0]
        if size > self.image.size:
            raise MalformedError(f"a string table of {size} bytes")
        strings = self.image.take(self._table(DT_STRTAB), size, "dynamic strings")
        fits = re.compile(match.encode()).match
        out = []
        for name, info, _, section, _, _ in struct.iter_unpack("<IBBHQQ", raw):
            if not section and name and fits(strings, name):
                text = strings[name : strings.find(b"\0", name)].decode("utf-8", "surrogateescape")
                out.append(Import(text, info >> 4 == _WEAK_SYMBOL))
        return tuple(out)

    def _table(self, tag: int) -> int:
        if tag not in self._tags:
            raise MalformedError(f"no dynamic tag {tag:#x}")
        return self.place(self._tags[tag][0])

    @cached_property
    def _symtab(self) -> int:
        return self._table(_DT_SYMTAB)

    @cached_property
    def _gnu(self) -> _GnuHash | None:
        if _DT_GNU_HASH not in self._tags:
            return None
        start = self._table(_DT_GNU_HASH)
        buckets, first, words, shift = self.image.unpack("IIII", start, "GNU hash header")
        if not buckets or not words or words * 8 > self.image.size:
            return None
        bloom = self.image.take(start + 16, words * 8, "GNU hash bloom filter")
        base = start + 16 + words * 8
        return _GnuHash(buckets, first, shift, bloom, base, base + buckets * 4)

    def _word(self, place: int) -> int:
        number: int = struct.unpack("<I", self.image.take(place, 4, "hash table"))[0]
        return number

    def _find_gnu(self, wanted: bytes, table: _GnuHash) -> Symbol | None:
        value = 5381
        for byte in wanted:
            value = (value * 33 + byte) & 0xFFFFFFFF
        if not table.may_have(value):
            return None
        start = self._word(table.base + value % table.buckets * 4)
        if start < table.first:
            return None
        for index in range(start, start + _MAX_CHAIN):
            hashed = self._word(table.chains + (index - table.first) * 4)
            if hashed | 1 == value | 1 and (found := self._symbol(index, wanted)):
                return found
            if hashed & 1:
                break
        return None

    def _find_sysv(self, wanted: bytes) -> Symbol | None:
        buckets, count = self._sysv()
        if not buckets:
            return None
        value = 0
        for byte in wanted:
            value = (value << 4) + byte
            value = (value ^ (value >> 24 & 0xF0)) & 0x0FFFFFFF
        table = self._table(_DT_HASH) + 8
        place, seen = table + value % buckets * 4, set[int]()
        for _ in range(min(count, _MAX_CHAIN)):
            index = self._word(place)
            if not index:
                return None
            if index in seen:
                raise MalformedError("a hash chain without an end", place)
            seen.add(index)
            if found := self._symbol(index, wanted):
                return found
            place = table + (buckets + index) * 4
        return None

    def _sysv(self) -> tuple[int, ...]:
        """How many buckets and symbols the older hash table has."""
        if _DT_HASH not in self._tags:
            raise MalformedError("no hash table")
        return self.image.unpack("II", self._table(_DT_HASH), "hash header")

    def _symbol(self, index: int, wanted: bytes) -> Symbol | None:
        raw = self.image.take(self._symtab + index * 24, 24, "symbol")
        name, _, _, section, address, size = struct.unpack("<IBBHQQ", raw)
        ended = wanted + b"\0"
        place = self.image.strings + name
        same = bool(section) and self.image.pread(place, len(ended)) == ended
        return Symbol(address, size) if same else None

    def _count(self) -> int:
        """How many symbols there are: the hash tables know."""
        count = self._sysv()[1] if _DT_HASH in self._tags else self._count_gnu()
        if count > _MAX_SYMBOLS:
            raise MalformedError(f"{count} dynamic symbols")
        return count

    def _count_gnu(self) -> int:
        table = self._gnu
        if table is None:
            raise MalformedError("no hash table")
        if table.buckets * 4 > self.image.size:
            raise MalformedError(f"{table.buckets} hash buckets", table.base)
        raw = self.image.take(table.base, table.buckets * 4, "hash buckets")
        last = max(struct.unpack(f"<{table.buckets}I", raw), default=0)
        if last < table.first:
            return table.first
        for index in range(last, last + _MAX_CHAIN):
            if self._word(table.chains + (index - table.first) * 4) & 1:
                return index + 1
        raise MalformedError("a hash chain without an end", table.chains)


# ---------------------------------------------------------------- versions


def read_versions(pread: Pread, size: int) -> Versions:
    """Read symbol versions and build id; raises MalformedError where the tables make no sense."""
    image = Image(pread, size)
    return Versions(tuple(_needs(image)), tuple(_defines(image)), _build_id(image))


def _linked(image: Image, place: int, form: str, count: int) -> Iterator[tuple[int, ...]]:
    """The rows of a linked list, each with its place first; the last field leads to the next."""
    rows = struct.Struct(image.order + form)
    for _ in range(min(count, _MAX_VERSIONS)):
        row = rows.unpack(image.take(place, rows.size, "symbol version"))
        yield (place, *row)
        place += row[-1]
        if not row[-1]:
            return


def _listed(image: Image, table: int, number: int, form: str) -> Iterator[tuple[int, ...]]:
    """The rows of one of the two tables of versions; none where the file has no such table."""
    if table in image.tags and DT_STRTAB in image.tags:
        count, place = image.tags.get(number, [0])[0], image.place(image.tags[table][0])
        yield from _linked(image, place, form, count)


def _name(image: Image, offset: int) -> str:
    return image.text(image.strings + offset, errors="replace")


def _needs(image: Image) -> Iterator[VersionNeed]:
    rows = _listed(image, _DT_VERNEED, _DT_VERNEEDNUM, "HHIII")
    for place, _, count, file, first, _ in rows:
        asked = _linked(image, place + first, "IHHII", count)
        names = tuple(_name(image, name) for _, _, flags, _, name, _ in asked if not flags & _WEAK)
        yield VersionNeed(_name(image, file), names)


def _defines(image: Image) -> Iterator[str]:
    rows = _listed(image, _DT_VERDEF, _DT_VERDEFNUM, "HHHHIII")
    for place, _, flags, _, _, _, first, _ in rows:
        if not flags & _BASE:
            yield _name(image, image.unpack("II", place + first, "symbol version")[0])


def _build_id(image: Image) -> str:
    for segment in image.segments:
        place, end = segment.offset, min(segment.offset + segment.size, image.size)
        for _ in range(_MAX_NOTES if segment.kind == PT_NOTE else 0):
            if place + 12 > end:
                break
            owner, length, kind = image.unpack("III", place, "note")
            body = place + 12 + (owner + 3 & ~3)
            is_id = kind == _NT_GNU_BUILD_ID and image.pread(place + 12, 4) == b"GNU\0"
            if is_id and length <= 64:
                return image.pread(body, length).hex()
            place = body + (length + 3 & ~3)
    return ""
