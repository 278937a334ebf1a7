"""Gunzipped: any part of a gzip stream equals that of the plain bytes, in whatever order it is asked for."""

from __future__ import annotations

import gzip
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuwhy.formats import MalformedError
from gpuwhy.formats import gunzip as module
from gpuwhy.formats.compress import Gunzipped

DATA = random.Random(3).randbytes(30_000) + bytes(40_000) + b"text " * 4000


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Blocks and marks so small that a page of data has many."""
    monkeypatch.setattr(module, "BLOCK", 1000)
    monkeypatch.setattr(module, "_INPUT", 333)
    monkeypatch.setattr(module, "_MOST_MARKS", 16)


def opened(packed: bytes) -> Gunzipped:
    return Gunzipped(lambda offset, size: packed[offset : offset + size], len(packed))


PACKED = {
    "one member": gzip.compress(DATA),
    "several members": b"".join(gzip.compress(DATA[n : n + 7777]) for n in range(0, len(DATA), 7777)),
    "padded": gzip.compress(DATA) + bytes(512),
    "empty members": gzip.compress(b"") + gzip.compress(DATA) + gzip.compress(b""),
}


@pytest.mark.parametrize("name", PACKED)
@settings(max_examples=30, deadline=None)
@given(places=st.lists(st.tuples(st.integers(0, len(DATA) + 2000), st.integers(0, 3500)), max_size=12))
def test_any_part_in_any_order(name, places):
    file = opened(PACKED[name])
    for offset, size in places:
        assert file.pread(offset, size) == DATA[offset : offset + size]


def test_marks_stay_few():
    file = opened(PACKED["one member"])
    file.pread(len(DATA), 1)
    assert 1 < len(file._marks) <= 17
    assert file.pread(0, len(DATA)) == DATA


def test_a_whole_number_of_blocks_ends_where_it_ends():
    file = opened(gzip.compress(b"x" * 3000))
    assert file.pread(2999, 10) == b"x"
    assert file.pread(3000, 10) == b""


@pytest.mark.parametrize("cut", [3, 15, 500, len(PACKED["one member"]) - 1])
def test_cut_short_is_malformed(cut):
    with pytest.raises(MalformedError, match="cut short"):
        opened(PACKED["one member"][:cut]).pread(len(DATA) - 1, 10)


def test_damage_is_malformed():
    data = bytearray(PACKED["one member"])
    data[2000:2100] = bytes(100)
    with pytest.raises(MalformedError):
        opened(bytes(data)).pread(len(DATA) - 1, 1)
