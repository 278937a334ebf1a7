"""Hostile input: bounded time and memory, no crash, a clear note."""

import random
import re
import time
import zlib

import pytest

from gpuwhy.causes.load import catalogue
from gpuwhy.log.match import rows_of
from gpuwhy.log.read import read
from gpuwhy.log.scan import bounded, literals_of, search

WIDE = 20_000
ATTACKS = ("a", "0", " ", "a ", "/a", "ab:", "((", "'a' ", "\\", "1.1,", "-_", "no gpu ", "[a] ")
SECONDS = 3.0
"""A wide margin over what is needed, for a busy machine."""


@pytest.mark.parametrize(
    "unit",
    [
        *ATTACKS,
        "\n",
        "\r",
        "\t",
        "\0",
        "\x1b[",
        "| ",
        "<",
        "&#39;",
        "[rank0]: ",
        "ValueError: ",
        "Traceback (most recent call last):\n",
        '  File "a.py", line 1, in f\n',
        "$ pip install ",
        '{"log": "a\\n',
        "x = (1,\n",
        "12 MiB / ",
    ],
    ids=repr,
)
def test_a_text_of_one_thing_is_read_in_bounded_time(unit):
    start = time.process_time()
    read(unit * (100_000 // len(unit)))
    assert time.process_time() - start < SECONDS


def test_random_bytes_are_read():
    draw = random.Random(3)
    for size in (1, 7, 4096, 300_000):
        assert read(draw.randbytes(size)).lines >= 0


def test_a_cut_or_damaged_gzip_is_told():
    packed = zlib.compressobj(9, zlib.DEFLATED, 31)
    data = packed.compress(b"RuntimeError: CUDA error: out of memory\n" * 999) + packed.flush()
    assert "gzip" in read(data[: len(data) // 2]).notes
    damaged = data[:30] + b"\xff" * 20 + data[50:]
    assert any("damaged" in note for note in read(damaged).notes)


def test_a_gzip_of_zeros_is_given_up_with_a_note():
    pack = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = bytes(1 << 24)
    data = b"".join(pack.compress(block) for _ in range(48)) + pack.flush()
    log = read(data)
    assert any("no log" in note for note in log.notes)


def test_no_row_costs_more_than_a_fixed_time():
    slow = []
    texts = [one * (WIDE // len(one)) for one in ATTACKS[:6]]
    for row in catalogue().messages:
        for pattern in row.patterns:
            expression = re.compile(bounded(pattern), re.IGNORECASE)
            start = time.process_time()
            for text in texts:
                search(expression, text)
            if time.process_time() - start > SECONDS:
                slow.append(row.id)
    assert slow == []


def test_every_row_has_literals_and_compiles():
    rows = rows_of(catalogue())
    with_literals = {row for numbers in rows.of_literal for row in numbers}
    assert [one.id for at, one in enumerate(rows.rows) if at not in with_literals] == []


def test_every_entry_of_the_reader_compiles():
    for entries in catalogue().reader.values():
        for name, said in entries.items():
            if name.startswith(("names_", "table_")) or isinstance(said, dict):
                continue
            if isinstance(said, list) and said and isinstance(said[0], dict):
                for row in said:
                    re.compile(row.get("says") or row.get("line") or "")
            else:
                re.compile(said if isinstance(said, str) else "".join(said))


@pytest.mark.parametrize(
    ("pattern", "literals"),
    [
        (r"could not load (?:dynamic )?library", ("could not load ",)),
        (r"foo\.so|bar (?:x|y)", ("foo.so", "bar ")),
        (r"ab?c{2}", ()),
        (r"\w+ (?:a|b)", ()),
        (r"[abc]def", ("def",)),
        (r"colou?r scheme", ("r scheme",)),
    ],
)
def test_literals_of_an_expression(pattern, literals):
    assert literals_of(pattern) == literals
