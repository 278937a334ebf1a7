"""What a text speaks for: beside a failure, a note that is printed on every machine without a GPU is no word."""

from __future__ import annotations

from gpuwhy.reason.tally import index, weigh
from gpuwhy.rooms.text.rooms import clues
from gpuwhy.symptoms.reader import read_text

NOTE = (
    "2026-01-01 10:00:00.1: I tensorflow/stream_executor/cuda/cudart_stub.cc:29] Ignore above cudart dlerror if you do "
    "not have a GPU set up on your machine.\n"
)
OLD_API = (
    'Traceback (most recent call last):\n  File "t.py", line 1\n'
    "AttributeError: module 'tensorflow' has no attribute 'Session'\n"
)


def spoken(text: str) -> frozenset[str]:
    return weigh(index(clues()), read_text(text)).speaks_for()


def test_a_note_is_a_word_only_where_nothing_failed() -> None:
    assert "cuda.missing_library" in spoken(NOTE)
    assert "cuda.missing_library" not in spoken(NOTE + OLD_API)
    assert "install.conflict" in spoken(NOTE + OLD_API)
