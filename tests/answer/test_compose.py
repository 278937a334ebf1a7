"""The composition: which answer a text gets, and what it may never be."""

import json

import pytest

from gpuwhy.answer import blocks, terminal
from gpuwhy.answer.answer import Answer
from gpuwhy.api.machine import Seen
from gpuwhy.api.text import BadChoiceError, batch, chosen, explain, shareable
from gpuwhy.facts.fact import Source
from gpuwhy.facts.finding import Evidence, Finding, Weight

MISMATCH = (
    "E tensorflow/stream_executor/cuda/cuda_dnn.cc:319] Loaded runtime CuDNN library: 7.4.1 but"
    " source was compiled with: 7.6.5.  CuDNN library needs to have matching major version\n"
)
KEY_ERROR = (
    "Traceback (most recent call last):\n"
    '  File "/home/ana/train.py", line 41, in <module>\n'
    "    rate = options['lr']\n"
    "KeyError: 'lr'\n"
)
STATUS = "cuDNN create failed: 4\n"


def text(answer: Answer) -> str:
    return terminal.write(blocks.document(answer))


def test_a_cause_is_named_in_the_logs_own_numbers():
    answer = explain(MISMATCH)
    assert answer.verdict == "found"
    assert answer.causes[0].id == "cudnn.version_mismatch"
    assert "7.4.1" in answer.headline
    assert "7.6.5" in answer.headline
    assert "Do this" in text(answer)
    assert "line 1: " in text(answer)


@pytest.mark.parametrize(
    "prefix",
    [
        "2026/11/19 12:00:01.123 gpu-node-17.cluster.local trainer[48213]: rank 3: ",
        "19/11/2026 12:00:01 | gpu-node-17.cluster.local | 48213 | ",
    ],
)
def test_the_evidence_is_quoted_from_behind_date_host_and_process(prefix):
    shown = text(explain(prefix + "ImportError: libcudnn.so.8: cannot open shared object file\n"))
    assert "line 1: ImportError: libcudnn.so.8: cannot open" in shown


@pytest.mark.parametrize(
    "said",
    [
        "RuntimeError: Mixed dnn version. The header is version 5005, the library 5110.",
        "ImportError: No module named 'upfirdn2d_plugin'",
        "OutOfMemoryError: Task was killed due to the node running low on memory.",
        "foo.bar.QuirkError: no flux",
        "MemoryError: no more room",
    ],
)
def test_a_text_that_ends_with_an_exception_is_never_healthy(said):
    answer = explain(said)
    assert answer.exit_code != 0
    assert answer.verdict != "healthy"
    assert "Quirk" not in said or "QuirkError" in answer.headline


def test_what_is_no_matter_of_the_gpu_is_one_line_with_its_place():
    answer = explain(KEY_ERROR)
    assert answer.exit_code == 1
    assert answer.headline == "Not a GPU problem: KeyError: 'lr' at train.py:41"
    assert len(text(answer).strip().split("\n")) == 1


def test_what_nobody_knows_is_not_recognised_and_never_a_tick():
    answer = explain("zorba[9921]: giving up on the batch, status 0x51\n")
    assert (answer.verdict, answer.exit_code, answer.mark) == ("unrecognised", 4, "unknown")


def test_a_number_has_its_name_and_one_observation_decides():
    answer = explain(STATUS)
    assert answer.verdict == "undecided"
    assert "CUDNN_STATUS_INTERNAL_ERROR" in answer.headline
    assert answer.question is not None
    assert answer.question.command == "nvidia-smi"
    assert all(cause.fixes for cause in answer.causes)


def test_the_machine_decides_what_the_text_leaves_open():
    why = Evidence("saw", "no NVIDIA module is loaded", Source("file", "/proc/modules"))
    none = Finding("driver.missing", Weight.PROOF, "no NVIDIA driver is loaded", evidence=(why,))
    seen = Seen((none,), explain(""))
    answer = explain(STATUS, seen)
    assert answer.verdict == "found"
    assert answer.causes[0].id == "driver.missing"
    assert "CUDNN_STATUS_INTERNAL_ERROR" in answer.headline
    assert "no NVIDIA driver is loaded" in answer.headline


def test_what_was_seen_decides_a_question():
    answer = explain(STATUS)
    assert answer.question is not None
    sees = "the GPU's memory is nearly full"
    decided = chosen(answer, [f"{answer.question.id}={sees}"])
    assert decided.verdict == "found"
    assert decided.causes[0].id == "memory.other_process"
    with pytest.raises(BadChoiceError, match="nearly full"):
        chosen(answer, ["x=y"])


def test_a_success_is_healthy():
    answer = explain("Num GPUs Available:  2\n")
    assert (answer.verdict, answer.exit_code) == ("healthy", 0)
    assert "2 GPUs" in answer.headline


def test_batch_answers_every_line():
    lines = [json.dumps({"id": 1, "log": MISMATCH}).encode(), b"", b"no json", None]
    out = list(batch(lines))
    assert out[0]["causes"][0]["id"] == "cudnn.version_mismatch"
    assert [bool(one.get("error")) for one in out] == [False, True, True]


def test_what_is_passed_on_holds_no_secret():
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    answer = shareable(explain(f"RuntimeError: CUDA error: out of memory, token {token}\n"))
    assert token not in repr(answer)


def test_a_notebook_shows_it():
    assert "cudnn.version_mismatch" in explain(MISMATCH)._repr_html_()
