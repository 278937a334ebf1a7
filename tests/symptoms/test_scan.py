"""The engines find the same lines: hyperscan, the standard library, and a plain search line by line."""

from __future__ import annotations

import random
import re

import pytest

from gpuwhy.symptoms import scan, shape, sieve
from gpuwhy.symptoms.reader import anchors, read, scanner
from gpuwhy.symptoms.scan import Scanner
from gpuwhy.symptoms.shape import Shapes
from gpuwhy.symptoms.sieve import Sieve, Within

LITERALS = tuple(a.encode() for a in anchors())
ENGINES = [False, pytest.param(True, marks=pytest.mark.skipif(scanner(True).engine == "python", reason="no hyperscan"))]


def noise(rng: random.Random, lines: int) -> list[bytes]:
    return [b"step %d loss %.4f lr %.1e" % (n, rng.random(), rng.random()) for n in range(lines)]


def odd(text: bytes, rng: random.Random) -> bytes:
    """Upper and lower case at random."""
    return bytes(c ^ 0x20 if chr(c).isascii() and chr(c).isalpha() and rng.random() < 0.5 else c for c in text)


def near(text: bytes, rng: random.Random) -> bytes:
    """An anchor with one byte changed, lost or doubled: digits and spaces above all."""
    at = rng.randrange(len(text))
    return rng.choice([text[:at] + b"7" + text[at + 1 :], text[:at] + text[at + 1 :], text[:at] + b" " + text[at:]])


def hostile(seed: int) -> bytes:
    """Noise with anchors and near misses at line ends, between carriage returns, glued together, in junk."""
    rng = random.Random(seed)
    parts = noise(rng, 400)
    for _ in range(300):
        one = rng.choice(LITERALS)
        made = rng.choice([one, odd(one, rng), near(one, rng), one + rng.choice(LITERALS), b"\x00\xff" + one + b"\x80"])
        parts.append(rng.choice([b"", b"x", b"10%\r", b"[rank3]: "]) + made + rng.choice([b"", b"\r 20%", b"9", b" "]))
    parts += [rng.randbytes(200) for _ in range(50)]
    rng.shuffle(parts)
    return rng.choice([b"\n", b"\r\n"]).join(parts)


def plainly(block: bytes) -> list[tuple[int, bytes, set[int]]]:
    """What a reader would do: every line, every anchor."""
    found = []
    for number, row in enumerate(block.split(b"\n"), 1):
        for line in row.split(b"\r"):
            held = {n for n, literal in enumerate(LITERALS) if literal in line.lower()}
            if held:
                found.append((number, line, held))
    return found


def hits(one: Scanner, block: bytes) -> list[tuple[int, bytes, set[int]]]:
    return [(hit.line, hit.text, hit.anchors) for hit in one.hits(block, 1)]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("fast", ENGINES)
def test_every_line_with_an_anchor_and_no_other(seed, fast):
    block = hostile(seed)
    assert len(block) > scan.LONG, "a small block is searched another way"
    assert hits(Scanner(anchors(), fast=fast), block) == plainly(block)


@pytest.mark.parametrize("fast", ENGINES)
def test_weak_anchors_count_once_in_a_block(fast):
    block = b"\n".join([b"alpha here", b"beta here", *[b"noise"] * 3000, b"alpha, beta"])
    assert hits(Scanner(("alpha", "beta"), frozenset({"beta"}), fast=fast), block) == [
        (1, b"alpha here", {0}),
        (2, b"beta here", {1}),
        (3003, b"alpha, beta", {0}),
    ]


@pytest.mark.parametrize("fast", ENGINES)
def test_a_long_line_is_read_in_windows_that_hold_what_was_found(fast):
    line = b"q" * 20_000 + b"needle" + b"r" * 3000 + b"needle" + b"s" * 20_000
    found = hits(Scanner(("needle",), fast=fast), b"first\n" + line + b"\nneedle\n")
    assert [number for number, _, _ in found] == [2] * (len(found) - 1) + [3]
    assert all(len(text) <= scan.LONG for _, text, _ in found)
    assert any(b"q" * 1000 + b"needle" + b"r" * 1000 in text for _, text, _ in found)


@pytest.mark.parametrize("seed", range(4, 6))
def test_both_engines_read_the_same(seed):
    if scanner(True).engine == "python":
        pytest.skip("no hyperscan")
    block = hostile(seed) * 3
    fast, plain = (read([block], fast=fast) for fast in (True, False))
    assert fast == plain


def test_lines_that_hold_nothing_are_looked_at_once():
    one = Sieve(LITERALS)
    block = b"\n".join(noise(random.Random(1), 2000))
    assert one.may_hold(block) == []
    one._candidates = None  # type: ignore[assignment,method-assign]
    assert one.may_hold(re.sub(rb"[1-9]", b"3", block)) == [], "only the digits differ"


def test_what_is_remembered_is_bounded(monkeypatch):
    monkeypatch.setattr(sieve, "REMEMBERED", 5000)
    one = Sieve(LITERALS)
    for n in range(200):
        one.may_hold(b"%s\n" % bytes([97 + n % 26] * (20 + n)) * 50 + b"y" * 10_000)
        assert sum(map(len, one.dull)) <= 5000


def test_digits_are_no_difference_to_the_sieve_and_one_to_the_scanner():
    one = Scanner(("error 35",), fast=False)
    block = b"error 36\n" * 2000 + b"error 35\n"
    assert [hit.line for hit in one.hits(block, 1)] == [2001]


def test_a_short_text_compiles_no_database(monkeypatch):
    monkeypatch.setattr(scan, "_hyperscan", None)
    assert [hit.line for hit in Scanner(("needle",)).hits(b"hay\na needle\n", 1)] == [2]


@pytest.mark.parametrize("seed", range(3))
def test_all_literals_of_a_line_are_told_and_no_shape_hides_one(seed, monkeypatch):
    """Whatever the case, the digits, the spaces and the words around them; also where little can be remembered."""
    monkeypatch.setattr(shape, "MOST_WORDS", 50 * 10**seed)
    monkeypatch.setattr(shape, "MOST_SHAPES", 50 * 10**seed)
    within, shapes = Within(LITERALS), Shapes(LITERALS)
    lines = re.split(rb"[\r\n]", hostile(seed))[::5] + [b"a  %s\t b %s" % (one, one[:9]) for one in LITERALS[seed::9]]
    for line, held in zip(lines, shapes.held(lines, frozenset()), strict=True):
        there = {number for number, one in enumerate(LITERALS) if one in line.lower()}
        assert within.numbers(line.lower()) == there
        assert there <= held, (line, [LITERALS[number] for number in there - held])
    assert len(shapes._known) <= 50 * 10**seed + 1


def test_lines_that_say_nothing_known_have_an_empty_shape():
    lines = [b"step %d of %d: qwrt zxcv 0xdeadbeef%d" % (n, n * n, n) for n in range(1000)]
    shapes = Shapes(LITERALS)
    assert not any(shapes.held(lines, frozenset()))
    assert len(shapes._known) < 20
