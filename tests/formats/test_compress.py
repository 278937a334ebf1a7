"""Any part of a compressed stream equals that of the plain bytes, in whatever order it is read."""

import gzip
import random
import zlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpuwhy.formats import MalformedError, Pread, compress
from gpuwhy.formats.compress import gunzipped, inflated

from .made import over

DATA = random.Random(3).randbytes(30_000) + bytes(40_000) + b"text " * 4000


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Blocks and marks so small that a page of data has many."""
    monkeypatch.setattr(compress, "BLOCK", 1000)
    monkeypatch.setattr(compress, "_INPUT", 333)
    monkeypatch.setattr(compress, "_MOST_MARKS", 16)


def opened(form: str, packed: bytes) -> Pread:
    if form == "deflate":
        return inflated(over(b"before" + packed), 6, len(packed), len(DATA))
    return gunzipped(over(packed), len(packed))


MEMBERS = [gzip.compress(DATA[n : n + 7777]) for n in range(0, len(DATA), 7777)]
PACKED = {
    "deflate": ("deflate", zlib.compress(DATA, wbits=-15)),
    "gzip": ("gzip", gzip.compress(DATA)),
    "gzip, several members": ("gzip", b"".join(MEMBERS)),
    "gzip, padded": ("gzip", gzip.compress(DATA) + bytes(512)),
    "gzip, empty members": ("gzip", gzip.compress(b"") + gzip.compress(DATA) + gzip.compress(b"")),
}
PLACES = st.lists(st.tuples(st.integers(0, len(DATA) + 2000), st.integers(0, 3500)), max_size=12)
checked = settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("name", PACKED)
@checked
@given(places=PLACES)
def test_any_part_in_any_order(name, places):
    pread = opened(*PACKED[name])
    for offset, size in places:
        assert pread(offset, size) == DATA[offset : offset + size]


def test_marks_stay_few_and_still_lead_everywhere():
    pread = opened(*PACKED["gzip"])
    pread(len(DATA), 1)
    assert 1 < len(pread.__self__._marks) <= 17
    assert pread(0, len(DATA)) == DATA


@pytest.mark.parametrize("name", ["gzip", "deflate"])
@pytest.mark.parametrize("cut", [3, 15, 500, -5000])
def test_cut_short_is_malformed(name, cut):
    form, packed = PACKED[name]
    pread = opened(form, packed[:cut])
    for _ in range(2):  # also when it is asked again
        with pytest.raises(MalformedError, match="cut short") as caught:
            pread(0, len(DATA) + 1)
        assert caught.value.kind == "cut"


@pytest.mark.parametrize("name, place", [("gzip", 2000), ("deflate", 0)])
def test_damage_is_malformed(name, place):
    form, packed = PACKED[name]
    damaged = packed[:place] + b"\xff" * 100 + packed[place + 100 :]
    with pytest.raises(MalformedError):
        opened(form, damaged)(0, len(DATA))


def test_a_bomb_is_refused_before_it_unpacks(monkeypatch):
    monkeypatch.setattr(compress, "BLOCK", 1 << 20)
    monkeypatch.setattr(compress, "_FREE", 1 << 20)
    with pytest.raises(MalformedError, match="which no layer does"):
        opened("gzip", gzip.compress(bytes(64 << 20)))(60 << 20, 1)
