"""Strangers: a learnt second opinion that accuses nobody, and doubts what others' failures say of the stack."""

from __future__ import annotations

import msgspec
import pytest

from gpuwhy.logs import _strange, batch
from gpuwhy.model.ending import Ending
from gpuwhy.model.symptom import Reading, Told
from gpuwhy.reason.settle import SURVIVED, settled
from gpuwhy.reason.stranger import BITS, STRANGE, STRANGER, Weights, packed, places, strangeness, unpacked
from gpuwhy.reason.tally import Score

OWN = {
    "a Perl script": "nvidia-smi: 8 GPUs\nparsing gpu.conf\nCan't locate Config/Tiny.pm in @INC at bin/watch line 12.\n"
    "BEGIN failed--compilation aborted at bin/watch line 12.\n",
    "a merge": "Auto-merging src/cuda/launch.cc\nCONFLICT (content): Merge conflict in src/cuda/launch.cc\n"
    "error: could not apply 3f1c2ab... faster kernels\nAutomatic merge failed; fix conflicts and then commit.\n",
    "a database": "gpu metrics exporter starting\npsycopg2.OperationalError: connection to server at localhost failed: "
    'FATAL:  password authentication failed for user "metrics"\nTraceback above, giving up\n',
}
OURS = {
    "no kernel image": "epoch 1\nRuntimeError: CUDA error: no kernel image is available for execution on the device\n",
    "no library": "Traceback (most recent call last):\n  File \"train.py\", line 1, in <module>\n    import torch\n"
    "ImportError: libcudnn.so.9: cannot open shared object file: No such file or directory\n",
    "a driver that does not fit": "2024-01-02 10:00:00: E external/local_xla/xla/stream_executor/cuda/cuda_driver.cc:"
    "265] failed call to cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: system has unsupported display driver\n2 more\n",
}  # fmt: skip


@pytest.mark.parametrize("text", OWN.values(), ids=OWN)
def test_ends_that_are_the_programs_own_are_strange(text: str) -> None:
    assert _strange(text).share > STRANGE


@pytest.mark.parametrize("text", OURS.values(), ids=OURS)
def test_failures_of_the_stack_are_not(text: str) -> None:
    assert _strange(text).share < STRANGE


def test_a_strange_text_of_which_nothing_is_known_is_called_not_ours_by_its_words() -> None:
    text = OWN["a merge"]
    strange = _strange(text)
    assert strange.share > STRANGER
    assert strange.words
    answer = next(iter(batch([msgspec.json.encode({"id": "x", "log": text})])))
    assert answer["causes"][0]["id"] == "other.not_gpu"
    assert answer["causes"][0]["confidence"] < 0.5


def test_doubt_lowers_a_cause_of_the_stack_and_no_other() -> None:
    reading = Reading((), Told(), 9, 0, (), Ending(), "")
    scores = (Score("driver.missing", 3.0, 0.8, ()), Score("program.shape", 1.0, 0.1, ()))
    assert settled(scores, reading)[0].confidence > SURVIVED
    assert settled(scores, reading, strange=True)[0].confidence == SURVIVED
    assert settled(scores, reading, seen={"driver.missing"}, strange=True)[0].confidence > SURVIVED
    shape = (Score("program.shape", 3.0, 0.8, ()),)
    assert settled(shape, reading, strange=True) == settled(shape, reading)


def test_weights_survive_their_file_and_count_with_their_sign() -> None:
    places_of = bytearray(1 << BITS)
    for place in places("perl says no"):
        places_of[place] = 256 - 3
    weights = Weights(0.5, 0.25, bytes(places_of))
    again = unpacked(packed(weights))
    assert again == weights
    assert strangeness(again, "perl says no") < 0.1 < strangeness(again, "something quite different") < 0.6
    assert strangeness(again, "") == 0.0


def test_long_texts_are_read_at_their_edges() -> None:
    middle = places("first line\n" + "x y z\n" * 20_000 + "unique middle\n" + "x y z\n" * 20_000 + "last line\n")
    assert places("unique").isdisjoint(middle)
