"""No expression stalls us: each is attacked with texts made of its own parts; `pytest -m attack` does it at length."""

from __future__ import annotations

import re
import sys
import time
from functools import partial
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from fuzz import stall

from gpuwhy.api.note import annotate
from gpuwhy.api.text import explain as explain_text
from gpuwhy.observe.built import assigned
from gpuwhy.symptoms.bounded import WINDOW, bounded, found_in
from gpuwhy.symptoms.reader import LATE, anchors, read_text


def test_a_window_is_what_the_attack_takes_it_for():
    assert stall.WINDOW == WINDOW


@pytest.mark.parametrize(
    "given, made",
    [
        (r"a*", r"a{0,160}"),
        (r"[^\n]*?b+", r"[^\n]{0,240}?b{1,160}"),
        (r"\d+\.\d*", r"\d{1,24}\.\d{0,24}"),
        (r"(?:a|b)+c", r"(?:a|b){1,24}c"),
        (r"x{2,}y{3}z{1,4}", r"x{2,160}y{3}z{1,4}"),
        (r"[]*+]+\*\+[\]*]", r"[]*+]{1,160}\*\+[\]*]"),
        (r"(?P<name>[^'\]]*)(?!x*)", r"(?P<name>[^'\]]{0,240})(?!x{0,160})"),
        (r"\\*", r"\\{0,160}"),
        (r"a{,}b{x}", r"a{0,160}b{x}"),
    ],
)
def test_every_repetition_ends(given, made):
    assert bounded(given) == made
    re.compile(made)


@pytest.mark.parametrize("before", [0, 1, 400, 511, 512, 513, 700, 1000, 1023, 1024, 5000])
@pytest.mark.parametrize("after", [0, 1, 600, 3000])
def test_a_message_is_found_anywhere_in_a_long_line(before, after):
    found = found_in(re.compile("x[ab]{1,400}y?$|x[ab]{1,400}y"), "-" * before + "x" + "ab" * 150 + "y" + "-" * after)
    assert found
    assert (found.start(), len(found[0])) == (before, 302)


def test_no_signature_repeats_without_end():
    for name, expression in stall.signatures():
        for op, value in walk(stall.parser.parse(expression.pattern)):
            assert not str(op).endswith("REPEAT") or int(value[1]) <= 400, name


def walk(node):
    for op, value in node:
        yield op, value
        parts = value if isinstance(value, (tuple, list)) else ()
        for part in parts:
            if isinstance(part, stall.parser.SubPattern):
                yield from walk(part)
            elif isinstance(part, list):
                for one in part:
                    if isinstance(one, stall.parser.SubPattern):
                        yield from walk(one)


def test_no_signature_stalls():
    """Every row of the catalogue, new ones too: turns of a yardstick on the worst window that its own parts make."""
    slow = {}
    for name, expression in stall.signatures():
        worst = stall.slowest(expression, stall.WINDOW, enough=stall.MOST, pumps=("a", "_", " "), most=12)
        if worst.turns > stall.MOST:
            slow[name] = worst
    assert slow == {}


def test_no_expression_over_files_of_others_stalls():
    """New ones are found by themselves: in names, rows, classes, closures and calls of these folders."""
    slow = {}
    for name, expression in stall.everywhere("lint", "fit", "ranks", "fleet"):
        worst = stall.slowest(expression, stall.WINDOW, enough=15 * stall.MOST, pumps=("a", " "), most=1)
        if worst.turns > 15 * stall.MOST:
            slow[name] = worst
    assert slow == {}


@pytest.mark.attack
def test_no_expression_stalls():
    for group, size, most in stall.groups():
        slow = {name: found for name, one in group if (found := stall.slowest(one, size, most)).turns > most}
        assert slow == {}


def test_a_generated_module_cannot_hold_a_look():
    """A string of 20 KB took 20 s; now a text of 4 MB takes no longer than one of 256 KiB."""
    for turn in ("a", "a=[", "'", "a ", "a:", "a = '", "[", "a: a.a["):
        text = turn * (4_000_000 // len(turn))
        assert stall.least(partial(assigned, text), 400) < 400, turn


HOSTILE = (
    lambda: " ".join(anchors()),
    lambda: "\n".join(anchors()),
    lambda: " ".join(anchors()) * 50,
    lambda: "cuda " + "x" * 5_000_000,
    lambda: "cuda error: x\n" * 300_000,
    lambda: ".so." * 100_000 + "undefined symbol",
    lambda: "unsatisfiedlinkerror a.dll " * 3000,
)
NO_LINES = ("\0", "a", "/", "a/", "a.", "'", "1", "-", "a=", "(", "C:\\")


@pytest.mark.parametrize("turn", NO_LINES)
def test_an_answer_does_not_wait_for_a_line_that_nobody_typed(turn):
    """Thirty thousand zeros behind a status took 8 s: an expression over the whole text began at each of them."""
    said = "CUDA error: no kernel image is available for execution on the device\nsegmentation fault\n"
    text = said + turn * (30_000 // len(turn))
    assert stall.least(lambda: explain_text(text), 300) < 300


def test_a_guarded_program_waits_a_moment_for_us_whatever_its_error_says():
    """The promise is 100 ms once we are loaded, about 100 turns; twice that is no stall yet."""
    annotate(RuntimeError("CUDA error: out of memory"), machine=False)
    for make in HOSTILE:
        text = make()
        assert stall.least(partial(annotated, text), 200) < 200, text[:60]


def annotated(text: str) -> None:
    annotate(RuntimeError(text), machine=False)


def test_what_was_read_in_time_is_told():
    text = "CUDA error: no kernel image is available for execution on the device\n" + " ".join(anchors())
    reading = read_text(text, time.thread_time())
    assert LATE in reading.notes


def test_empty_lines_cannot_hold_lint():
    """Two to the power of their number: forty at the start of a file without an ending took hours."""
    from gpuwhy.lint.kinds import recognise

    assert stall.least(lambda: recognise("NOTICE", "\n" * 5000 + "x"), 1000) < 1000
    assert recognise("NOTICE", "\n" * 5000 + "x") == ""
    assert recognise("image", "\n\n# a\nARG V=1\n  FROM nvidia/cuda:12.4.1-base\n") == "dockerfile"
