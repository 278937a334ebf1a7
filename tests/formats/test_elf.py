"""The ELF reader against pyelftools on real files, and on headers made to deceive."""

import struct

import pytest
from elftools.elf.dynamic import DynamicSegment
from elftools.elf.elffile import ELFFile
from hypothesis import given
from hypothesis import strategies as st

from gpuwhy.formats import MalformedError
from gpuwhy.formats.elf import Elf, read_elf, read_sections

from .made import elf, over
from .real import files

TINY = elf(("libcudart.so.12", "libc.so.6"), "libtiny.so.1", "$ORIGIN/../lib")


def read(data: bytes) -> Elf:
    return read_elf(over(data), len(data))


def by_pyelftools(path) -> dict:
    with path.open("rb") as file:
        whole = ELFFile(file)
        segments = list(whole.iter_segments())
        tags = [
            tag for one in segments if isinstance(one, DynamicSegment) for tag in one.iter_tags()
        ]
        said = {"needed": tuple(t.needed for t in tags if t.entry.d_tag == "DT_NEEDED")}
        for name in ("soname", "rpath", "runpath"):
            texts = (getattr(t, name) for t in tags if t.entry.d_tag == f"DT_{name.upper()}")
            said[name] = next(texts, "")
        interpreters = (s.get_interp_name() for s in segments if s.header.p_type == "PT_INTERP")
        return {**said, "bits": whole.elfclass, "interpreter": next(interpreters, "")}


@pytest.mark.parametrize("path", files(), ids=lambda path: path.name)
def test_agrees_with_pyelftools(path):
    data = path.read_bytes()
    ours, theirs = read(data), by_pyelftools(path)
    assert {name: getattr(ours, name) for name in theirs} == theirs
    assert ours.extent <= len(data)


@pytest.mark.parametrize("path", files()[:3], ids=lambda path: path.name)
def test_sections_agree_with_pyelftools(path):
    data = path.read_bytes()
    names = frozenset({".dynamic", ".dynstr", ".text", ".bss"})
    ours = {s.name: (s.offset, s.size) for s in read_sections(over(data), len(data), names)}
    with path.open("rb") as file:
        sections = list(ELFFile(file).iter_sections())
    theirs = {s.name: (s["sh_offset"], s["sh_size"]) for s in sections if s.name in names}
    theirs.pop(".bss", None)
    assert ours == theirs


def test_a_library_made_by_hand():
    found = read(TINY)
    assert (found.bits, found.machine, found.soname) == (64, "x86_64", "libtiny.so.1")
    assert found.needed == ("libcudart.so.12", "libc.so.6")
    assert (found.rpath, found.runpath, found.extent) == ("", "$ORIGIN/../lib", len(TINY))
    found = read(TINY.replace(b"$ORIGIN", b"\0RIGIN!"))
    assert (found.runpath, found.has_runpath, found.ignores_rpath) == ("", True, True)


@given(st.integers(64 + 2 * 56, len(TINY) - 1))
def test_any_truncation_is_seen(size):
    assert read(TINY[:size]).extent > size


@pytest.mark.parametrize(
    "data, kind, why",
    [
        (b"", "", "empty file"),
        (b"#!/bin/sh\n", "foreign", "not ELF"),
        (b"\x7fELF", "cut", "cut short"),
        (TINY[:100], "cut", "past the end"),
    ],
)
def test_the_reason_and_its_kind(data, kind, why):
    with pytest.raises(MalformedError, match=why) as caught:
        read(data)
    assert caught.value.kind == kind


DYNAMIC = struct.unpack_from("<Q", TINY, 64 + 56 + 8)[0]


def patched(*changes: tuple[int, str, int]) -> bytes:
    data = bytearray(TINY)
    for place, form, value in changes:
        struct.pack_into(form, data, place, value)
    return bytes(data)


HOSTILE = {
    "sections past the end": [(40, "<Q", 1 << 40), (58, "<H", 64), (60, "<H", 5)],
    "65535 sections": [(40, "<Q", 64), (58, "<H", 64), (60, "<H", 0xFFFF)],
    "65535 program headers": [(56, "<H", 0xFFFF)],
    "program headers past the end": [(32, "<Q", 1 << 62)],
    "dynamic section of 2^60 bytes": [(64 + 56 + 32, "<Q", 1 << 60)],
    "strings nowhere": [(DYNAMIC + 16 * 4 + 8, "<Q", 1 << 50)],
    "name at an offset of 2^32": [(DYNAMIC + 8, "<Q", 1 << 32)],
}


@pytest.mark.parametrize("changes", HOSTILE.values(), ids=HOSTILE)
def test_hostile_headers_are_refused_or_seen_as_cut(changes):
    try:
        cut = read(patched(*changes)).extent > len(TINY)
    except MalformedError as error:
        cut = " at offset" in str(error)
    assert cut


def test_names_of_libraries_are_bounded_while_search_paths_may_be_long():
    assert len(read(elf(("libc.so.6",), runpath="/a/b:" * 60_000)).runpath) == 300_000
    with pytest.raises(MalformedError, match="without an end"):
        read(elf(("x" * 5000,)))


def test_what_the_loader_would_refuse_is_noted():
    for place, value, why in ((7, 9, "ABI 9"), (8, 1, "version 1"), (12, 1, "padding"), (16, 1, "ELF type 1")):
        assert why in read(patched((place, "<B", value))).refused
    assert read(patched((5, "<B", 1))).refused == ""


@pytest.mark.parametrize("path", files()[2:6], ids=lambda path: path.name)
def test_zeros_after_a_part_of_a_library_are_seen(path):
    """A file of the right length that was never written to its end: glibc maps it, and dies."""
    data = path.read_bytes()
    assert read(data).refused == ""
    assert "empty" in read(data[:4096] + bytes(len(data) - 4096)).refused
    most = len(data) * 3 // 4
    assert read(data[:most] + bytes(len(data) - most)).refused
