"""CUDA fatbins: sections whose contents are known."""

import struct
from collections import Counter


from gpuwhy.formats.fatbin import GpuCode, read_gpu_code, summary

from .made import FATBIN, PTX, SASS, container, entry, library, over, padded
from .made_pe import pe


def read(data: bytes, most: int = 64) -> GpuCode:
    return read_gpu_code(over(data), len(data), most)


def test_architectures_in_numeric_order_with_their_suffixes():
    sass = (entry(SASS, 100, flags=0x200000), entry(SASS, 75), entry(SASS, 90, flags=0x100000))
    code = read(library(container(*sass, entry(PTX, 120))))
    assert (code.sass, code.ptx) == (("sm_75", "sm_90a", "sm_100f"), ("compute_120",))
    assert code.containers == 1
    assert read(library(container(entry(SASS, 80)), "__nv_relfatbin")).sass == ("sm_80",)
    assert read(library(container(entry(SASS, 80)), ".text")) == GpuCode((), (), (), (), 0)


def test_a_windows_library():
    code = padded(container(entry(SASS, 70), entry(SASS, 75), entry(PTX, 75)))
    found = read(pe(sections={".nv_fatbin": code * 3}))
    assert (found.sass, found.ptx, found.containers) == (("sm_70", "sm_75"), ("compute_75",), 3)


def test_the_usual_set_is_the_one_most_containers_carry():
    usual = padded(container(entry(SASS, 80), entry(SASS, 90), entry(PTX, 90)))
    odd = padded(container(entry(SASS, 90, flags=0x100000)))
    code = read(library(usual * 3 + bytes(1000) + odd))
    assert code.sass == ("sm_80", "sm_90", "sm_90a")
    assert (code.usual_sass, code.usual_ptx) == (("sm_80", "sm_90"), ("compute_90",))
    assert code.containers == 4


def test_kernels_of_one_architecture_do_not_outvote_the_common_set():
    """ONNX Runtime 1.31 has more containers for sm_90a alone than for all its architectures."""
    common, special = frozenset({"sm_75", "sm_80", "sm_90a"}), frozenset({"sm_90a"})
    assert summary(Counter({special: 9, common: 4})).usual_sass == ("sm_75", "sm_80", "sm_90a")
    assert summary(Counter({special: 9})).usual_sass == ("sm_90a",)


def test_only_the_first_containers_are_read():
    many = b"".join(padded(container(entry(SASS, arch))) for arch in range(50, 100))
    assert read(library(many), most=5).containers == 5


def test_a_section_of_bogus_headers_ends_quickly():
    data = library(struct.pack("<IHHQ", FATBIN, 1, 0, 0) * 50_000)
    asked = []

    def pread(offset: int, size: int) -> bytes:
        asked.append(size)
        return data[offset : offset + size]

    assert read_gpu_code(pread, len(data), 64).containers == 0
    assert len(asked) < 1000
