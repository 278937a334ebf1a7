"""The terminal writer: widths, commands that stay whole, colour, and what steers a terminal."""

import re
import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuwhy.answer.blocks import document, pair, pairs, table
from gpuwhy.answer.terminal import Paper, write
from gpuwhy.answer.text import clip, plain, size, width
from gpuwhy.answer.tree import (
    Bar,
    Code,
    Command,
    Document,
    Heading,
    Item,
    Items,
    Paragraph,
    Quote,
    Soft,
)
from tests.answer.examples import ANSWERS, DOCUMENTS
from tests.answer.injections import STRINGS, planted

TINT = re.compile(r"\x1b\[[0-9;]+m")
WORDS = st.text(st.characters(blacklist_categories=("Cs",)), max_size=60)
INLINE = st.one_of(WORDS, st.builds(Code, WORDS), st.builds(Soft, WORDS))
LINES = st.lists(INLINE, max_size=4).map(tuple)
PARTS = st.lists(st.tuples(WORDS, st.integers(0, 1 << 40)), max_size=5).map(tuple)
BLOCKS = st.lists(
    st.one_of(
        st.builds(Heading, LINES, st.sampled_from(["ok", "bad", ""]), st.integers(1, 3), LINES),
        st.builds(Paragraph, LINES),
        st.builds(lambda a, b: pairs(pair(a, b), pair(b, (a,), wide=True)), WORDS, WORDS),
        st.builds(lambda a, b: Items((Item((a,), "ok"), Item((b,)))), LINES, LINES),
        st.builds(lambda a, b: table(("x", "y"), [(a, b)] * 3, ["ok", "", "bad"]), LINES, LINES),
        st.builds(lambda a, b: Quote(((1, a), (2000, b)), 2000), WORDS, WORDS),
        st.builds(Bar, PARTS, st.integers(0, 1 << 38), WORDS),
    ),
    min_size=1,
    max_size=5,
).map(tuple)


@given(BLOCKS, st.integers(40, 140))
@settings(max_examples=150, deadline=None)
def test_no_line_is_wider_than_the_paper(blocks, columns):
    text = write(Document(blocks), Paper(columns))
    assert max(map(width, text.split("\n"))) <= columns
    assert write(Document(blocks), Paper(columns, unicode=False)).isascii()


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_examples_fit_but_for_commands(columns):
    for one in [*(document(answer, 1) for answer in ANSWERS.values()), *DOCUMENTS.values()]:
        wide = [line for line in write(one, Paper(columns)).split("\n") if width(line) > columns]
        assert all(" " not in line.strip().removesuffix(" \\") for line in wide), wide


def test_colour_is_added_and_nothing_else_changes():
    for answer in ANSWERS.values():
        shown = document(answer, 1)
        tinted = write(shown, Paper(colour=True))
        assert TINT.sub("", tinted) == write(shown)
        assert "\x1b[" in tinted


def command(text: str, columns: int = 60, language: str = "sh") -> str:
    return write(Document((Command(text, language),)), Paper(columns))


@pytest.mark.parametrize(
    "text",
    [
        'pip install --force-reinstall "torch==2.4.0" "torchvision==0.19.0" --index-url https://x/',
        "docker run --rm --gpus all -e 'A B C D' -v \"$PWD/a b\":/x nvidia/cuda:12 python train.py",
        r"echo a\ b\ c\ d\ e\ f\ g\ h one two three four five six seven eight nine ten eleven",
    ],
)
def test_a_long_shell_command_goes_on_after_a_backslash_and_means_the_same(text):
    printed = command(text)
    assert "\\\n" in printed
    assert shlex.split(printed.replace("\\\n", "")) == shlex.split(text)
    assert max(map(width, printed.split("\n"))) <= 60


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("set A=1&& python train.py --with --many --options --so --that --it --is --long", "bat"),
        ("python - <<'E'\nprint('a b c d e f g h i j k l m n o p q r s t u v w x y z')\nE", "sh"),
        ('python -c "\nprint(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17)"', "sh"),
        ("ls /a/b/c/d/e/f/g/h  # a remark that is long enough to be broken somewhere", "sh"),
    ],
)  # fmt: skip
def test_a_command_that_a_backslash_would_change_is_left_whole(text, language):
    assert [line.strip() for line in command(text, 60, language).rstrip("\n").split("\n")] == [
        line.strip() for line in text.split("\n")
    ]


def test_a_command_in_a_sentence_is_broken_between_words_alone():
    typed = "pip install --index-url https://download.pytorch.org/whl/cu128 torch==2.9.1"
    rows = write(Document((Paragraph(("or:", Code(typed, copy=True))),)), Paper(40)).split("\n")
    assert "  https://download.pytorch.org/whl/cu128" in rows
    assert " ".join("".join(rows).split()[1:]) in typed


def test_wide_signs_take_two_columns_and_accents_none():
    assert width("データ") == 6
    assert width("e\u0301") == 1
    text = write(Document((Paragraph(("データセット" * 20,)),)))
    assert max(map(width, text.split("\n"))) <= 80


@pytest.mark.parametrize("unicode", [True, False])
def test_nothing_steers_the_terminal_or_the_build_server(unicode):
    seen = ""
    for answer in planted():
        for detail in (0, 2):
            text = write(document(answer, detail), Paper(unicode=unicode))
            assert all(c.isprintable() for c in text.replace("\n", ""))
            assert not re.search(r"(?m)^\s*::|##\[|##vso", text)
            seen += text
    if unicode:
        squeezed = re.sub(r"\s", "", seen)
        missing = [one for one in STRINGS if one.isascii() and one.isprintable()
                   and "##" not in one and re.sub(r"\s", "", one[:40]) not in squeezed]  # fmt: skip
        assert not missing, "each of them was there to be read"


def test_values_in_words():
    assert [size(n) for n in (0, 1023, 1 << 10, 3 << 29, 200 << 30, 2 << 40)] == [
        "0 bytes", "1023 bytes", "1 KiB", "1.5 GiB", "200 GiB", "2 TiB",
    ]  # fmt: skip
    assert clip("one two three four", 12) == "one two …"
    assert plain("a\tb\u202ec\x1b[0m") == "a b\ufffdc\ufffd[0m"
