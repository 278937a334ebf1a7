"""CUDA fatbins: synthesised sections whose contents are known."""

from __future__ import annotations

import contextlib
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuwhy.formats import MalformedError
from gpuwhy.formats.fatbin import GpuCode, read_gpu_code

PTX, SASS = 1, 2
MAGIC = 0xBA55ED50


def entry(kind: int, arch: int, payload: bytes = b"code", flags: int = 0) -> bytes:
    head = bytearray(64)
    struct.pack_into("<HHIQ", head, 0, kind, 0x101, 64, len(payload))
    struct.pack_into("<I", head, 28, arch)
    struct.pack_into("<Q", head, 40, flags)
    return bytes(head) + payload


def container(*entries: bytes) -> bytes:
    payload = b"".join(entries)
    return struct.pack("<IHHQ", MAGIC, 1, 16, len(payload)) + payload


def padded(data: bytes, to: int = 8) -> bytes:
    return data + bytes(-len(data) % to)


def library(fatbin: bytes, name: str = ".nv_fatbin") -> bytes:
    """An ELF file with one section of that name, at offset 64."""
    names = b"\0" + name.encode() + b"\0.shstrtab\0"
    names_at = 64 + len(fatbin)
    table_at = names_at + len(names)
    rows = [
        struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
        struct.pack("<IIQQQQIIQQ", 1, 1, 2, 0, 64, len(fatbin), 0, 0, 8, 0),
        struct.pack("<IIQQQQIIQQ", len(name) + 2, 3, 0, 0, names_at, len(names), 0, 0, 1, 0),
    ]
    header = struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, table_at, 0, 64, 56, 0, 64, 3, 2)
    return b"\x7fELF\x02\x01\x01" + bytes(9) + header + fatbin + names + b"".join(rows)


def read(data: bytes, most: int = 64) -> GpuCode:
    def pread(offset: int, size: int) -> bytes:
        assert 0 <= offset < 2**63
        return data[offset : offset + size]

    return read_gpu_code(pread, len(data), most)


def test_architectures_in_numeric_order():
    code = read(library(container(entry(SASS, 100), entry(SASS, 75), entry(SASS, 90), entry(PTX, 120))))
    assert code.sass == ("sm_75", "sm_90", "sm_100")
    assert code.ptx == ("compute_120",)
    assert code.containers == 1


def test_suffixes():
    code = read(library(container(entry(SASS, 90, flags=0x100000), entry(SASS, 100, flags=0x200000))))
    assert code.sass == ("sm_90a", "sm_100f")


@pytest.mark.parametrize("name", [".nv_fatbin", "__nv_relfatbin"])
def test_both_section_names(name):
    assert read(library(container(entry(SASS, 80)), name)).sass == ("sm_80",)


def test_other_sections_and_plain_libraries_have_none():
    assert read(library(container(entry(SASS, 80)), ".text")) == GpuCode((), (), (), (), 0)


def test_the_usual_set_is_the_one_most_containers_carry():
    usual = padded(container(entry(SASS, 80), entry(SASS, 90), entry(PTX, 90)))
    odd = padded(container(entry(SASS, 90, flags=0x100000)))
    code = read(library(usual * 3 + odd))
    assert code.sass == ("sm_80", "sm_90", "sm_90a")
    assert (code.usual_sass, code.usual_ptx) == (("sm_80", "sm_90"), ("compute_90",))
    assert code.containers == 4


def test_gaps_between_containers_are_crossed():
    one, two = padded(container(entry(SASS, 70))), padded(container(entry(SASS, 80)))
    assert read(library(one + bytes(1000) + two)).sass == ("sm_70", "sm_80")


def test_only_the_first_containers_are_read():
    many = b"".join(padded(container(entry(SASS, arch))) for arch in range(50, 100))
    assert read(library(many), most=5).containers == 5


def test_a_section_of_bogus_headers_ends_quickly():
    bogus = struct.pack("<IHHQ", MAGIC, 1, 0, 0) * 50_000
    reads = 0
    data = library(bogus)

    def pread(offset: int, size: int) -> bytes:
        nonlocal reads
        reads += 1
        return data[offset : offset + size]

    assert read_gpu_code(pread, len(data), 64).containers == 0
    assert reads < 1000


BASE = library(padded(container(entry(SASS, 80), entry(PTX, 90))) * 2)


@given(st.lists(st.tuples(st.integers(0, len(BASE) - 1), st.integers(0, 255)), max_size=10), st.integers(0, len(BASE)))
@settings(max_examples=300)
def test_damage_is_malformed_or_read(changes, size):
    data = bytearray(BASE)
    for place, value in changes:
        data[place] = value
    for damaged in (bytes(data), bytes(data[:size])):
        with contextlib.suppress(MalformedError):
            assert len(read(damaged).sass) <= 600


def test_kernels_of_one_architecture_do_not_outvote_the_common_set():
    """ONNX Runtime 1.31 has more containers for sm_90a alone than for all its architectures together."""
    from collections import Counter

    from gpuwhy.formats.fatbin import _summary

    common = (frozenset({"sm_75", "sm_80", "sm_90a"}), frozenset())
    special = (frozenset({"sm_90a"}), frozenset())
    assert _summary(Counter({special: 9, common: 4})).usual_sass == ("sm_75", "sm_80", "sm_90a")
    assert _summary(Counter({special: 9})).usual_sass == ("sm_90a",)
