"""One message, one likeliest cause: logs written around the programs' own formats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpuwhy.causes import CAUSES
from gpuwhy.causes.clues import clues
from gpuwhy.logs import batch, explain_text

ROWS = [json.loads(line) for line in (Path(__file__).parent / "answers.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=lambda r: f"{r['cause']}-{r['log'][:30]}")
def test_likeliest_cause(row):
    report = explain_text(row["log"])
    assert report.causes[0].id == row["cause"], [(c.id, c.confidence) for c in report.causes]
    assert report.causes[0].because[0].evidence[0].kind == "told"
    assert report.causes[0].because[0].evidence[0].source.detail.startswith("line ")


def test_every_cause_can_be_told():
    assert {c.cause for c in clues()} == {c.id for c in CAUSES}


def test_batch_speaks_json_lines():
    fed = [json.dumps({"id": n, "log": row["log"]}).encode() for n, row in enumerate(ROWS)]
    said = [json.loads(line) for line in batch([*fed, b"\n", b'{"id": "x", "log": "hello"}'])]
    assert [s["id"] for s in said] == [*range(len(ROWS)), "x"]
    assert said[-1] == {"id": "x", "causes": []}
    for one in said:
        shares = [c["confidence"] for c in one["causes"]]
        assert shares == sorted(shares, reverse=True)
        assert len(shares) <= 5
        assert sum(shares) <= 1.001


def test_the_first_error_decides():
    first = "IndexKernel.cu:92: block: [0,0,0], thread: [1,0,0] Assertion `srcIndex < srcSelectDimSize` failed.\n"
    later = "CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`\n"
    assert explain_text(first + later).causes[0].id == "program.index"
    assert explain_text(later).causes[0].id == "memory.oom"


def test_harmless_lines_weigh_nothing_beside_a_failure():
    noise = "Unable to register cuDNN factory: Attempting to register factory for plugin cuDNN\n"
    broken = "ImportError: libcudnn.so.9: cannot open shared object file: No such file or directory\n"
    with_noise = {c.id: c.confidence for c in explain_text(noise * 3 + broken).causes}
    assert with_noise == {c.id: c.confidence for c in explain_text(broken).causes}


@pytest.mark.parametrize(
    "more, cause",
    [
        ("", "cudnn.missing"),
        ("cuDNN 9.1.0 is installed\n", "cudnn.version_mismatch"),
        ("/usr/local/cuda/lib64/libcudnn.so.8\n", "env.path"),
    ],
)
def test_same_message_different_cause(more, cause):
    asked = "OSError: libcudnn.so.8: cannot open shared object file: No such file or directory\n"
    assert explain_text(asked + more).causes[0].id == cause


@pytest.mark.parametrize(
    "figures, cause",
    [
        ("22.10 GiB already allocated; 0.20 GiB free; 22.60 GiB reserved", "memory.oom"),
        ("0.50 GiB already allocated; 0.20 GiB free; 0.60 GiB reserved", "memory.other_process"),
        ("9.00 GiB already allocated; 0.20 GiB free; 22.60 GiB reserved", "memory.fragmentation"),
    ],
)
def test_numbers_decide(figures, cause):
    gpu = "GPU 0; 24.00 GiB total capacity"
    text = f"CUDA out of memory. Tried to allocate 1.00 GiB ({gpu}; {figures} in total by PyTorch)"
    assert explain_text(text).causes[0].id == cause


def test_when_two_stay_open_a_test_is_named_and_its_answer_settles():
    from gpuwhy.logs import BadAnswerError, read, report_on

    text = b"OSError: libcudnn.so.8: cannot open shared object file: No such file or directory\n"
    report = report_on(read([text]), None)
    assert report.question is not None
    assert {"cudnn.missing", "env.path"} <= set(report.question.answers.values())
    settled = report_on(read([text]), None, ["library=there"])
    assert settled.causes[0].id == "env.path"
    assert settled.causes[0].confidence > 0.9
    with pytest.raises(BadAnswerError, match="library="):
        report_on(read([text]), None, ["library=maybe"])
