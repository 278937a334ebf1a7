"""The PE reader: everything that a file says, and what is no PE file."""

import re
import shutil
import struct
import subprocess

import pytest

from gpuwhy.formats import MalformedError
from gpuwhy.formats.pe import Pe, PeSymbols, read_pe

from .made import over
from .made_pe import ARM64, I386, RICH, pe


def read(data: bytes) -> Pe:
    return read_pe(over(data), len(data))


def symbols(data: bytes) -> PeSymbols:
    return PeSymbols(over(data), len(data))


def test_everything_a_file_says():
    assert read(RICH) == Pe(
        bits=64,
        machine="x86_64",
        is_dll=True,
        imports=("cublasLt64_11.dll", "KERNEL32.dll"),
        extent=len(RICH),
        delayed=("nvcuda.dll",),
        version="6.14.11.10010",
        product="6,14,11,10010",
        description="NVIDIA CUDA 10.1.243 Runtime",
    )


def test_names_by_dll_in_any_case():
    found = symbols(RICH)
    assert found.imports("CUBLASLT64_11.DLL") == ("cublasLtCreate", "cublasLtMatmul")
    assert found.imports("other.dll") == ()
    assert tuple(found.exports()) == ("alpha", "cudnnGetVersion", "zeta")
    assert all(found.find(name) for name in found.exports())
    assert found.find("beta") is None
    assert symbols(pe()).find("x") is None


@pytest.mark.parametrize("machine, bits, name", [(I386, 32, "i386"), (ARM64, 64, "aarch64")])
def test_other_machines(machine, bits, name):
    found = read(pe({"a.dll": ["x"]}, machine=machine, dll=False))
    assert (found.bits, found.machine, found.is_dll) == (bits, name, False)
    assert found.imports == ("a.dll",)


def test_a_truncated_file_tells_what_it_lacks():
    assert read(RICH[:-600]).extent == len(RICH)
    assert read(RICH[: 0x400 + 32]).imports == ()


@pytest.mark.parametrize(
    "data, kind, why",
    [
        (b"", "", "empty file"),
        (b"\x7fELF", "foreign", "not PE"),
        (b"MZ" + bytes(10), "cut", "cut short"),
        (b"MZ" + bytes(58) + struct.pack("<I", 64) + b"NE" + bytes(60), "foreign", "DOS program"),
        (b"MZ" + bytes(58) + struct.pack("<I", 1 << 30), "cut", "past the end"),
        (RICH[:100], "cut", "past the end"),
    ],
)
def test_what_is_no_pe_file(data, kind, why):
    with pytest.raises(MalformedError, match=why) as caught:
        read(data)
    assert caught.value.kind == kind


def test_names_by_ordinal_are_left_out():
    data = bytearray(pe({"a.dll": ["first", "second"]}))
    (address,) = struct.unpack_from("<I", data, 64 + 24 + 112 + 8)
    (table,) = struct.unpack_from("<I", data, address - 0x1000 + 0x400)
    struct.pack_into("<Q", data, table - 0x1000 + 0x400, 1 << 63 | 7)
    assert symbols(bytes(data)).imports("a.dll") == ("second",)


def test_a_big_library_costs_few_small_reads():
    data, asked = RICH + bytes(1 << 20), []

    def pread(offset: int, size: int) -> bytes:
        asked.append(size)
        return data[offset : offset + size]

    read_pe(pread, len(data))
    assert len(asked) < 30
    assert sum(asked) < 16_000


OBJDUMP = shutil.which("x86_64-w64-mingw32-objdump") or shutil.which("objdump")
GCC = shutil.which("x86_64-w64-mingw32-gcc")
SOURCE = """#include <windows.h>
__declspec(dllexport) int one(void) { return GetTickCount(); }
__declspec(dllexport) int two(void) { return MessageBoxA(0, 0, 0, 0); }
"""


@pytest.mark.skipif(not (GCC and OBJDUMP), reason="needs mingw-w64")
def test_a_compiled_library_reads_as_objdump_reads_it(tmp_path):
    (tmp_path / "a.c").write_text(SOURCE)
    dll = tmp_path / "a.dll"
    subprocess.run([GCC, "-shared", "-o", dll, tmp_path / "a.c", "-luser32"], check=True)
    said = subprocess.run([OBJDUMP, "-p", dll], capture_output=True, text=True, check=True).stdout
    data = dll.read_bytes()
    assert list(read(data).imports) == re.findall(r"DLL Name: (\S+)", said)
    assert tuple(symbols(data).exports()) == ("one", "two")
    assert "GetTickCount" in symbols(data).imports("kernel32.dll")
    assert read(data).extent <= len(data)
