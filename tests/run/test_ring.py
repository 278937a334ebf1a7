"""A ring keeps the beginning and the end of any stream, in bounded memory, and the order of lines."""

import random

from hypothesis import given
from hypothesis import strategies as st

from gpuwhy.run.ring import LONGEST, TIMES, Ring


@given(st.lists(st.binary(max_size=40), max_size=40))
def test_what_fits_is_given_back_whole(chunks):
    ring, whole = Ring(head=100, tail=1000), b"".join(chunks)
    for place, chunk in enumerate(chunks):
        ring.add(chunk, place * 0.3)
    assert ring.total == len(whole)
    if len(whole) <= 1000:
        assert ring.text() == whole


def test_a_gap_is_said_and_the_tail_begins_with_a_line():
    ring = Ring(head=8, tail=12)
    for number in range(20):
        ring.add(b"line%02d\n" % number, float(number))
    assert ring.text().decode() == "line00\nl\n[… 125 bytes, 17 lines left out …]\nline19\n"


def test_streams_are_merged_at_line_ends():
    ring = Ring()
    for stream, chunk in ((1, b"one\ntw"), (2, b"error\n"), (1, b"o\nthree\n"), (2, b"a"), (1, b"b")):
        ring.add(chunk, 1.0, stream)
    assert ring.text() == b"one\nerror\ntwo\nthree\na\nb"
    ring.add(b"." * LONGEST, 2.0, 1)  # it waits no longer
    ring.add(b"\n", 2.0, 2)
    assert ring.text().endswith(b"three\nb" + b"." * LONGEST + b"a\n")


def test_times_stay_few():
    ring = Ring()
    for number in range(20 * TIMES):
        ring.add(b"x", number * 1.0)
    assert len(ring.times) <= TIMES
    assert ring.last == 20 * TIMES - 1


def test_large_chunks_and_small_ones():
    random.seed(7)
    ring, whole = Ring(head=1 << 10, tail=1 << 12), bytearray()
    for _ in range(300):
        chunk = random.randbytes(random.choice((1, 5, 100, 5000, 20000)))
        ring.add(chunk, 0.0)
        whole += chunk
    assert ring.text().startswith(whole[: 1 << 10])
    assert ring.text().endswith(whole[-1000:])
    assert len(ring.text()) < (1 << 10) + (1 << 12) + LONGEST + 100
