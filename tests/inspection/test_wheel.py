"""Wheels: read where they lie, compressed or not, and refused in one clear line when they are hostile."""

from __future__ import annotations

import os
import random
import struct
import tracemalloc
import zipfile
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuwhy.formats import MalformedError
from gpuwhy.formats.compress import BLOCK, Inflated
from gpuwhy.formats.wheel import Wheel, read_wheel
from gpuwhy.formats.zip import MAX_MEMBERS

from .worlds import elf, wheel

NAME = "demo-1.2-py3-none-manylinux_2_17_x86_64.whl"


def read(data: bytes) -> Wheel:
    return read_wheel(lambda offset, size: data[offset : offset + size], len(data))


def refused(data: bytes) -> str:
    with pytest.raises(MalformedError) as caught:
        read(data)
    return str(caught.value)


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_libraries_and_metadata_are_read(tmp_path, compression):
    library = elf(("libcudart.so.12", "libc.so.6"), "libdemo.so.1")
    found = read(wheel(tmp_path / NAME, {"demo/libdemo.so.1": library, "demo/x.dll": b"MZ"}, compression).read_bytes())
    assert (found.name, found.version, found.members, found.windows) == ("demo", "1.2", 4, 1)
    assert found.requires == ("numpy", "nvidia-cudnn-cu12 (==9.1.0.70)")
    assert found.tags == ("py3-none-linux_x86_64",)
    assert [(one.name, one.elf.needed) for one in found.libraries] == [
        ("demo/libdemo.so.1", ("libcudart.so.12", "libc.so.6"))
    ]
    assert found.problems == ()


def test_a_library_larger_than_a_block_is_read_in_bounded_memory(tmp_path):
    """The dynamic section lies behind eight blocks, its strings before them: forward, and back again."""
    library = elf(("libcudnn.so.9",), "libbig.so", padding=8 * BLOCK)
    data = wheel(tmp_path / NAME, {"libbig.so": library}).read_bytes()
    tracemalloc.start()
    found = read(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.libraries[0].elf.needed == ("libcudnn.so.9",)
    assert peak < 7 * BLOCK < len(library)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3 * BLOCK), st.integers(0, 70_000)), min_size=1, max_size=6))
def test_any_part_of_a_deflated_stream_equals_the_original(reads):
    original, packed = _stream()
    inflated = Inflated(lambda offset, size: packed[offset : offset + size], 0, len(packed), len(original))
    for offset, size in reads:
        assert inflated.pread(offset, size) == original[offset : offset + size]


def _stream(made: list[tuple[bytes, bytes]] = []) -> tuple[bytes, bytes]:  # noqa: B006 - made once
    if not made:
        original = random.Random(1).randbytes(1 << 20) * 17
        squeeze = zlib.compressobj(1, zlib.DEFLATED, -15)
        made.append((original, squeeze.compress(original) + squeeze.flush()))
    return made[0]


def test_what_is_not_a_zip_is_said_with_the_offset():
    assert refused(b"#!/bin/sh\n") == "not a zip archive at offset 0"
    assert refused(b"") == "not a zip archive at offset 0"
    assert refused(b"PK\x03\x04" + bytes(100)) == "zip archive cut short: it has no directory at offset 104"


def test_a_zip_that_is_no_wheel(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.whl", "w") as archive:
        archive.writestr("a.txt", "a")
    assert refused((tmp_path / "x.whl").read_bytes()).startswith("a zip archive, but no wheel")


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "a/../../b.so", "..\\b.dll"])
def test_names_that_lead_out_are_refused(tmp_path, name):
    text = refused(wheel(tmp_path / NAME, {name: b"x"}).read_bytes())
    assert "leads out of the wheel at offset" in text
    assert "\n" not in text


def _with_size(data: bytes, size: int) -> bytes:
    """The same archive, whose first directory entry claims `size` bytes."""
    place = data.index(b"PK\x01\x02")
    return data[: place + 24] + struct.pack("<I", size) + data[place + 28 :]


def test_a_bomb_is_told_by_its_sizes(tmp_path):
    data = wheel(tmp_path / NAME, {"demo/libbomb.so": bytes(1000)}).read_bytes()
    found = read(_with_size(data, 0xFFFFFFF0))
    assert found.libraries == ()
    assert "claims 4294967280 bytes from" in found.problems[0]


def test_a_member_that_ends_early_is_a_problem_of_its_own(tmp_path):
    data = wheel(
        tmp_path / NAME, {"demo/liba.so": elf(("libc.so.6",)), "demo/libb.so": elf(("libm.so.6",))}
    ).read_bytes()
    found = read(_with_size(data, 5000))
    assert [one.name for one in found.libraries] == ["demo/libb.so"]
    assert "compressed data ends after" in found.problems[0]


def test_too_many_members_are_refused_before_they_are_read(tmp_path):
    data = bytearray(wheel(tmp_path / NAME, {}).read_bytes())
    end = data.rindex(b"PK\x05\x06")
    record = b"PK\x06\x06" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, MAX_MEMBERS + 1, MAX_MEMBERS + 1, 100, 0)
    locator = b"PK\x06\x07" + struct.pack("<IQI", 0, end, 1)
    assert "too large" in refused(bytes(data[:end]) + record + locator + bytes(data[end:]))


def test_a_hundred_thousand_members_are_read_quickly_and_without_their_names(tmp_path):
    """The directory is built by hand: zipfile takes seconds for it."""
    whole = wheel(tmp_path / NAME, {}).read_bytes()
    start = whole.index(b"PK\x01\x02")
    end = whole.rindex(b"PK\x05\x06")
    filler = b"".join(
        b"PK\x01\x02" + struct.pack("<HHHHHHIIIHHHHHII", 20, 20, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0) + b"%06d" % i
        for i in range(100_000)
    )
    directory = whole[start:end] + filler
    record = b"PK\x06\x06" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, 100_002, 100_002, len(directory), start)
    locator = b"PK\x06\x07" + struct.pack("<IQI", 0, start + len(directory), 1)
    found = read(whole[:start] + directory + record + locator + whole[end:])
    assert found.members == 100_002
    assert found.name == "demo"


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_damaged_wheel_is_read_or_refused_and_never_crashes(data):
    whole = _whole()
    broken = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 6))):
        broken[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    for part in (bytes(broken), bytes(broken[: data.draw(st.integers(1, len(whole)))])):
        assert outcome(part) in ("read", "refused with an offset")


def outcome(data: bytes) -> str:
    try:
        read(data)
    except MalformedError as error:
        return "refused with an offset" if "at offset" in str(error) else str(error)
    return "read"


def _whole(made: list[bytes] = []) -> bytes:  # noqa: B006 - made once
    if not made:
        import io

        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("demo/liba.so", elf(("libc.so.6", "libcuda.so.1"), "liba.so", "$ORIGIN"))
            archive.writestr("demo-1.2.dist-info/METADATA", "Name: demo\nVersion: 1.2\n")
            archive.writestr("demo-1.2.dist-info/WHEEL", "Tag: py3-none-any\n")
        made.append(out.getvalue())
    return made[0]


def test_no_file_is_left_open_by_the_host(tmp_path):
    from gpuwhy.host.live import LiveHost
    from gpuwhy.model.fact import Unknown

    (tmp_path / "x.whl").write_bytes(b"nothing")
    before = len(os.listdir("/proc/self/fd"))
    said = LiveHost().wheel(str(tmp_path / "x.whl"))
    assert isinstance(said, Unknown)
    assert said.reason.endswith("x.whl: not a zip archive at offset 0")
    assert len(os.listdir("/proc/self/fd")) == before
