"""Bad input: whatever comes is read or named, in bounded memory, and never hangs."""

from __future__ import annotations

import gzip
import os
import random
import tracemalloc

import pytest

from gpuwhy.symptoms import scan, text
from gpuwhy.symptoms.reader import HEAD, TAIL, LogReader, read, read_text, scanner
from gpuwhy.symptoms.text import unprefixed

ERROR = "RuntimeError: CUDA error: no kernel image is available for execution on the device\n"
WANT = "cuda.no_binary_for_gpu"


def ids(data: bytes, size: int = 1 << 20, fast: bool = True) -> list[str]:
    pieces = (data[i : i + size] for i in range(0, len(data), size))
    return [s.signature for s in read(pieces, fast=fast).symptoms if s.role == "error"]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-8-sig", "utf-8", "latin-1"])
@pytest.mark.parametrize("size", [64, 101, 1 << 16])
def test_encodings_in_pieces_of_any_size(encoding, size):
    assert WANT in ids(("naïve\n" + ERROR * 2).encode(encoding), size)


def test_utf16_with_a_mark():
    assert WANT in ids(("ok\n" + ERROR).encode("utf-16"))


def test_pieces_of_one_byte():
    assert WANT in ids(ERROR.encode(), 1)
    ids(gzip.compress(ERROR.encode()), 1)  # one byte does not tell gzip: it must not fall over it


@pytest.mark.parametrize("size", [100, 1 << 20])
def test_gzip_in_pieces(size):
    data = gzip.compress(b"noise\n" * 1000 + ERROR.encode()) + gzip.compress(b"more\n")
    reading = read(data[i : i + size] for i in range(0, len(data), size))
    assert reading.notes[0] == "gzip"
    assert reading.symptoms[0].line == 1001


def test_damaged_gzip_is_said():
    whole = gzip.compress(os.urandom(1 << 16) + ERROR.encode())
    reading = read([whole[:30000] + b"\x00" * 100 + whole[30100:]])
    assert "damaged" in " ".join(reading.notes) or reading.notes == ("gzip",)


def test_a_gzip_bomb_stays_small():
    bomb = gzip.compress(b"\x00" * (1 << 26), 9)
    tracemalloc.start()
    read([bomb])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * text.BLOCK


def test_binary_junk():
    junk = random.Random(1).randbytes(1 << 18)
    reading = read([junk + b"\n" + ERROR.encode() + junk])
    assert WANT in [s.signature for s in reading.symptoms]
    assert "binary data" in reading.notes


def test_nothing_at_all():
    reading = read([])
    assert (reading.symptoms, reading.lines) == ((), 0)
    assert read([b""]).lines == 0


def test_colours_and_progress_bars():
    coloured = "\x1b[31m" + ERROR.replace("CUDA error", "CUDA er\x1b[1mror").strip() + "\x1b[0m\n"
    assert WANT in ids(coloured.encode())
    bar = " 10%|#  | 1/10\r 20%|## | 2/10\r" + ERROR
    reading = read([bar.encode()])
    assert reading.symptoms[0].line == 1
    assert reading.symptoms[0].text.startswith("RuntimeError")


@pytest.mark.parametrize("fast", [True, False])
def test_one_endless_line(fast, monkeypatch):
    monkeypatch.setattr(text, "BLOCK", 1 << 16)
    message = ERROR.strip().encode()
    cut = (1 << 16) - len(message) // 2  # the message stands on the cut
    data = b"x" * cut + message + b"y" * (1 << 18) + message + b"z" * (1 << 17)
    assert ids(data, fast=fast).count(WANT) == 1
    reading = read([data], fast=fast)
    assert reading.lines == 1
    assert next(s for s in reading.symptoms if s.signature == WANT).times >= 2


def test_an_endless_line_takes_bounded_memory(monkeypatch):
    monkeypatch.setattr(text, "BLOCK", 1 << 18)
    read([b"a\n" * 9], fast=False)  # what all readers share is made once
    tracemalloc.start()
    reader = LogReader(fast=False)
    for _ in range(64):
        reader.feed(b"a" * (1 << 16))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 12 * (1 << 18)


def test_two_hundred_ranks():
    lines = [f'[rank{rank}]:   File "x.py", line {rank}\n[rank{rank}]: {ERROR}' for rank in range(200)]
    random.Random(3).shuffle(lines)
    reading = read(["".join(lines).encode()])
    errors = [s for s in reading.symptoms if s.signature == WANT]
    assert len(errors) == 1
    assert errors[0].times == 200


def test_head_and_tail_are_kept():
    many = "".join(f"ImportError: libx{n}.so.1: cannot open shared object file\n" for n in range(HEAD + TAIL + 300))
    reading = read([many.encode()])
    assert reading.left_out > 0
    assert len(reading.symptoms) <= HEAD + TAIL
    assert any(f"libx{HEAD + TAIL + 299}.so.1" in s.text for s in reading.symptoms)


@pytest.mark.parametrize(
    "line, rest",
    [
        ("[rank3]: KeyError: 1", "KeyError: 1"),
        ("(EngineCore pid=17) KeyError: 1", "KeyError: 1"),
        ("[1,2]<stderr>: KeyError: 1", "KeyError: 1"),
        ("web-1  | KeyError: 1", "KeyError: 1"),
        ("2024-01-01 10:00:00.123456: KeyError: 1", "KeyError: 1"),
        ("E0101 10:00:00.123456  77 cuda_dnn.cc:456] KeyError: 1", "KeyError: 1"),
        ("2024-01-01T10:00:00.123456789Z KeyError: 1", "KeyError: 1"),
        ("> KeyError: 1", "KeyError: 1"),
        (">> KeyError: 1", "KeyError: 1"),
        (">>> import tensorflow", ">>> import tensorflow"),
        ("`KeyError: ‘a’`", "KeyError: 'a'"),
        ("KeyError: &#39;a&#39; &gt; &quot;b&quot;", "KeyError: 'a' > \"b\""),
        ("KeyError: 1", "KeyError: 1"),
    ],
)
def test_prefixes(line, rest):
    assert unprefixed(line) == rest


def test_engines_agree():
    pytest.importorskip("hyperscan")
    noise = b"step 1 loss 0.5\n" * 5000
    data = noise + ERROR.encode() + noise + b"OSError: libcudnn.so.8: cannot open shared object file\n" + noise
    assert ids(data, fast=True) == ids(data, fast=False)
    assert scanner(True).engine == "hyperscan"


def test_lines_are_counted_across_blocks(monkeypatch):
    monkeypatch.setattr(text, "BLOCK", 1 << 12)
    data = b"noise line\n" * 5000 + ERROR.encode() + b"noise\n" * 10
    reading = read([data[i : i + 999] for i in range(0, len(data), 999)], fast=False)
    assert next(s for s in reading.symptoms if s.signature == WANT).line == 5001
    assert reading.lines == 5011


def test_a_wrapped_message_is_joined():
    wrapped = "x.so: undefined\n symbol: _ZN3c104impl3cow11cow_deleterEPv\n"
    assert "loader.undefined_symbol" in [s.signature for s in read_text(wrapped).symptoms]


def test_long_lines_are_read_around_what_is_found():
    line = b"q" * (3 * scan.LONG) + ERROR.strip().encode() + b"r" * scan.LONG
    assert WANT in ids(line, fast=False)


def test_the_mark_of_utf8_is_no_part_of_the_first_line():
    (found,) = [s for s in read([("\ufeff" + ERROR).encode()]).symptoms if s.signature == WANT]
    assert found.text.startswith("RuntimeError")
