"""Words: a guess where no clue speaks, explained and never certain; elsewhere they change nothing."""

from __future__ import annotations

import re
import sys
from importlib import resources
from pathlib import Path

import msgspec
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from fuzz import stall

from gpuwhy.causes import CAUSES
from gpuwhy.causes.text.words import lexicon
from gpuwhy.logs import batch, explain_text, read_text
from gpuwhy.model.facts import Facts
from gpuwhy.model.symptom import Likeness
from gpuwhy.reason.words import CERTAINTY, NOTHING, complains, likened, words_of
from gpuwhy.symptoms.reader import EDGE, read

UNKNOWN = "docker image: inside the container the library of the host is missing, singularity without nv flag fails"
KNOWN = "OSError: libcudnn.so.8: cannot open shared object file: No such file or directory"
TWO = {
    "driver.missing": Likeness(-1.0, {"module": 4.0, "kernel": 3.0, "modprobe": 2.0}),
    "memory.oom": Likeness(-1.0, {"batch": 4.0, "memory": 3.0, "allocate": 2.0}),
    NOTHING: Likeness(-1.0, {"epoch": 4.0, "loss": 3.0, "accuracy": 2.0}),
}


def ranked(text: str) -> list[tuple[str, float]]:
    answer = next(iter(batch([msgspec.json.encode({"id": "x", "log": text})])))
    return [(c["id"], c["confidence"]) for c in answer["causes"]]


def test_the_data_is_small_readable_and_about_causes():
    raw = (resources.files("gpuwhy.causes.text") / "data" / "words.json").read_bytes()
    assert len(raw) < 150_000
    assert set(lexicon()) <= {c.id for c in CAUSES} | {NOTHING}
    for one in lexicon().values():
        assert 0 < len(one.words) <= 60
        assert all(weight > 0 and re.fullmatch(r"[a-z][a-z_]*[a-z]", word) for word, weight in one.words.items())


def test_words_are_lower_case_without_paths_and_numbers():
    text = r"File '/home/jane/x/Module.py' C:\Users\jane\kernel32.dll gpu=0x7f12 CUDA_HOME 12.4"
    assert list(words_of(text)) == ["file", "module", "py", "kernel", "dll", "gpu", "cuda_home"]


def test_the_cause_whose_words_a_text_has_comes_first_and_names_them():
    first = likened(TWO, "modprobe: the kernel has no such module, epoch")[0]
    assert (first.cause, first.words) == ("driver.missing", ("module", "kernel", "modprobe"))


@pytest.mark.parametrize("text", ["", "module kernel", "epoch 3 loss 0.1 accuracy 0.9 memory"])
def test_too_few_words_or_those_of_a_success_say_nothing(text):
    assert likened(TWO, text) == ()


@pytest.mark.parametrize("cause", [name for name in lexicon() if name != NOTHING])
def test_words_alone_find_no_cause(cause):
    scores = likened(lexicon(), " ".join(lexicon()[cause].words))
    assert scores[0].cause == cause
    assert sum(s.confidence for s in scores) <= CERTAINTY < 0.5


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
    assert stall.least(lambda: likened(lexicon(), piece * (2 * EDGE)), 500) < 500
