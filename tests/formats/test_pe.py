from __future__ import annotations

import contextlib
import re
import shutil
import struct
import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpuwhy.formats import MalformedError
from gpuwhy.formats.cuda_version import read_cuda_version
from gpuwhy.formats.fatbin import read_gpu_code
from gpuwhy.formats.pe import PeSymbols, read_pe, read_pe_sections
from tests.formats.made_pe import ARM64, I386, pe
from tests.formats.test_fatbin import PTX, SASS, container, entry, padded

MANIFEST = b"""<assembly><dependency><dependentAssembly>
<assemblyIdentity type="win32" name="Microsoft.VC90.CRT" version="9.0.21022.8" processorArchitecture="amd64"/>
</dependentAssembly></dependency></assembly>"""
RICH = pe(
    {"cublasLt64_11.dll": ["cublasLtCreate", "cublasLtMatmul"], "KERNEL32.dll": ["LoadLibraryA"]},
    delayed=["nvcuda.dll"],
    exports={"cudnnGetVersion": b"\xb8" + struct.pack("<I", 7605) + b"\xc3", "alpha": b"\xc3", "zeta": b"\xc3"},
    version=(6, 14, 11, 10010),
    strings={"FileDescription": "NVIDIA CUDA 10.1.243 Runtime", "ProductVersion": "6,14,11,10010"},
    manifest=MANIFEST,
)


def over(data: bytes):
    def pread(offset: int, size: int) -> bytes:
        assert 0 <= offset < 2**63, offset
        assert 0 <= size < 64 << 20, size
        return data[offset : offset + size]

    return pread


def summary(data: bytes):
    return read_pe(over(data), len(data))


def test_everything_a_file_says():
    found = summary(RICH)
    assert (found.bits, found.machine, found.is_dll) == (64, "x86_64", True)
    assert found.imports == ("cublasLt64_11.dll", "KERNEL32.dll")
    assert found.delayed == ("nvcuda.dll",)
    assert (found.version, found.product) == ("6.14.11.10010", "6,14,11,10010")
    assert found.description == "NVIDIA CUDA 10.1.243 Runtime"
    assert found.assemblies == ("Microsoft.VC90.CRT 9.0.21022.8",)
    assert found.extent == len(RICH)


@pytest.mark.parametrize("machine, bits, name", [(I386, 32, "i386"), (ARM64, 64, "aarch64")])
def test_other_machines(machine, bits, name):
    found = summary(pe({"a.dll": ["x"]}, machine=machine, dll=False))
    assert (found.bits, found.machine, found.is_dll, found.imports) == (bits, name, False, ("a.dll",))


def test_a_file_without_tables():
    found = summary(pe())
    assert (found.imports, found.delayed, found.version, found.assemblies) == ((), (), "", ())


def test_a_truncated_file_tells_what_it_lacks():
    found = summary(RICH[:-600])
    assert found.extent == len(RICH)
    assert summary(RICH[: 0x400 + 32]).imports == ()


@pytest.mark.parametrize(
    "data, said",
    [
        (b"", "empty file"),
        (b"\x7fELF", "not PE"),
        (b"MZ" + bytes(10), "cut short"),
        (b"MZ" + bytes(58) + struct.pack("<I", 64) + b"NE" + bytes(60), "DOS program"),
        (b"MZ" + bytes(58) + struct.pack("<I", 1 << 30), "past the end"),
        (RICH[:100], "past the end"),
    ],
)
def test_what_is_no_pe_file(data, said):
    with pytest.raises(MalformedError, match=said):
        summary(data)


def test_imported_names_are_told_by_dll_in_any_case():
    symbols = PeSymbols(over(RICH), len(RICH))
    assert symbols.imports("CUBLASLT64_11.DLL") == ("cublasLtCreate", "cublasLtMatmul")
    assert symbols.imports("other.dll") == ()


def test_exports_are_found_by_a_binary_search():
    symbols = PeSymbols(over(RICH), len(RICH))
    assert symbols.exports() == ("alpha", "cudnnGetVersion", "zeta")
    assert symbols.exports("z") == ("zeta",)
    assert all(symbols.find(name) for name in symbols.exports())
    assert symbols.find("beta") is None
    assert PeSymbols(over(pe()), len(pe())).find("x") is None


def test_names_by_ordinal_are_left_out():
    data = bytearray(pe({"a.dll": ["first", "second"]}))
    (address,) = struct.unpack_from("<I", data, 64 + 24 + 112 + 8)
    (table,) = struct.unpack_from("<I", data, address - 0x1000 + 0x400)
    struct.pack_into("<Q", data, table - 0x1000 + 0x400, 1 << 63 | 7)
    assert PeSymbols(over(bytes(data)), len(data)).imports("a.dll") == ("second",)


@pytest.mark.parametrize(
    "name, data, version",
    [
        ("cudart64_101.dll", RICH, "10.1.243"),
        ("cudart64_12.dll", pe(version=(6, 14, 11, 12040), strings={"FileDescription": "NVIDIA CUDA Runtime"}), "12.4"),
        ("cudart64_101.dll", pe(), "10.1"),
        ("cudart64_110.dll", pe(), None),
        (
            "cublas64_11.dll",
            pe(version=(6, 1, 2, 3), strings={"FileDescription": "BLAS, Version 11.10.3.66"}),
            "11.10.3.66",
        ),
        ("cudnn64_7.dll", RICH, "7.6.5"),
        ("cudnn64_8.dll", pe(version=(8, 9, 4, 25)), "8.9.4"),
        ("cudnn_graph64_9.dll", pe(exports={"cudnn_graph_version": struct.pack("<I", 0x090100)}), "9.1.0"),
        ("cudnn64_9.dll", pe(exports={"cudnnGetVersion": b"\xb8\x28\0\0\0\xe8"}), None),
        ("zlibwapi.dll", pe(), None),
    ],
)
def test_the_version_of_a_cuda_library(name, data, version):
    assert read_cuda_version(over(data), len(data), name) == version


def test_gpu_code_in_a_section():
    code = padded(container(entry(SASS, 70), entry(SASS, 75), entry(PTX, 75)))
    data = pe(sections={".nv_fatbin": code * 3})
    assert [one.name for one in read_pe_sections(over(data), len(data), frozenset({".nv_fatbin"}))] == [".nv_fatb"]
    found = read_gpu_code(over(data), len(data))
    assert (found.sass, found.ptx, found.containers) == (("sm_70", "sm_75"), ("compute_75",), 3)


def test_a_big_library_costs_few_small_reads():
    data = RICH + bytes(1 << 20)
    asked = []

    def pread(offset: int, size: int) -> bytes:
        asked.append(size)
        return data[offset : offset + size]

    read_pe(pread, len(data))
    assert len(asked) < 30
    assert sum(asked) < 16_000


READS = (
    lambda p, n: read_pe(p, n),
    lambda p, n: PeSymbols(p, n).exports("c", 50),
    lambda p, n: PeSymbols(p, n).imports("KERNEL32.dll"),
    lambda p, n: PeSymbols(p, n).find("cudnnGetVersion"),
    lambda p, n: read_cuda_version(p, n, "cudnn64_7.dll"),
    lambda p, n: read_gpu_code(p, n, 64),
)


@settings(max_examples=300, deadline=2000)
@given(
    st.lists(st.tuples(st.integers(0, len(RICH) - 1), st.binary(min_size=1, max_size=8)), max_size=12),
    st.integers(0, len(RICH)),
)
@example([(64 + 24 + 112, b"\xff" * 8)], len(RICH))
def test_damaged_files_raise_nothing_else(patches, cut):
    data = bytearray(RICH)
    for place, piece in patches:
        data[place : place + len(piece)] = piece
    hurt = bytes(data[: max(cut, 64)])
    for read in READS:
        with contextlib.suppress(MalformedError):
            read(over(hurt), len(hurt))


OBJDUMP = shutil.which("x86_64-w64-mingw32-objdump") or shutil.which("objdump")
GCC = shutil.which("x86_64-w64-mingw32-gcc")


def objdump(path) -> str:
    return subprocess.run([OBJDUMP, "-p", path], capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(not (GCC and OBJDUMP), reason="needs mingw-w64")
def test_a_compiled_library_reads_as_objdump_reads_it(tmp_path):
    (tmp_path / "a.c").write_text(
        "#include <windows.h>\n__declspec(dllexport) int one(void) { return GetTickCount(); }\n"
        "__declspec(dllexport) int two(void) { return MessageBoxA(0, 0, 0, 0); }\n"
    )
    subprocess.run([GCC, "-shared", "-o", tmp_path / "a.dll", tmp_path / "a.c", "-luser32"], check=True)
    data, said = (tmp_path / "a.dll").read_bytes(), objdump(tmp_path / "a.dll")
    assert list(summary(data).imports) == re.findall(r"DLL Name: (\S+)", said)
    symbols = PeSymbols(over(data), len(data))
    assert symbols.exports() == ("one", "two")
    assert "GetTickCount" in symbols.imports("kernel32.dll")
    assert summary(data).extent <= len(data)


@pytest.mark.skipif(sys.platform != "win32", reason="needs Windows")
def test_our_own_python_is_read():
    with open(sys.executable, "rb") as file:
        data = file.read()
    assert any(name.lower().startswith("python3") for name in summary(data).imports)
