"""Remote wheels: read by ranges, and every lie of a file or server is an error, never a value."""

from __future__ import annotations

import struct

import pytest

pytest.importorskip("urllib3")
pytest.importorskip("isal")

from tools.harvest import wheel as wheels
from tools.harvest.web import Web, WebError
from tools.harvest.wheel import BrokenWheel, Wheel

from .serving import serving, wheel_bytes

BIG = bytes(range(256)) * 40_000


@pytest.fixture
def server():
    with serving() as one:
        yield one


@pytest.fixture
def web():
    return Web(4, pause=0.0)


def put(server, members=None, data=None):
    server.files["x.whl"] = data or wheel_bytes(members or {"a/METADATA": "Name: a\n", "a/big.so": BIG})
    return server.address + "x.whl"


def test_reads_members_and_only_what_it_needs(server, web):
    url = put(server)
    wheel = Wheel(web, url)
    assert sorted(wheel.members) == ["a/METADATA", "a/big.so"]
    assert wheel.read("a/METADATA") == b"Name: a\n"
    assert wheel.whole("a/big.so") == BIG
    assert all("bytes=" in asked for asked in server.asked)


def test_a_stream_is_cut_off_when_nobody_reads_on(server, web, monkeypatch):
    monkeypatch.setattr(wheels, "_CHUNK", 1 << 12)
    import random

    noise = random.Random(1).randbytes(1 << 20)
    wheel = Wheel(web, put(server, {"a.so": noise}))
    before = web.received
    assert next(wheel.stream("a.so"))[:100] == noise[:100]
    assert web.received - before < 20_000


@pytest.mark.parametrize("manners, said", [("whole", "ignores ranges"), ("page", "ignores ranges"), ("short", "bytes")])
def test_a_server_with_bad_manners_is_an_error(server, web, manners, said):
    url = put(server)
    server.manners = manners
    with pytest.raises(WebError, match=said):
        Wheel(web, url)


def test_a_failing_server_is_asked_again(server, web):
    url = put(server)
    server.manners = "fails"
    assert Wheel(web, url).read("a/METADATA") == b"Name: a\n"
    assert len(server.asked) == 4


def test_a_missing_file_is_an_error(server, web):
    with pytest.raises(WebError, match="404"):
        Wheel(web, server.address + "none.whl")


def test_a_directory_that_is_none(server, web):
    with pytest.raises(BrokenWheel, match="no end"):
        Wheel(web, put(server, data=b"not a zip file" * 100))


def broken_directory(edit):
    data = bytearray(wheel_bytes({"a.txt": b"x" * 1000}))
    entry = data.rfind(b"PK\1\2")
    edit(data, entry)
    return bytes(data)


def test_a_directory_entry_that_is_none(server, web):
    def edit(data, entry):
        data[entry : entry + 4] = b"????"

    with pytest.raises(BrokenWheel, match="is not one"):
        Wheel(web, put(server, data=broken_directory(edit)))


def test_a_member_that_claims_too_much(server, web):
    def edit(data, entry):
        struct.pack_into("<I", data, entry + 24, 1 << 31)

    wheel = Wheel(web, put(server, data=broken_directory(edit)))
    with pytest.raises(BrokenWheel, match="more than"):
        wheel.read("a.txt")
    with pytest.raises(BrokenWheel, match="bytes out of"):
        wheel.whole("a.txt")


def test_a_member_that_is_longer_than_it_claims(server, web):
    def edit(data, entry):
        struct.pack_into("<I", data, entry + 24, 10)

    wheel = Wheel(web, put(server, data=broken_directory(edit)))
    with pytest.raises(BrokenWheel, match="longer than"):
        wheel.read("a.txt")


def test_a_member_with_other_bytes_than_its_checksum(server, web):
    def edit(data, entry):
        struct.pack_into("<I", data, entry + 16, 1)

    wheel = Wheel(web, put(server, data=broken_directory(edit)))
    with pytest.raises(BrokenWheel, match="not the bytes"):
        wheel.read("a.txt")


def test_an_offset_past_the_directory(server, web):
    def edit(data, entry):
        struct.pack_into("<I", data, entry + 42, 1 << 20)

    with pytest.raises(BrokenWheel, match="past the directory"):
        Wheel(web, put(server, data=broken_directory(edit)))
