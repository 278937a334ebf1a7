"""Every example that stands in the rows of questions is answered by its row, and by no other."""

from __future__ import annotations

import re
from string import Formatter

import pytest

from gpuwhy.answer import blocks, terminal
from gpuwhy.api.text import answer_of
from gpuwhy.ask.answer import ask, question
from gpuwhy.ask.question import expression, known
from gpuwhy.causes.load import catalogue
from gpuwhy.log.read import read

DATA = known()
ENTRIES = DATA.all
MATCHES = [(entry, one) for entry in ENTRIES for one in entry.matches]
NOT = [(entry, one) for entry in ENTRIES for one in entry.not_]


def texts(entry):
    rows = [one.text for one in (*entry.points, *entry.rows)]
    commands = [one.command for one in (*entry.points, *entry.rows)]
    typed = [
        c
        for one in (*commands, entry.run)
        for c in (one.values() if isinstance(one, dict) else [one])
    ]
    return [*entry.headlines, entry.fact, *rows, *typed]


@pytest.mark.parametrize(("entry", "words"), MATCHES, ids=lambda x: getattr(x, "id", x)[:60])
def test_an_example_is_answered_by_its_row_short_and_whole(entry, words):
    reply = ask(read(words), words)
    assert reply is not None
    assert reply.id == entry.id
    text = terminal.write(blocks.document(answer_of(read(words), command="ask")))
    assert len([line for line in text.split("\n") if line]) <= 16
    assert not re.search(r"\{\w+\}", text)


@pytest.mark.parametrize(("entry", "words"), NOT, ids=lambda x: getattr(x, "id", x)[:60])
def test_a_near_miss_is_not(entry, words):
    reply = ask(read(words), words)
    assert reply is None or reply.id != entry.id


@pytest.mark.parametrize("intent", DATA.intents, ids=lambda intent: intent.id)
def test_an_intent_is_recognised_and_others_are_not(intent):
    for words in intent.matches:
        assert intent.id in question(read(words), words).intents, words
    for words in intent.not_:
        assert intent.id not in question(read(words), words).intents, words


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_a_row_names_only_what_exists(entry):
    messages = {row.id for row in catalogue().messages}
    words = {word for one in (*entry.about, *entry.without) for word in one.split("|")}
    assert words <= set(DATA.words)
    assert set(entry.intents) <= {one.id for one in DATA.intents}
    assert {one.means for one in entry.rows if one.means} <= set(catalogue().causes)
    assert not entry.cause or entry.cause in catalogue().causes
    assert all(one in messages or any(m.startswith(one) for m in messages) for one in entry.on)
    for one in texts(entry):
        list(Formatter().parse(one))  # a brace that is no name


def test_ids_are_unique():
    ids = [entry.id for entry in ENTRIES]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    "pattern", [*DATA.words.values(), *(p for i in DATA.intents for p in i.phrases)]
)
def test_an_expression_costs_little(pattern):
    import time

    hostile = ("can gpu cudnn memory version " * 80)[:2000]
    began = time.perf_counter()
    expression(pattern).search(hostile)
    assert time.perf_counter() - began < 0.2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("Which CUDA does TensorFlow 2.10 need?", "CUDA 11.2"),
        ("Does TF 2.3 support an RTX 3060 on Windows?", "No: "),
        ("Is CUDA 11.2 right for TensorFlow 2.10?", "Yes: "),
        ("does tensorflow 2.11 have a GPU build for native Windows", "2.10 was the last"),
        ("which driver does CUDA 10.1 need on Windows?", "418.96"),
        ("Which CUDA does an RTX 5090 need?", "12.8"),
        ("what is cuDNN status 4000?", "CUDNN_STATUS_INTERNAL_ERROR"),
        ("what does xid 79 mean", "Xid 79"),
        ("is driver 391.25 enough for CUDA 10.1 on Windows?", "No: "),
    ],
)
def test_versions_and_numbers_come_from_tables(words, says):
    answer = answer_of(read(words))
    assert says in answer.headline
    assert answer.exit_code == 0


@pytest.mark.parametrize("words", ["what is the weather like?", "how do I bake bread?"])
def test_what_is_not_known_is_said(words):
    answer = answer_of(read(words), command="ask")
    assert answer.exit_code == 4
    assert answer.mark == "unknown"
