"""Remote wheels: read by ranges, and every lie of a file or server is an error, never a value."""

import random
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


def test_a_missing_file_and_a_directory_that_is_none_are_errors(server, web):
    with pytest.raises(WebError, match="404"):
        Wheel(web, server.address + "none.whl")
    with pytest.raises(BrokenWheel, match="no end"):
        Wheel(web, put(server, data=b"not a zip file" * 100))


def test_a_failing_server_is_asked_again(server, web):
    url = put(server)
    server.manners = "fails"
    assert Wheel(web, url).read("a/METADATA") == b"Name: a\n"
    assert len(server.asked) == 4


@pytest.mark.parametrize(
    "place, value, said",
    [
        (0, b"????", "is not one"),
        (24, struct.pack("<I", 1 << 31), "more than"),
        (24, struct.pack("<I", 10), "longer than"),
        (16, struct.pack("<I", 1), "not the bytes"),
        (42, struct.pack("<I", 1 << 20), "past the directory"),
    ],
)
def test_a_directory_that_lies_is_an_error(server, web, place, value, said):
    data = bytearray(wheel_bytes({"a.txt": b"x" * 1000}))
    entry = data.rfind(b"PK\1\2") + place
    data[entry : entry + len(value)] = value
    with pytest.raises(BrokenWheel, match=said):
        Wheel(web, put(server, data=bytes(data))).read("a.txt")
