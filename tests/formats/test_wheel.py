"""Wheels, read where they lie, compressed or not, and refused in one clear line when hostile."""

import io
import struct
import tracemalloc
import zipfile

import pytest

from gpuwhy.formats import MalformedError
from gpuwhy.formats.compress import BLOCK
from gpuwhy.formats.wheel import Wheel, read_wheel
from gpuwhy.formats.zip import MAX_MEMBERS

from .made import elf, wheel
from .made_pe import pe


def read(data: bytes) -> Wheel:
    return read_wheel(lambda offset, size: data[offset : offset + size], len(data))


def refused(data: bytes) -> str:
    with pytest.raises(MalformedError) as caught:
        read(data)
    return str(caught.value)


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_libraries_and_metadata_are_read(compression):
    library = elf(("libcudart.so.12", "libc.so.6"), "libdemo.so.1")
    found = read(wheel({"demo/libdemo.so.1": library, "demo/x.dll": b"MZ"}, compression))
    assert (found.name, found.version, found.members, found.windows) == ("demo", "1.2", 4, 1)
    assert found.requires == ("numpy", "nvidia-cudnn-cu12 (==9.1.0.70)")
    assert found.tags == ("py3-none-linux_x86_64",)
    (one,) = found.libraries
    assert (one.name, one.needed) == ("demo/libdemo.so.1", ("libcudart.so.12", "libc.so.6"))
    assert (one.machine, found.problems) == ("x86_64", ())


def test_libraries_of_a_wheel_for_windows():
    found = read(wheel({"demo/x.dll": pe({"cudart64_12.dll": ["x"]}), "demo/y.pyd": b"MZ"}))
    (one,) = found.libraries
    assert (one.needed, one.machine, found.windows) == (("cudart64_12.dll",), "x86_64", 0)
    assert found.problems == ("demo/y.pyd: DOS header cut short at offset 2",)


def test_a_library_larger_than_a_block_is_read_in_bounded_memory():
    """The dynamic section lies behind eight blocks, its strings before: forward, and back again."""
    library = elf(("libcudnn.so.9",), "libbig.so", padding=8 * BLOCK)
    data = wheel({"libbig.so": library})
    tracemalloc.start()
    found = read(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.libraries[0].needed == ("libcudnn.so.9",)
    assert peak < 7 * BLOCK < len(library)


def test_what_is_no_wheel_is_said():
    assert refused(b"#!/bin/sh\n") == refused(b"") == "not a zip archive at offset 0"
    cut = "zip archive cut short: it has no directory at offset 104"
    assert refused(b"PK\x03\x04" + bytes(100)) == cut
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.txt", "a")
    assert refused(out.getvalue()).startswith("a zip archive, but no wheel")


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "a/../../b.so", "..\\b.dll"])
def test_names_that_lead_out_are_refused(name):
    text = refused(wheel({name: b"x"}))
    assert "leads out of the wheel at offset" in text
    assert "\n" not in text


def with_size(data: bytes, size: int) -> bytes:
    """The same archive, whose first directory entry claims `size` bytes."""
    place = data.index(b"PK\x01\x02")
    return data[: place + 24] + struct.pack("<I", size) + data[place + 28 :]


def test_a_bomb_is_known_by_its_sizes():
    found = read(with_size(wheel({"demo/libbomb.so": bytes(1000)}), 0xFFFFFFF0))
    assert found.libraries == ()
    assert "claims 4294967280 bytes from" in found.problems[0]


def test_a_member_that_ends_early_is_a_problem_of_its_own():
    data = wheel({"demo/liba.so": elf(("libc.so.6",)), "demo/libb.so": elf(("libm.so.6",))})
    found = read(with_size(data, 5000))
    assert [one.name for one in found.libraries] == ["demo/libb.so"]
    assert found.problems[0].startswith("demo/liba.so: compressed data is cut short after")


def as_zip64(data: bytes, directory: bytes, members: int) -> bytes:
    """The same archive with another directory, at whose end stands a zip64 record."""
    start, end = data.index(b"PK\x01\x02"), data.rindex(b"PK\x05\x06")
    record = b"PK\x06\x06" + struct.pack("<QHHII", 44, 45, 45, 0, 0)
    record += struct.pack("<QQQQ", members, members, len(directory), start)
    locator = b"PK\x06\x07" + struct.pack("<IQI", 0, start + len(directory), 1)
    return data[:start] + directory + record + locator + data[end:]


def test_too_many_members_are_refused_before_they_are_read():
    assert "too large" in refused(as_zip64(wheel({}), b"", MAX_MEMBERS + 1))


def test_a_hundred_thousand_members_are_read():
    """The directory is built by hand: zipfile takes seconds for it."""
    data = wheel({})
    directory = data[data.index(b"PK\x01\x02") : data.rindex(b"PK\x05\x06")]
    head = b"PK\x01\x02" + struct.pack("<HH20xH16x", 20, 20, 6)
    filler = b"".join(head + b"%06d" % number for number in range(100_000))
    found = read(as_zip64(data, directory + filler, 100_002))
    assert (found.members, found.name) == (100_002, "demo")
