"""Words: a guess where no clue speaks, or hardly one; explained and never certain; elsewhere they change nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from fuzz import stall

from gpuwhy.logs import _likeness, batch, explain_text, read_text
from gpuwhy.model.facts import Facts
from gpuwhy.model.threshold import GUESS
from gpuwhy.reason.stranger import marked
from gpuwhy.reason.tally import Score
from gpuwhy.reason.words import (
    BITS,
    CERTAINTY,
    NOTHING,
    ZERO,
    Likeness,
    blended,
    complains,
    likened,
    opened,
    unspoken,
    words_of,
)
from gpuwhy.rooms import CAUSES
from gpuwhy.rooms.text.words import likenesses
from gpuwhy.symptoms.reader import EDGE, read

UNKNOWN = "docker image: inside the container the library of the host is missing, singularity without nv flag fails"
KNOWN = "OSError: libcudnn.so.8: cannot open shared object file: No such file or directory"
WORDS = {
    "driver.missing": {"module": 4, "kernel": 3, "modprobe": 2},
    "memory.oom": {"batch": 4, "memory": 3, "allocate": 2},
    NOTHING: {"epoch": 4, "loss": 3, "accuracy": 2},
}


def column(words: dict[str, int]) -> bytes:
    out = bytearray([ZERO]) * (1 << BITS)
    for word, weight in words.items():
        out[marked(word) & ((1 << BITS) - 1)] += weight
    return bytes(out)


TWO = Likeness(4.0, tuple(WORDS), (-1.0, -1.0, -1.0), tuple(map(column, WORDS.values())))


def ranked(text: str) -> list[tuple[str, float]]:
    answer = next(iter(batch([msgspec.json.encode({"id": "x", "log": text})])))
    return [(c["id"], c["confidence"]) for c in answer["causes"]]


def test_the_data_is_small_and_about_causes():
    assert len(likenesses()) < 600_000
    found = opened(likenesses())
    assert set(found.names) <= {c.id for c in CAUSES} | {NOTHING}
    assert {len(one) for one in found.columns} == {1 << BITS}


def test_words_are_lower_case_without_paths_and_numbers():
    text = r"File '/home/jane/x/Module.py' C:\Users\jane\kernel32.dll gpu=0x7f12 CUDA_HOME 12.4"
    assert list(words_of(text)) == ["file", "module", "py", "kernel", "dll", "gpu", "cuda_home"]


def test_the_cause_whose_words_a_text_has_comes_first_and_names_them():
    first = likened(TWO, "modprobe: the kernel has no such module, epoch")[0]
    assert (first.cause, first.words) == ("driver.missing", ("module", "kernel", "modprobe"))


@pytest.mark.parametrize("text", ["", "module kernel", "epoch 3 loss 0.1 accuracy 0.9 memory"])
def test_too_few_words_or_those_of_a_success_say_nothing(text):
    assert likened(TWO, text) == ()


def test_words_alone_find_no_cause():
    scores = likened(TWO, "modprobe kernel module " * 9)
    assert scores[0].cause == "driver.missing"
    assert sum(s.confidence for s in scores) <= CERTAINTY < 0.5


def test_words_decide_among_clues_that_hardly_say_anything():
    weak = (Score("framework.bug", 0.1, 0.1, ()), Score("memory.oom", 0.1, 0.08, ()))
    after = blended(TWO, "no memory for a batch", weak)
    assert after[0].cause == "memory.oom"
    assert after[0].confidence <= CERTAINTY
    clear = (Score("framework.bug", 2.0, GUESS, ()),)
    assert blended(TWO, "no memory for a batch", clear) == clear


def test_the_report_says_that_it_is_a_guess_and_why():
    report = explain_text(UNKNOWN)
    assert report.status == "unknown"
    assert report.headline.startswith("No message that gpuwhy knows. By its words, perhaps: this container was started")
    finding = report.causes[0].because[0]
    assert finding.weight == "weak"
    assert finding.text.startswith("words of the text that such failures often have: docker, container")
    assert [c.id for c in report.causes][:1] == [ranked(UNKNOWN)[0][0]]


def test_where_a_clue_speaks_words_change_nothing():
    assert ranked(KNOWN) == ranked(f"{KNOWN}\ndocker container host singularity nvidia root")


def test_where_the_machine_is_looked_at_words_say_nothing():
    assert explain_text(UNKNOWN, Facts()).causes == ()


def test_a_text_that_complains_of_nothing_is_told_no_cause():
    quiet = "docker image: inside the container the library of the host, singularity with nv flag"
    assert not complains(quiet)
    assert ranked(quiet)
    assert explain_text(quiet).status == "healthy"


def test_of_a_large_text_the_words_of_both_ends_are_kept():
    noise = b"some noise without meaning\n" * 200_000
    excerpt = read((b"alpha\n", noise, b"omega\n")).excerpt
    assert len(excerpt) <= 2 * EDGE
    assert excerpt.startswith("alpha")
    assert excerpt.endswith("omega\n")
    assert read_text("one\ntwo").excerpt.split() == ["one", "two"]


@pytest.mark.parametrize("piece", ["a", "/", "a_", "\\", "(", "_"])
def test_no_text_takes_long(piece):
    assert stall.least(lambda: likened(_likeness(), piece * (2 * EDGE)), 500) < 500


def test_what_facts_only_speak_against_is_not_spoken_for() -> None:
    against = Score("env.shadowed", -4.0, 0.013, ())
    assert unspoken([against])
    assert not unspoken([against, Score("memory.oom", 1.0, 0.3, ())])
