"""A ring keeps the beginning and the end of any stream, in bounded memory, and says what came when."""

import random


from hypothesis import given
from hypothesis import strategies as st

from gpuwhy.run.ring import MARKS, Ring, merged


@given(st.lists(st.binary(max_size=40), max_size=40))
def test_head_and_tail_are_those_of_the_stream(chunks):
    ring, whole = Ring(head=16, tail=32), b"".join(chunks)
    for place, chunk in enumerate(chunks):
        ring.add(chunk, float(place))
    parts = list(ring.parts())
    assert ring.total == len(whole)
    assert parts[0] == (0, whole[:16])
    if len(whole) > 16:
        assert parts[1] == (max(16, len(whole) - 32), whole[16:][-32:])
    assert ring.left_out == max(0, len(whole) - 48)


@given(st.lists(st.binary(max_size=30), max_size=30))
def test_what_fits_is_given_back_whole(chunks):
    ring = Ring(head=100, tail=1000)
    for place, chunk in enumerate(chunks):
        ring.add(chunk, place * 0.3)
    assert b"".join(data for _, data in ring.pieces()) == b"".join(chunks)


def test_a_gap_is_said_and_the_tail_begins_with_a_line():
    ring = Ring(head=8, tail=12)
    for number in range(20):
        ring.add(b"line%02d\n" % number, float(number))
    text = b"".join(data for _, data in ring.pieces())
    assert text.decode() == "line00\nl[… 120 bytes, 17 lines left out …]\nline19\n"


def test_two_streams_with_gaps():
    out, err = Ring(head=8, tail=16), Ring(head=8, tail=16)
    for number in range(50):
        out.add(b"o%d\n" % number, number * 1.0)
        err.add(b"e%d\n" % number, number + 0.5)
    kept = merged((out, err)).decode()
    assert kept.count("left out") == 2


def test_marks_stay_few():
    ring = Ring()
    for number in range(20 * MARKS):
        ring.add(b"x", number * 1.0)
    assert len(ring.marks) <= MARKS
    assert ring.last == 20 * MARKS - 1


def test_streams_are_merged_by_time_at_line_ends():
    out, err = Ring(), Ring()
    out.add(b"one\ntw", 1.0)
    err.add(b"error\n", 1.5)
    out.add(b"o\nthree\n", 2.0)
    assert merged((out, err)) == b"one\nerror\ntwo\nthree\n"


def test_large_chunks_and_small_ones():
    random.seed(7)
    ring, whole = Ring(head=1 << 10, tail=1 << 12), bytearray()
    for _ in range(300):
        chunk = random.randbytes(random.choice((1, 5, 100, 5000, 20000)))
        ring.add(chunk, 0.0)
        whole += chunk
    assert b"".join(data for _, data in ring.parts()) == bytes(whole[: 1 << 10] + whole[-(1 << 12) :])
