"""A library made by hand, of a few hundred bytes, that defines one function and asks for another."""

from __future__ import annotations

import struct

CODE_AT = 64 + 2 * 56 + 16 * 14


def with_symbol(name: str, code: bytes) -> bytes:
    """It defines `name` with these instructions and needs malloc of libc, with both kinds of hash table."""
    strings = b"\0malloc\0" + name.encode() + b"\0libc.so.6\0GLIBC_2.2.5\0libs.so\0"
    at = {
        text: strings.index(text.encode() + b"\0") for text in ("malloc", name, "libc.so.6", "GLIBC_2.2.5", "libs.so")
    }
    symtab = bytes(24) + struct.pack("<IBBHQQ", at["malloc"], 0x12, 0, 0, 0, 0)
    symtab += struct.pack("<IBBHQQ", at[name], 0x12, 0, 1, CODE_AT, len(code))
    value = 5381
    for byte in name.encode():
        value = (value * 33 + byte) & 0xFFFFFFFF
    gnu = struct.pack("<IIIIQII", 1, 2, 1, 6, 2**64 - 1, 2, value | 1)
    sysv = struct.pack("<IIIIII", 1, 3, 2, 0, 0, 0)
    versym = struct.pack("<HHHH", 0, 2, 1, 0)
    need = struct.pack("<HHIIIIHHII", 1, 1, at["libc.so.6"], 16, 0, 0, 0, 2, at["GLIBC_2.2.5"], 0)
    parts = {0: code, 6: symtab, 0x6FFFFEF5: gnu, 4: sysv, 0x6FFFFFF0: versym, 0x6FFFFFFE: need, 5: strings}
    tags, body = [(1, at["libc.so.6"]), (14, at["libs.so"]), (0x6FFFFFFF, 1), (10, len(strings))], b""
    for tag, part in parts.items():
        tags += [(tag, CODE_AT + len(body))] if tag else []
        body += part
    size = CODE_AT + len(body)
    dynamic = b"".join(struct.pack("<qQ", *one) for one in tags).ljust(16 * 14, b"\0")
    header = struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 2, 64, 0, 0)
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, size, size, 4096)
    points = struct.pack("<IIQQQQQQ", 2, 6, 176, 176, 0, len(dynamic), len(dynamic), 8)
    return b"\x7fELF\x02\x01\x01" + bytes(9) + header + load + points + dynamic + body
