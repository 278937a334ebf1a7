"""The atlas finds a message that was filled in, wrapped, cut or prefixed, and no other; a hostile line costs little."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuwhy.knowledge import atlas, shingles
from gpuwhy.knowledge.atlas_file import Atlas
from gpuwhy.knowledge.shingles import HOLE
from gpuwhy.model.origin import Place
from tools.atlas.build import Book, write
from tools.atlas.message import Message

WORDS = [
    f"{a}{b}"
    for a in ("ba", "ko", "mi", "tu", "re", "sol", "fan", "dor")
    for b in ("lan", "tor", "vex", "min", "gra", "pel", "sut")
]
PREFIXES = (
    "", "RuntimeError: ", "2026-11-15 12:00:00.123456: E external/x/y.cc:12] ", "[rank0]: ValueError: ",
    "W1115 12:00:00.1 77 torch/x.py:3] [0/0] ", "ERROR 11-15 12:00:00 [core.py:512] ",
)  # fmt: skip
FILLED = ("7", "cuda:0", "/a/b c/d.so", "(3, 4)", "'x y z'", "0x7f")


def _templates() -> list[str]:
    rng = random.Random(5)
    out = []
    for _ in range(80):
        words = [rng.choice(WORDS) for _ in range(rng.randint(8, 26))]
        for _ in range(rng.randint(0, 2)):
            words.insert(rng.randint(3, len(words)), HOLE)
        out.append(" ".join(words))
    return out


TEMPLATES = _templates()


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Atlas:
    """An atlas of eighty templates; the second half came with release 2."""
    book = Book()
    said = [Message(text, f"m{n}.py", "f", "RuntimeError") for n, text in enumerate(TEMPLATES)]
    book.add("thing", "1.0", said[:40])
    book.add("thing", "2.0", said)
    path = tmp_path_factory.mktemp("atlas") / "atlas.bin"
    write(book, path)
    return Atlas(path.read_bytes())


@pytest.fixture(scope="module", autouse=True)
def _opened(small: Atlas) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(atlas, "atlas", lambda: small)
        patch.setattr(atlas, "labels", dict)
        yield


def _filled(text: str, rng: random.Random) -> str:
    return "".join(rng.choice(FILLED) if c == HOLE else c for c in text)


def _module(line: str) -> str:
    found = atlas.origin(line, ("thing",))
    return found.module if found else ""


@given(st.integers(0, 79), st.sampled_from(PREFIXES), st.randoms(use_true_random=False))
def test_a_template_is_found_whatever_fills_it_and_stands_before_it(
    number: int, prefix: str, rng: random.Random
) -> None:
    assert _module(prefix + _filled(TEMPLATES[number], rng)) == f"m{number}.py"


@pytest.mark.parametrize("number", [n for n, text in enumerate(TEMPLATES) if HOLE not in text and text.count(" ") > 14])
def test_one_half_of_a_wrapped_line_at_least_is_found(number: int) -> None:
    words = TEMPLATES[number].split(" ")
    half = len(words) // 2 + 1
    assert f"m{number}.py" in (_module(" ".join(words[:half])), _module(" ".join(words[-half:])))


def test_most_cut_lines_are_found_and_none_is_taken_for_another() -> None:
    rng = random.Random(7)
    found = []
    for number, text in enumerate(TEMPLATES):
        words = _filled(text, rng).split(" ")
        module = _module("ValueError: " + " ".join(words[: len(words) * 3 // 4]))
        assert module in (f"m{number}.py", "")
        found.append(bool(module))
    assert sum(found) >= 0.85 * len(found)


@given(st.integers(0, 79))
def test_a_near_miss_is_not_found(number: int) -> None:
    words = TEMPLATES[number].replace(HOLE, "7").split(" ")
    changed = [word if n % 3 else "other" for n, word in enumerate(words)]
    assert _module(" ".join(changed)) == ""


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=40))
def test_the_same_words_in_another_order_are_not_found(words: list[str]) -> None:
    line = " ".join(words)
    found = _module(line)
    assert not found or TEMPLATES[int(found[1:-3])].split(HOLE)[0][:20] in line or len(set(words)) < 9


@given(st.text(max_size=400))
def test_any_line_is_survived(line: str) -> None:
    atlas.origin(line)


@pytest.mark.parametrize(
    "line", ["a " * 500_000, ": " * 500_000, "x" * 1_000_000, "\x00" * 100_000, " " * 1_000_000, "] a b c " * 100_000]
)
def test_a_hostile_line_costs_a_bounded_number_of_questions(
    line: str, small: Atlas, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def rows(one: int) -> Iterator[int]:
        asked.append(one)
        return iter(())

    monkeypatch.setattr(small, "rows", rows)
    atlas.origin(line)
    assert len(asked) <= atlas.MOST_WORDS + atlas.MOST_STARTS


def test_releases_say_since_when_and_bound_the_text() -> None:
    new, old = (
        atlas.origin(_filled(TEMPLATES[60], random.Random(1))),
        atlas.origin(TEMPLATES[3].replace(HOLE, "7"), ("thing",)),
    )
    assert new is not None
    assert old is not None
    assert (new.first, new.text) == ("2.0", "raised by thing, m60.py, in `f`, since 2.0 (not yet in 1.0)")
    assert old.text.endswith("in every release from 1.0 to 2.0")
    assert atlas.bounded([new, old]) == {"thing": ("2.0",)}
    assert atlas.bounded([old]) == {}


@pytest.mark.parametrize(
    ("having", "says"),
    [
        (("1", "2", "3", "4"), "in every release from 1 to 4"), (("3", "4"), "since 3 (not yet in 2)"),
        (("1", "2"), "up to 2 (no longer in 3)"), (("2", "3"), "from 2 to 3"), (("2",), "in 2"),
    ],
)  # fmt: skip
def test_a_span_in_words(having: tuple[str, ...], says: str) -> None:
    assert Place("p", "m", "", "", having, ("1", "2", "3", "4")).span == says


def test_a_word_that_touches_a_hole_is_not_part_of_the_template() -> None:
    assert shingles.fragments(f"found sm_{HOLE} on cuda:{HOLE}x here") == [["found"], ["on", "cuda"], ["here"]]


def test_a_short_message_belongs_only_to_a_program_that_the_text_names(tmp_path: Path) -> None:
    book = Book()
    book.add("thing", "1.0", [Message("value must be positive here", "m.py", "f", "ValueError")])
    write(book, tmp_path / "atlas.bin")
    line = "ValueError: value must be positive here"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(atlas, "atlas", lambda: Atlas((tmp_path / "atlas.bin").read_bytes()))
        assert atlas.origin(line) is None
        assert atlas.origin(line, ("import", "thing")) is not None
        assert atlas.origin(f"thing.{line}") is not None
