"""Versions in machine code: the shapes in which compilers have stored them, and silence where nothing fits."""

import struct

import pytest

pytest.importorskip("capstone")
pytest.importorskip("numpy")

from tools.harvest.cudnn_code import compiled
from tools.harvest.jax_versions import build_versions

from .elfs import CODE, TEXT, call, elf, lea

SAID = b"Loaded runtime CuDNN library: \0"


def library(*parts: bytes, constants: bytes = b"") -> bytes:
    """Code that ends in a reference to the complaint."""
    code = b"\x90" * 16 + b"".join(parts)
    code += lea("rdx", CODE + len(code), TEXT) + b"\x90" * 32
    return elf(code, SAID.ljust(64, b"\0") + constants)


def store8(place: int, value: int) -> bytes:
    return b"\x48\xb8" + struct.pack("<Q", value) + b"\x48\x89\x45" + struct.pack("<b", place)  # movabs, mov [rbp+x]


def store4(place: int, value: int) -> bytes:
    return b"\xc7\x45" + struct.pack("<bI", place, value)


def text_calls(*numbers: int) -> bytes:
    out = b""
    for number in numbers:
        out += b"\xbf" + struct.pack("<I", number) if number else b"\x31\xff"
        out += call(CODE + 16 + len(out), CODE + 0x1000)
    return out


BESIDE_ITS_HUNDREDS = b"\x48\x81\xff" + struct.pack("<I", 5100) + b"\xbf" + struct.pack("<I", 5110)  # cmp; mov
SHAPES = {
    "two numbers in one store": (store8(-32, 6 << 32 | 7) + store4(-24, 5), "7", "7.6.5"),
    "three stores": (store4(-32, 7) + store4(-28, 3) + store4(-24, 0), "7", "7.3.0"),
    "three calls": (text_calls(8, 9, 4), "8", "8.9.4"),
    "three calls the other way round": (text_calls(4, 6, 7), "7", "7.6.4"),
    "one number beside its hundreds": (BESIDE_ITS_HUNDREDS, "", "5.1.10"),
    "a constant record": (lea("rsi", CODE + 16, TEXT + 64), "9", "9.3.0"),
    "nothing": (b"", "7", ""),
    "one of three": (store4(-32, 7), "7", ""),
    "two that differ": (text_calls(8, 9, 4) + text_calls(8, 1, 2), "8", ""),
}


@pytest.mark.parametrize("code, major, version", SHAPES.values(), ids=SHAPES)
def test_what_is_compiled_in(code, major, version):
    assert compiled(library(code, constants=struct.pack("<III", 9, 3, 0)), major) == version


@pytest.mark.parametrize("data", [b"\x7fELF" + bytes(100), b"MZ" + bytes(100), b""])
def test_no_library_at_all(data):
    assert compiled(data) == ""


def test_jax_build_versions():
    function = CODE + 0x800
    code = bytearray(b"\x90" * 0x900)
    code[0x800:0x80A] = b"\x55\xbf" + struct.pack("<I", 12090) + b"\xc3\x90\x90\x90"
    code[16:23] = lea("rax", CODE + 16, function)
    code[23:30] = lea("rax", CODE + 23, TEXT)
    assert build_versions(elf(bytes(code), b"cuda_runtime_build_version\0")) == {"cuda_runtime": 12090}
    assert build_versions(elf(b"\x90" * 64, b"nothing\0")) == {}
