"""The ELF reader against pyelftools on real libraries, and against damage."""

from __future__ import annotations

import os
import struct
import sys
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuwhy.formats import MalformedError
from gpuwhy.formats.elf import Elf, read_elf, read_sections

elffile = pytest.importorskip("elftools.elf.elffile")
dynamic = pytest.importorskip("elftools.elf.dynamic")


def real_files() -> list[str]:
    """Executables and libraries of this Python and this system."""
    folders = [
        sysconfig.get_config_var("DESTSHARED") or "",
        "/lib/x86_64-linux-gnu",
        "/usr/lib64",
        "/lib/aarch64-linux-gnu",
    ]
    found = [os.path.realpath(sys.executable), os.path.realpath("/bin/sh")]
    for folder in filter(os.path.isdir, folders):
        found += sorted(str(f) for f in Path(folder).glob("*.so*") if f.is_file())[:25]
    return [f for f in dict.fromkeys(found) if Path(f).read_bytes()[:4] == b"\x7fELF"]


def over(data: bytes):
    """A pread over bytes that refuses what the operating system's refuses."""

    def pread(offset: int, size: int) -> bytes:
        assert 0 <= offset < 2**63
        assert 0 <= size < 64 << 20
        return data[offset : offset + size]

    return pread


def by_pyelftools(path: str) -> dict:
    with open(path, "rb") as file:
        elf = elffile.ELFFile(file)
        tags = []
        for segment in elf.iter_segments():
            if isinstance(segment, dynamic.DynamicSegment):
                tags = list(segment.iter_tags())
        said = {"needed": tuple(t.needed for t in tags if t.entry.d_tag == "DT_NEEDED")}
        for name in ("soname", "rpath", "runpath"):
            said[name] = next((getattr(t, name) for t in tags if t.entry.d_tag == f"DT_{name.upper()}"), "")
        interp = [s.get_interp_name() for s in elf.iter_segments() if s.header.p_type == "PT_INTERP"]
        return {**said, "bits": elf.elfclass, "interpreter": interp[0] if interp else ""}


@pytest.mark.parametrize("path", real_files(), ids=os.path.basename)
def test_agrees_with_pyelftools(path):
    data = Path(path).read_bytes()
    ours = read_elf(over(data), len(data))
    theirs = by_pyelftools(path)
    assert {name: getattr(ours, name) for name in theirs} == theirs
    assert ours.extent <= len(data)


@pytest.mark.parametrize("path", real_files()[:3], ids=os.path.basename)
def test_sections_agree_with_pyelftools(path):
    data = Path(path).read_bytes()
    names = frozenset({".dynamic", ".dynstr", ".text", ".bss"})
    ours = {s.name: (s.offset, s.size) for s in read_sections(over(data), len(data), names)}
    with open(path, "rb") as file:
        theirs = {s.name: (s["sh_offset"], s["sh_size"]) for s in elffile.ELFFile(file).iter_sections()}
    assert ours == {name: theirs[name] for name in names - {".bss"} if name in theirs}


def tiny(runpath: str = "$ORIGIN/../lib", needed: tuple[str, ...] = ("libcudart.so.12", "libc.so.6")) -> bytes:
    """A shared library of a few hundred bytes: header, two segments, dynamic section, strings; no code."""
    strings, places = b"\0", {}
    for text in (*needed, "libtiny.so.1", runpath):
        places[text] = len(strings)
        strings += text.encode() + b"\0"
    dynamic_at = 64 + 2 * 56
    tags = [*((1, places[n]) for n in needed), (14, places["libtiny.so.1"]), (29, places[runpath])]
    strings_at = dynamic_at + 16 * (len(tags) + 3)
    tags += [(5, strings_at), (10, len(strings)), (0, 0)]
    size = strings_at + len(strings)
    header = struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 2, 64, 0, 0)
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, size, size, 4096)
    dyn = struct.pack("<IIQQQQQQ", 2, 6, dynamic_at, dynamic_at, 0, 16 * len(tags), 16 * len(tags), 8)
    body = b"".join(struct.pack("<qQ", *tag) for tag in tags)
    return b"\x7fELF\x02\x01\x01" + bytes(9) + header + load + dyn + body + strings


TINY = tiny()


def summary(data: bytes) -> Elf | MalformedError:
    """Read everything there is to read; only MalformedError may come out."""
    try:
        found = read_elf(over(data), len(data))
        read_sections(over(data), len(data), frozenset({".nv_fatbin"}))
        return found
    except MalformedError as error:
        return error


def test_tiny_library():
    elf = summary(TINY)
    assert isinstance(elf, Elf)
    assert (elf.bits, elf.machine, elf.soname) == (64, "x86_64", "libtiny.so.1")
    assert elf.needed == ("libcudart.so.12", "libc.so.6")
    assert (elf.rpath, elf.runpath, elf.extent) == ("", "$ORIGIN/../lib", len(TINY))


@given(st.integers(0, len(TINY)))
def test_any_truncation_is_told(size):
    found = summary(TINY[:size])
    if size < len(TINY) and isinstance(found, Elf):
        assert found.extent > size


@given(st.lists(st.tuples(st.integers(0, len(TINY) - 1), st.integers(0, 255)), min_size=1, max_size=12))
@settings(max_examples=400)
def test_changed_bytes_never_break_the_reader(changes):
    data = bytearray(TINY)
    for place, value in changes:
        data[place] = value
    summary(bytes(data))


@given(st.integers(0, len(TINY) - 8), st.integers(0, 2**64 - 1))
@settings(max_examples=400)
def test_changed_words_never_break_the_reader(place, value):
    summary(TINY[:place] + struct.pack("<Q", value) + TINY[place + 8 :])


@given(st.binary(max_size=300))
def test_random_bytes_never_break_the_reader(data):
    assert isinstance(summary(data), MalformedError) or data[:4] == b"\x7fELF"
    summary(b"\x7fELF" + data)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_damage_to_a_real_library_never_breaks_the_reader(data):
    real = REAL
    damaged = bytearray(real[: data.draw(st.integers(0, len(real)))])
    for _ in range(data.draw(st.integers(0, 8))):
        place = data.draw(st.one_of(st.integers(0, 4096), st.integers(0, len(real))))
        if place < len(damaged):
            damaged[place] = data.draw(st.integers(0, 255))
    summary(bytes(damaged))


REAL = min((Path(f).read_bytes() for f in real_files()), key=len)


@pytest.mark.parametrize(
    "data, why",
    [(b"", "empty file"), (b"#!/bin/sh\n", "not ELF"), (b"\x7fELF", "cut short"), (TINY[:100], "past the end")],
)
def test_the_reason_is_said(data, why):
    assert why in str(summary(data))


def patched(*changes: tuple[int, str, int]) -> bytes:
    data = bytearray(TINY)
    for place, form, value in changes:
        struct.pack_into(form, data, place, value)
    return bytes(data)


HOSTILE = {
    "sections past the end": patched((40, "<Q", 1 << 40), (58, "<H", 64), (60, "<H", 5)),
    "65535 sections": patched((40, "<Q", 64), (58, "<H", 64), (60, "<H", 0xFFFF)),
    "65535 program headers": patched((56, "<H", 0xFFFF)),
    "program headers past the end": patched((32, "<Q", 1 << 62)),
    "dynamic section of 2^60 bytes": patched((64 + 56 + 32, "<Q", 1 << 60)),
    "strings nowhere": patched((176 + 16 * 4 + 8, "<Q", 1 << 50)),
    "name offset of 2^32": patched((176 + 8, "<Q", 1 << 32)),
}


@pytest.mark.parametrize("what", list(HOSTILE))
def test_hostile_headers_are_one_clear_line(what):
    found = summary(HOSTILE[what])
    if isinstance(found, Elf):
        assert found.extent > len(TINY), "truncated, by its own headers"
    else:
        assert "\n" not in str(found)
        assert "offset" in str(found)


def test_names_of_libraries_are_bounded_while_search_paths_may_be_long():
    long = tiny(runpath="/a/b:" * 60_000, needed=("libc.so.6",))
    assert len(read_elf(over(long), len(long)).runpath) == 300_000
    with pytest.raises(MalformedError, match="without an end"):
        read_elf(over(tiny(needed=("x" * 5000,))), len(tiny(needed=("x" * 5000,))))


@pytest.mark.parametrize(
    "place, value, why",
    [(7, 9, "OS ABI 9"), (8, 1, "OS ABI 0, version 1"), (12, 1, "padding"), (16, 1, "ELF type 1"), (5, 1, "")],
)
def test_what_the_loader_would_refuse_is_noted(place, value, why):
    data = bytearray(TINY)
    data[place] = value
    assert why in read_elf(over(bytes(data)), len(data)).refused
    assert bool(read_elf(over(bytes(data)), len(data)).refused) == bool(why)


def test_an_empty_runpath_is_still_a_runpath():
    data = tiny(runpath="")
    found = read_elf(over(data), len(data))
    assert (found.runpath, found.has_runpath, found.ignores_rpath) == ("", True, True)


def test_zeros_after_a_part_of_a_library_are_seen() -> None:
    """A file of the right length that was never written to its end: glibc maps it, and dies of it."""
    for path in real_files()[2:6]:
        data = Path(path).read_bytes()
        assert read_elf(over(data), len(data)).refused == "", path
        emptied = data[:4096] + bytes(len(data) - 4096)
        assert "empty" in read_elf(over(emptied), len(emptied)).refused, path
        tail = data[: len(data) * 3 // 4] + bytes(len(data) - len(data) * 3 // 4)
        assert read_elf(over(tail), len(tail)).refused, path
