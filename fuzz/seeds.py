"""Write the seeds of every harness into a folder: a few small files each, made here, none copied from elsewhere."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.binary.test_elf import tiny
from tests.binary.test_fatbin import PTX, SASS, container, entry, library, padded
from tests.binary.test_ldcache import I386, X86_64, new_format, old_format

from gpuwhy.binary.ldcache import CacheEntry

ENTRIES = [CacheEntry("libcuda.so.1", "/usr/lib/libcuda.so.1", X86_64, 0), CacheEntry("libb.so", "/l/b", I386, 1 << 62)]


def with_symbols() -> bytes:
    """A library that defines cudnnGetVersion (mov eax, 92700; ret) and asks for malloc, with both hash tables."""
    strings = b"\0malloc\0cudnnGetVersion\0libc.so.6\0GLIBC_2.2.5\0libs.so\0"
    at = {name: strings.index(name.encode() + b"\0") for name in ("malloc", "cudnnGetVersion", "libc.so.6", "libs.so")}
    start = 64 + 2 * 56 + 16 * 14
    code = b"\xb8" + struct.pack("<I", 92700) + b"\xc3\0\0"
    symtab = bytes(24) + struct.pack("<IBBHQQ", at["malloc"], 0x12, 0, 0, 0, 0)
    symtab += struct.pack("<IBBHQQ", at["cudnnGetVersion"], 0x12, 0, 1, start, 6)
    value = 5381
    for byte in b"cudnnGetVersion":
        value = (value * 33 + byte) & 0xFFFFFFFF
    gnu = struct.pack("<IIII", 1, 2, 1, 6) + struct.pack("<Q", 2**64 - 1) + struct.pack("<II", 2, value | 1)
    sysv = struct.pack("<IIIIII", 1, 3, 2, 0, 0, 0)
    versym = struct.pack("<HHHH", 0, 2, 1, 0)
    need = struct.pack("<HHIII", 1, 1, at["libc.so.6"], 16, 0)
    need += struct.pack("<IHHII", 0, 0, 2, strings.index(b"GLIBC_2.2.5"), 0)
    parts = {0: code, 6: symtab, 0x6FFFFEF5: gnu, 4: sysv, 0x6FFFFFF0: versym, 0x6FFFFFFE: need, 5: strings}
    place, tags, body = start, [(1, at["libc.so.6"]), (14, at["libs.so"]), (0x6FFFFFFF, 1), (10, len(strings))], b""
    for tag, part in parts.items():
        tags += [(tag, place)] if tag else []
        body += part
        place += len(part)
    dynamic = b"".join(struct.pack("<qQ", *one) for one in tags).ljust(16 * 14, b"\0")
    header = struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 2, 64, 0, 0)
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, place, place, 4096)
    points = struct.pack("<IIQQQQQQ", 2, 6, 176, 176, 0, len(dynamic), len(dynamic), 8)
    return b"\x7fELF\x02\x01\x01" + bytes(9) + header + load + points + dynamic + body


def hwcaps_cache() -> bytes:
    """A cache with an extension part that names a level."""
    plain = new_format([CacheEntry("libb.so", "/l/glibc-hwcaps/x86-64-v3/b", X86_64, 1 << 62)])
    name = len(plain)
    data = plain + b"x86-64-v3\0\0\0"
    data += bytes(-len(data) % 4)
    extension = struct.pack("<IIIIIII", 0xEAA42174, 1, 1, 0, len(data) + 24, 4, name)
    return data[:32] + struct.pack("<I", len(data)) + data[36:] + extension


def seeds() -> dict[str, list[bytes]]:
    """Harness → its seeds."""
    elves = [tiny(), tiny(runpath="/a:" * 200), with_symbols()]
    code = container(entry(SASS, 90, flags=0x100000), entry(PTX, 90))
    return {
        "elf": elves,
        "symbols": elves,
        "cudaversion": elves,
        "fatbin": [library(padded(code) * 2), library(code, "__nv_relfatbin")],
        "ldcache": [new_format(ENTRIES), old_format(ENTRIES), hwcaps_cache()],
    }


def main() -> None:
    """Write them, numbered."""
    for harness, files in seeds().items():
        folder = Path(sys.argv[1]) / harness
        folder.mkdir(parents=True, exist_ok=True)
        for number, data in enumerate(files):
            (folder / f"seed-{number}").write_bytes(data)


if __name__ == "__main__":
    main()
