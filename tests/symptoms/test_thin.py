"""Large logs full of known words: what is read of them, and that nothing rare is lost."""

from __future__ import annotations

import random

import pytest

from gpuwhy.symptoms import thin as thin_module
from gpuwhy.symptoms.reader import SAMPLED, LogReader, read, scanner
from gpuwhy.symptoms.text import Block
from gpuwhy.symptoms.thin import WHOLE, Thin

LINE = b"RuntimeError: CUDA error: no kernel image is available for execution on the device\n"
RARE = b"RuntimeError: CUDA error: an illegal memory access was encountered\n"


def memory(number: int) -> bytes:
    return (
        f"torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate {number}.00 MiB (GPU 0; 15.{number} GiB "
        f"total capacity; {number}.12 GiB already allocated)\n"
    ).encode()


def varied(rng: random.Random, number: int) -> bytes:
    word = "".join(rng.choices("ghijklmnop", k=9)).encode()
    return memory(number)[:-1] + b" by " + word + b"\n"


def found(reading: object) -> set[str]:
    return {one.signature for one in reading.symptoms}  # type: ignore[attr-defined]


def test_a_line_that_is_repeated_is_counted_to_the_last() -> None:
    times = 4 * WHOLE // len(LINE)
    reading = read([LINE * times], fast=False)
    one = next(s for s in reading.symptoms if s.signature == "cuda.no_binary_for_gpu")
    assert (one.times, one.line, one.last) == (times, 1, times)


def test_something_rare_among_lines_that_differ_in_numbers_is_found_with_its_line() -> None:
    lines = [memory(number % 9000 + 10) for number in range(16000)]
    lines[9000] = RARE
    for fast in (False, True):
        reading = read([b"".join(lines)], fast=fast)
        [rare] = [s for s in reading.symptoms if s.signature == "cuda.illegal_address"]
        assert rare.line == 9001


def test_something_rare_among_lines_of_which_none_is_like_another_is_found() -> None:
    rng = random.Random(3)
    lines = [varied(rng, rng.randrange(10, 9000)) for _ in range(12000)]
    lines[7000] = b"NVRM: Xid (PCI:0000:3b:00): 79, pid=123, GPU has fallen off the bus.\n"
    reading = read([b"".join(lines)], fast=False)
    assert "kernel.xid" in found(reading)
    assert SAMPLED not in reading.notes


def test_the_end_is_read_whole() -> None:
    lines = [memory(number % 9000 + 10) for number in range(16000)]
    reading = read([b"".join(lines)], fast=False)
    last = {s.last or s.line for s in reading.symptoms}
    assert {16000, 15999, 15998} <= last


def test_the_end_is_read_once_when_it_is_asked_for_twice() -> None:
    reader = LogReader(fast=False)
    reader.feed(b"".join(memory(number % 9000 + 10) for number in range(16000)))
    first = reader.reading()
    assert [s.times for s in reader.reading().symptoms] == [s.times for s in first.symptoms]


def test_few_lines_are_read_of_many() -> None:
    rng = random.Random(3)
    blocks = [b"".join(varied(rng, rng.randrange(10, 9000)) for _ in range(4000)) for _ in range(4)]
    thin = Thin(scanner(False), lambda key, times, last: None)
    taken = []
    for number, block in enumerate(blocks):
        hits = []
        for hit in thin.hits(Block(block, number * 4000 + 1)):
            thin.learned(hit, [])
            hits.append(hit)
        taken.append(len(hits))
    assert taken[0] > 1000
    assert max(taken[1:]) < 100


def test_a_log_that_only_begins_full_is_searched_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thin_module, "PATIENCE", 1 << 17)
    rng = random.Random(3)
    start = b"".join(memory(number % 9000 + 10) for number in range(3000))
    noise = b"".join(b"".join([b"step ", bytes(rng.choices(b"qwertyuiop", k=40)), b"\n"]) for _ in range(9000))
    rare = b"NVRM: Xid (PCI:0000:3b:00): 79, pid=123, GPU has fallen off the bus.\n"
    pieces = [start, *[noise] * 4, rare, noise]
    reading = read(pieces, fast=False)
    assert SAMPLED not in reading.notes
    assert "kernel.xid" in found(reading)
