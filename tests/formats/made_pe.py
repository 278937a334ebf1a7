"""Builds small PE files: headers, one section with every table, further sections as given."""

import struct
from collections.abc import Mapping, Sequence

BASE = 0x1000  # address of the first section
FIRST = 0x400  # its place in the file
X86_64, I386, ARM64 = 0x8664, 0x14C, 0xAA64


class _Section:
    """Bytes that grow; `add` gives the address of what was added."""

    def __init__(self) -> None:
        self.data = bytearray()

    def add(self, raw: bytes, align: int = 8) -> int:
        self.data += b"\0" * (-len(self.data) % align)
        place = BASE + len(self.data)
        self.data += raw
        return place

    def text(self, text: str) -> int:
        return self.add(text.encode() + b"\0", 1)


def _imports(section: _Section, imports: Mapping[str, Sequence[str]], bits: int) -> tuple[int, int]:
    word = "<Q" if bits == 64 else "<I"
    rows = b""
    for dll, names in imports.items():
        hints = [section.add(b"\0\0" + name.encode() + b"\0", 2) for name in names]
        table = section.add(b"".join(struct.pack(word, hint) for hint in [*hints, 0]))
        rows += struct.pack("<IIIII", table, 0, 0, section.text(dll), table)
    return section.add(rows + bytes(20)), len(rows) + 20


def _delayed(section: _Section, names: Sequence[str]) -> tuple[int, int]:
    rows = b"".join(struct.pack("<II24x", 1, section.text(name)) for name in names)
    return section.add(rows + bytes(32)), len(rows) + 32


def _exports(section: _Section, exports: Mapping[str, bytes]) -> tuple[int, int]:
    names = sorted(exports)
    code = [section.add(exports[name]) for name in names]
    texts = [section.text(name) for name in names]
    count = len(names)
    addresses = section.add(struct.pack(f"<{count}I", *code))
    pointers = section.add(struct.pack(f"<{count}I", *texts))
    ordinals = section.add(struct.pack(f"<{count}H", *range(count)))
    own = section.text("made.dll")
    row = (0, 0, 0, 0, own, 1, count, count, addresses, pointers, ordinals)
    return section.add(struct.pack("<IIHHIIIIIII", *row)), 40


def _version(version: tuple[int, int, int, int], strings: Mapping[str, str]) -> bytes:
    a, b, c, d = version
    fixed = struct.pack("<IIII", 0xFEEF04BD, 0x10000, a << 16 | b, c << 16 | d) + bytes(36)
    out = bytearray(b"\0" * 6 + "VS_VERSION_INFO\0".encode("utf-16-le"))
    out += b"\0" * (-len(out) % 4) + fixed
    for key, value in strings.items():
        out += b"\0" * (-len(out) % 4) + struct.pack("<HHH", 0, len(value) + 1, 1)
        out += f"{key}\0".encode("utf-16-le")
        out += b"\0" * (-len(out) % 4) + f"{value}\0".encode("utf-16-le")
    return bytes(out)


def _resources(section: _Section, held: Mapping[int, bytes]) -> tuple[int, int]:
    """Folders of kind, name and language, each with one entry below the first."""
    places = {kind: (section.add(data, 4), len(data)) for kind, data in held.items()}
    count, step = len(held), 24
    below = 16 + 8 * count
    root = bytes(12) + struct.pack("<HH", 0, count)
    rest = b""
    for number, (kind, (address, size)) in enumerate(sorted(places.items())):
        start = below + number * (2 * step + 16)
        root += struct.pack("<II", kind, start | 1 << 31)
        for following in (start + step | 1 << 31, start + 2 * step):
            rest += bytes(12) + struct.pack("<HHII", 0, 1, 1, following)
        rest += struct.pack("<IIII", address, size, 0, 0)
    return section.add(root + rest, 16), len(root + rest)


def pe(
    imports: Mapping[str, Sequence[str]] | None = None,
    *,
    delayed: Sequence[str] = (),
    exports: Mapping[str, bytes] | None = None,
    version: tuple[int, int, int, int] | None = None,
    strings: Mapping[str, str] | None = None,
    machine: int = X86_64,
    sections: Mapping[str, bytes] | None = None,
    dll: bool = True,
) -> bytes:
    """A PE file with these tables."""
    bits = 32 if machine == I386 else 64
    section = _Section()
    section.add(b"\0" * 16)
    directories = [(0, 0)] * 16
    if exports:
        directories[0] = _exports(section, exports)
    if imports:
        directories[1] = _imports(section, imports, bits)
    held = {16: _version(version, strings or {})} if version else {}
    if held:
        directories[2] = _resources(section, held)
    if delayed:
        directories[13] = _delayed(section, delayed)
    return _file(bytes(section.data), directories, machine, bits, {**(sections or {})}, dll)


def _file(
    tables: bytes, directories: list[tuple[int, int]], machine: int, bits: int, more: dict[str, bytes], dll: bool
) -> bytes:
    rows, body, address = b"", b"", BASE
    for name, data in {".rdata": tables, **more}.items():
        data += b"\0" * (-len(data) % 512)
        place = FIRST + len(body)
        sizes = (len(data), address, len(data), place)
        rows += struct.pack("<8sIIII12xI", name.encode()[:8], *sizes, 0x60000060)
        body += data
        address += len(data) + -len(data) % 0x1000
    count = len(more) + 1
    stacks = (1 << 20, 4096, 1 << 20, 4096, 0, 16)
    if bits == 64:
        optional = struct.pack("<HBBIIIIIQ", 0x20B, 14, 0, 512, len(body), 0, 0, BASE, 0x180000000)
        last = struct.pack("<QQQQII", *stacks)
    else:
        optional = struct.pack("<HBBIIIIIII", 0x10B, 14, 0, 512, len(body), 0, 0, BASE, 0, 1 << 28)
        last = struct.pack("<IIIIII", *stacks)
    optional += struct.pack("<IIH6xH6xII4xHH", 0x1000, 0x200, 6, 6, address, FIRST, 3, 0) + last
    optional += b"".join(struct.pack("<II", *one) for one in directories)
    flags = 0x22 | (0x2000 if dll else 0)
    head = b"MZ" + bytes(58) + struct.pack("<I", 64) + b"PE\0\0"
    head += struct.pack("<HHIIIHH", machine, count, 0, 0, 0, len(optional), flags) + optional + rows
    return head + b"\0" * (FIRST - len(head)) + body


RICH = pe(
    {"cublasLt64_11.dll": ["cublasLtCreate", "cublasLtMatmul"], "KERNEL32.dll": ["LoadLibraryA"]},
    delayed=["nvcuda.dll"],
    exports={"cudnnGetVersion": b"\xb8\xb5\x1d\0\0\xc3", "alpha": b"\xc3", "zeta": b"\xc3"},
    version=(6, 14, 11, 10010),
    strings={"FileDescription": "NVIDIA CUDA 10.1.243 Runtime", "ProductVersion": "6,14,11,10010"},
)
"""A DLL that has everything."""
