"""What was outlived, what was meant, what only the data is to blame for; and the same words with a failure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpuwhy.logs import explain_text
from gpuwhy.model.threshold import FOUND
from gpuwhy.symptoms.ending import ending_of
from gpuwhy.symptoms.series import settled

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "innocent" / "outlived.jsonl").read_text(encoding="utf-8").splitlines()
]
OOM = "CUDA out of memory. Tried to allocate 2.00 GiB"


@pytest.mark.parametrize("case", [one for one in CASES if not one["cause"]], ids=lambda case: case["name"])
def test_nobody_is_accused(case):
    causes = explain_text(case["log"]).causes
    assert [c for c in causes[:1] if c.id != "other.not_gpu" and c.confidence >= FOUND] == []


@pytest.mark.parametrize("case", [one for one in CASES if one["cause"]], ids=lambda case: case["name"])
def test_the_same_words_with_a_failure(case):
    causes = explain_text(case["log"]).causes
    assert [c.id for c in causes[:1] if c.confidence >= FOUND] == [case["cause"]]


def test_a_series_is_settled_by_a_later_try_only():
    lost, won = f"trial 3 failed: {OOM}", "trial 4 finished, value=0.3"
    assert settled([lost, won]) == 2
    assert settled([won, lost]) == 0
    assert settled([lost, won, lost]) == 0
    assert settled(["epoch 1 loss 0.3", f"RuntimeError: {OOM}", "epoch 2 loss 0.2"]) == 0  # no series: written late


def test_an_exception_after_a_settled_series_is_the_ending():
    text = f"trial 3 failed: {OOM}\ntrial 4 finished, value=0.3\n"
    assert ending_of(text).well
    later = ending_of(text + 'Traceback (most recent call last):\n  File "a.py", line 2, in f\nKeyError: 4\n')
    assert (later.type, later.well) == ("KeyError", False)
    assert not ending_of(text, exit_code=1).well  # a code that is known decides


STATUS = """\
E direct_session.cc:170] Internal: failed call to cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY
Traceback (most recent call last):
  File "/w/run.py", line 5, in <module>
    sess = tf.Session()
tensorflow.python.framework.errors_impl.InternalError: Failed to create session.
"""


def test_a_status_that_says_nothing_is_explained_by_what_was_printed_before():
    assert explain_text(STATUS).causes[0].id.startswith("memory.")
