"""Versions from instructions: what is stored is told, what is implausible or contradictory is not."""

from __future__ import annotations

import struct

import pytest

from gpuwhy.formats.cuda_version import read_cuda_version
from gpuwhy.formats.symbols import Symbols

from .made import with_symbol
from .test_elf import over


def number(value: int) -> bytes:
    return struct.pack("<I", value)


def call_to(distance: int) -> bytes:
    return b"\xe8" + struct.pack("<i", distance)


INNER = call_to(1) + b"\xc3" + b"\xc7\x07" + number(12090) + b"\x31\xc0\xc3"
TWICE = call_to(1) + b"\xc3" + b"\xc7\x07" + number(12090) + b"\xc7\x07" + number(12080) + b"\xc3"
LOCAL = b"\x48\xc7\x85" + number(0xFFFFFF00)


@pytest.mark.parametrize(
    "library, call, code, version",
    [
        ("libcudnn.so.9", "cudnnGetVersion", b"\xb8" + number(92700) + b"\xc3", "9.27.0"),
        ("libcudnn.so.7", "cudnnGetVersion", b"\xb8" + number(7605) + b"\xc3", "7.6.5"),
        ("libcudnn_cnn.so.9", "cudnnCnnVersionCheck", LOCAL + number(0) + LOCAL + number(91200), "9.12.0"),
        ("libcudnn_cnn.so.9", "cudnnCnnVersionCheck", LOCAL + number(91200) + LOCAL + number(92700), None),
        ("libcudart.so.12", "cudaRuntimeGetVersion", b"\xc7\x07" + number(12090) + b"\x31\xc0\xc3", "12.9"),
        ("libcudart.so.12", "cudaRuntimeGetVersion", INNER, "12.9"),
        ("libcudart.so.12", "cudaRuntimeGetVersion", TWICE, None),
        ("libcudart.so.12", "cudaRuntimeGetVersion", call_to(0x7FFFFFFF) + b"\xc3", None),
        ("libcufft.so.11", "cufftGetVersion", b"\xc7\x07" + number(11401) + b"\xc3", "11.4.1"),
        ("libcufft.so.11", "cufftGetVersion", b"\xc7\x07" + number(3) + b"\xc3", None),
        ("libcublasLt.so.12", "cublasLtGetVersion", b"\xb8" + number(120902) + b"\xc3", "12.9.2"),
        ("libnccl.so.2", "ncclGetVersion", b"\xc7\x07" + number(22703) + b"\x31\xc0\xc3", "2.27.3"),
        ("libnvrtc.so.12", "nvrtcVersion", b"\xc7\x07" + number(12) + b"\xc7\x06" + number(9) + b"\xc3", "12.9"),
        ("libnvrtc.so.12", "nvrtcVersion", b"\xc7\x07" + number(12), None),
    ],
)
def test_stored_numbers(library, call, code, version):
    data = with_symbol(call, code)
    assert read_cuda_version(over(data), len(data), library) == version


def test_the_made_library_is_sound():
    data = with_symbol("f", b"\xc3")
    symbols = Symbols(over(data), len(data))
    assert symbols.find("f") is not None
    assert [(one.name, one.library, one.version) for one in symbols.imports("")] == [
        ("malloc", "libc.so.6", "GLIBC_2.2.5")
    ]
