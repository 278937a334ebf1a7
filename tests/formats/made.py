"""Small inputs made by hand: ELF libraries, CUDA fatbins, loader caches and wheels."""

import io
import struct
import zipfile
from collections.abc import Sequence

from gpuwhy.formats import Pread
from gpuwhy.formats.ldcache import CacheEntry

def over(data: bytes) -> Pread:
    """A pread over bytes that refuses what the operating system's refuses."""

    def pread(offset: int, size: int) -> bytes:
        assert 0 <= offset < 2**63, offset
        assert 0 <= size < 64 << 20, size
        return data[offset : offset + size]

    return pread


def number(value: int) -> bytes:
    return struct.pack("<I", value)


HEADER = 64
_DYNAMIC_AT = HEADER + 2 * 56


def _library(size: int, dynamic_at: int, dynamic: bytes) -> bytes:
    """An ELF header, a segment that holds everything, and one for the dynamic section."""
    header = struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, HEADER, 0, 0, 64, 56, 2, 64, 0, 0)
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, size, size, 4096)
    at, length = dynamic_at, len(dynamic)
    second = struct.pack("<IIQQQQQQ", 2, 6, at, at, at, length, length, 8)
    return b"\x7fELF\x02\x01\x01" + bytes(9) + header + load + second


def elf(needed: Sequence[str], soname: str = "", runpath: str = "", padding: int = 0) -> bytes:
    """A library with nothing but strings and, after `padding` zeros, a dynamic section."""
    strings, offsets = b"\0", {}
    for text in (*needed, soname, runpath):
        offsets[text] = len(strings)
        strings += text.encode() + b"\0"
    place = _DYNAMIC_AT + len(strings) + padding
    place += -place % 8
    tags = [(1, offsets[name]) for name in needed]
    tags += [(tag, offsets[text]) for tag, text in ((14, soname), (29, runpath)) if text]
    tags += [(5, _DYNAMIC_AT), (10, len(strings)), (0, 0)]
    dynamic = b"".join(struct.pack("<qQ", *tag) for tag in tags)
    head = _library(place + len(dynamic), place, dynamic)
    return (head + strings).ljust(place, b"\0") + dynamic


def with_symbol(name: str, code: bytes) -> bytes:
    """A library that defines `name` with these instructions and needs malloc of libc.

    It has both kinds of hash table.
    """
    start = _DYNAMIC_AT + 16 * 14
    strings, at = b"\0", {}
    for text in ("malloc", name, "libc.so.6", "GLIBC_2.2.5", "libs.so"):
        at[text] = len(strings)
        strings += text.encode() + b"\0"
    symtab = bytes(24) + struct.pack("<IBBHQQ", at["malloc"], 0x12, 0, 0, 0, 0)
    symtab += struct.pack("<IBBHQQ", at[name], 0x12, 0, 1, start, len(code))
    value = 5381
    for byte in name.encode():
        value = (value * 33 + byte) & 0xFFFFFFFF
    gnu = struct.pack("<IIIIQII", 1, 2, 1, 6, 2**64 - 1, 2, value | 1)
    sysv = struct.pack("<IIIIII", 1, 3, 2, 0, 0, 0)
    versym = struct.pack("<HHHH", 0, 2, 1, 0)
    needed = at["libc.so.6"], at["GLIBC_2.2.5"]
    need = struct.pack("<HHIIIIHHII", 1, 1, needed[0], 16, 0, 0, 0, 2, needed[1], 0)
    tags = [(1, needed[0]), (14, at["libs.so"]), (0x6FFFFFFF, 1), (10, len(strings))]
    body = code
    parts = {6: symtab, 0x6FFFFEF5: gnu, 4: sysv, 0x6FFFFFF0: versym, 0x6FFFFFFE: need, 5: strings}
    for tag, part in parts.items():
        tags.append((tag, start + len(body)))
        body += part
    dynamic = b"".join(struct.pack("<qQ", *one) for one in tags).ljust(16 * 14, b"\0")
    return _library(start + len(body), _DYNAMIC_AT, dynamic) + dynamic + body


PTX, SASS = 1, 2
FATBIN = 0xBA55ED50


def entry(kind: int, arch: int, payload: bytes = b"code", flags: int = 0) -> bytes:
    head = struct.pack("<HHIQ12xI8xQ16x", kind, 0x101, 64, len(payload), arch, flags)
    return head + payload


def container(*entries: bytes) -> bytes:
    payload = b"".join(entries)
    return struct.pack("<IHHQ", FATBIN, 1, 16, len(payload)) + payload


def padded(data: bytes, to: int = 8) -> bytes:
    return data + bytes(-len(data) % to)


def library(fatbin: bytes, name: str = ".nv_fatbin") -> bytes:
    """An ELF file with one section of that name, at offset 64."""
    names = b"\0" + name.encode() + b"\0.shstrtab\0"
    names_at = 64 + len(fatbin)
    rows = bytes(64)
    rows += struct.pack("<IIQQQQIIQQ", 1, 1, 2, 0, 64, len(fatbin), 0, 0, 8, 0)
    rows += struct.pack("<IIQQQQIIQQ", len(name) + 2, 3, 0, 0, names_at, len(names), 0, 0, 1, 0)
    table_at = names_at + len(names)
    header = struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, table_at, 0, 64, 56, 0, 64, 3, 2)
    return b"\x7fELF\x02\x01\x01" + bytes(9) + header + fatbin + names + rows


X86_64, I386 = 0x0303, 0x0003


def new_format(entries: Sequence[CacheEntry]) -> bytes:
    rows, strings = b"", b""
    start = 48 + 24 * len(entries)
    for one in entries:
        key = start + len(strings)
        strings += one.name.encode() + b"\0"
        value = start + len(strings)
        strings += one.path.encode() + b"\0"
        rows += struct.pack("<iIIIQ", one.flags, key, value, 0, one.hwcap)
    head = b"glibc-ld.so.cache1.1" + struct.pack("<II", len(entries), len(strings)) + bytes(20)
    return head + rows + strings


def old_format(entries: Sequence[CacheEntry]) -> bytes:
    rows, strings = b"", b""
    for one in entries:
        key = len(strings)
        strings += one.name.encode() + b"\0"
        rows += struct.pack("<iII", one.flags, key, len(strings))
        strings += one.path.encode() + b"\0"
    return b"ld.so-1.7.0\0" + struct.pack("<I", len(entries)) + rows + strings


def with_levels(one: CacheEntry, *levels: str) -> bytes:
    """A cache whose extension part names glibc-hwcaps levels (glibc 2.33 and newer)."""
    data, places = new_format([one]), []
    for level in levels:
        places.append(len(data))
        data += level.encode() + b"\0"
    data = padded(data, 4)
    head = struct.pack("<IIIIII", 0xEAA42174, 1, 1, 0, len(data) + 24, 4 * len(places))
    listed = struct.pack(f"<{len(places)}I", *places)
    return data[:32] + struct.pack("<I", len(data)) + data[36:] + head + listed


METADATA = (
    "Metadata-Version: 2.1\nName: demo\nVersion: 1.2\nRequires-Dist: numpy\n"
    "Requires-Dist: nvidia-cudnn-cu12 (==9.1.0.70)\n\nRequires-Dist: not-a-header\n"
)


def wheel(members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A wheel with metadata and some members."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
        archive.writestr("demo-1.2.dist-info/METADATA", METADATA)
        tag = "Wheel-Version: 1.0\nTag: py3-none-linux_x86_64\n"
        archive.writestr("demo-1.2.dist-info/WHEEL", tag)
    return out.getvalue()
