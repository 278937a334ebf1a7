"""Tiny ELF files with one code and one read-only section, to be read like a framework's library."""

import struct

CODE, TEXT = 0x1000, 0x4000  # file offset = address


def elf(code: bytes, text: bytes) -> bytes:
    """An x86-64 shared object: code at 0x1000, constants at 0x4000."""
    data = bytearray(0x5000)
    data[:16] = b"\x7fELF\x02\x01\x01" + bytes(9)
    struct.pack_into("<HHIQQQIHHHHHH", data, 16, 3, 62, 1, 0, 0, 0x4800, 0, 64, 56, 0, 64, 3, 0)
    data[CODE : CODE + len(code)] = code
    data[TEXT : TEXT + len(text)] = text
    for number, (flags, place, size) in enumerate([(6, CODE, 0x2000), (2, TEXT, 0x400)], 1):
        struct.pack_into("<IIQQQQIIQQ", data, 0x4800 + 64 * number, 0, 1, flags, place, place, size, 0, 0, 16, 0)
    return bytes(data)


def lea(register: str, at: int, target: int) -> bytes:
    """`lea register, [rip + …]` for an instruction at a place in the code."""
    head = {"rax": b"\x48\x8d\x05", "rdx": b"\x48\x8d\x15", "rsi": b"\x48\x8d\x35"}[register]
    return head + struct.pack("<i", target - (at + 7))


def call(at: int, target: int) -> bytes:
    """`call target` for an instruction at a place in the code."""
    return b"\xe8" + struct.pack("<i", target - (at + 5))
