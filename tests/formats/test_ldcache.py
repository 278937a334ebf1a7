"""The loader's cache: written by hand and read back; compared with ldconfig; damaged."""

from __future__ import annotations

import contextlib
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuwhy.formats import MalformedError
from gpuwhy.formats.ldcache import CacheEntry, read_ldcache

X86_64, I386 = 0x0303, 0x0003
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=["Cs"]), max_size=30)
ENTRIES = st.lists(
    st.builds(CacheEntry, NAMES, NAMES, st.sampled_from([X86_64, I386, 0x0A03]), st.integers(0, 2**64 - 1)), max_size=8
)


def new_format(entries: list[CacheEntry]) -> bytes:
    rows, strings = b"", b""
    start = 48 + 24 * len(entries)
    for entry in entries:
        key = start + len(strings)
        strings += entry.name.encode() + b"\0"
        value = start + len(strings)
        strings += entry.path.encode() + b"\0"
        rows += struct.pack("<iIIIQ", entry.flags, key, value, 0, entry.hwcap)
    head = b"glibc-ld.so.cache1.1" + struct.pack("<II", len(entries), len(strings)) + bytes(20)
    return head + rows + strings


def old_format(entries: list[CacheEntry]) -> bytes:
    rows, strings = b"", b""
    for entry in entries:
        key = len(strings)
        strings += entry.name.encode() + b"\0"
        rows += struct.pack("<iII", entry.flags, key, len(strings))
        strings += entry.path.encode() + b"\0"
    return b"ld.so-1.7.0\0" + struct.pack("<I", len(entries)) + rows + strings


@given(ENTRIES)
def test_new_format_reads_back(entries):
    assert read_ldcache(new_format(entries)) == tuple(entries)


@given(ENTRIES)
def test_old_format_reads_back(entries):
    assert read_ldcache(old_format(entries)) == tuple(CacheEntry(e.name, e.path, e.flags, 0) for e in entries)


def test_the_new_part_behind_an_old_one_wins():
    old = old_format([CacheEntry("old", "/old", X86_64, 0)])
    old += bytes(-len(old) % 8)
    assert read_ldcache(old + new_format([CacheEntry("new", "/new", X86_64, 0)]))[0].name == "new"


def test_order_is_kept_and_machines_are_told_apart():
    entries = [CacheEntry("libcuda.so.1", "/b", I386, 0), CacheEntry("libcuda.so.1", "/a", X86_64, 0)]
    found = read_ldcache(new_format(entries))
    assert [e.path for e in found if e.serves("x86_64")] == ["/a"]
    assert [e.path for e in found if e.serves("i386")] == ["/b"]


@given(ENTRIES, st.data())
@settings(max_examples=200)
def test_damage_is_malformed_or_read(entries, data):
    raw = bytearray(data.draw(st.sampled_from([new_format, old_format]))(entries))
    for _ in range(data.draw(st.integers(0, 6))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(raw)))
    for damaged in (bytes(raw), bytes(raw[:cut])):
        with contextlib.suppress(MalformedError):
            assert len(read_ldcache(damaged)) <= len(raw) // 12


@pytest.mark.parametrize("data", [b"", b"text", b"glibc-ld.so.cache1.1", b"ld.so-1.7.0\0"])
def test_what_is_no_cache_is_told(data):
    with pytest.raises(MalformedError, match=r"ld\.so\.cache"):
        read_ldcache(data)


def test_endless_strings_are_refused():
    raw = new_format([CacheEntry("x", "y" * 10, X86_64, 0)] * 3).rstrip(b"\0") + b"z" * 10_000
    with pytest.raises(MalformedError, match="without an end"):
        read_ldcache(raw)


LDCONFIG = shutil.which("ldconfig") or shutil.which("ldconfig", path="/usr/sbin:/sbin")


@pytest.mark.skipif(not LDCONFIG or not Path("/etc/ld.so.cache").is_file(), reason="no ldconfig or no cache")
def test_agrees_with_ldconfig():
    said = subprocess.run([LDCONFIG, "-p"], capture_output=True, text=True, check=True).stdout
    theirs = [tuple(line.strip().split(" => ")) for line in said.splitlines() if " => " in line]
    ours = read_ldcache(Path("/etc/ld.so.cache").read_bytes())
    assert [(f"{e.name}", e.path) for e in ours] == [(name.split(" (")[0], path) for name, path in theirs]


def with_levels(entry: CacheEntry, *levels: str) -> bytes:
    """A cache whose extension part names glibc-hwcaps levels (glibc 2.33 and newer)."""
    data, places = new_format([entry]), []
    for level in levels:
        places.append(len(data))
        data += level.encode() + b"\0"
    data += bytes(-len(data) % 4)
    head = struct.pack("<IIIIII", 0xEAA42174, 1, 1, 0, len(data) + 24, 4 * len(places))
    return data[:32] + struct.pack("<I", len(data)) + data[36:] + head + struct.pack(f"<{len(places)}I", *places)


@pytest.mark.parametrize("index, level", [(0, "x86-64-v2"), (1, "x86-64-v3"), (2, "")])
def test_levels_of_the_extension(index, level):
    entry = CacheEntry("libb.so", "/b", X86_64, 1 << 62 | index)
    assert read_ldcache(with_levels(entry, "x86-64-v2", "x86-64-v3"))[0].level == level


@given(st.integers(0, 200), st.integers(0, 255))
def test_damage_to_the_extension_is_survived(place, value):
    data = bytearray(with_levels(CacheEntry("libb.so", "/b", X86_64, 1 << 62), "x86-64-v2"))
    data[place % len(data)] = value
    with contextlib.suppress(MalformedError):
        read_ldcache(bytes(data))
