"""One message, one likeliest cause: logs written around the programs' own formats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpuwhy.logs import batch, explain_text

ROWS = [json.loads(line) for line in (Path(__file__).parent / "answers.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=lambda r: f"{r['cause']}-{r['log'][:30]}")
def test_likeliest_cause(row):
    report = explain_text(row["log"])
    assert report.causes[0].id == row["cause"], [(c.id, c.confidence) for c in report.causes]
    assert report.causes[0].because[0].evidence[0].kind == "told"
    assert report.causes[0].because[0].evidence[0].source.detail.startswith("line ")


def test_batch_speaks_json_lines():
    fed = [json.dumps({"id": n, "log": row["log"]}).encode() for n, row in enumerate(ROWS)]
    said = [*batch([*fed, b"\n", b'{"id": "x", "log": "hello"}'])]
    assert [s["id"] for s in said] == [*range(len(ROWS)), "x"]
    assert said[-1] == {"id": "x", "causes": []}
    for one in said:
        shares = [c["confidence"] for c in one["causes"]]
        assert shares == sorted(shares, reverse=True)
        assert len(shares) <= 5
        assert sum(shares) <= 1 + 0.0005 * len(shares) + 1e-9  # each is rounded


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


SURROUNDINGS = {
    "Windows line ends": lambda text: text.replace("\n", "\r\n"),
    "a quotation": lambda text: "".join(f"> {line}\n" for line in text.split("\n")),
    "a code block": lambda text: f"```\n{text}\n```",
    "colours": lambda text: "".join(f"\x1b[0;31m{line}\x1b[0m\n" for line in text.split("\n")),
    "a pod's time": lambda text: "".join(f"2024-03-01T12:00:00.123456789Z {line}\n" for line in text.split("\n")),
}


@pytest.mark.parametrize("third", range(3))
@pytest.mark.parametrize("turn", [0, pytest.param(2, marks=pytest.mark.attack)])
def test_surroundings_change_nothing(third, turn):
    """Each text in one of them, which is another for the next text."""
    changed = []
    for n, row in enumerate(ROWS[third::3]):
        plain = [cause.id for cause in explain_text(row["log"]).causes[:1]]
        for name, put in (list(SURROUNDINGS.items()) * 2)[n % 5 + turn : n % 5 + turn + 1]:
            if plain != [cause.id for cause in explain_text(put(row["log"])).causes[:1]]:
                changed.append((name, row["log"]))
    assert changed == []


@pytest.mark.parametrize(
    "asked, told, cause",
    [
        ("libcublas.so.9.0", "CUDA 9.1", "cuda.version_mismatch"),
        ("libcublas.so.9.0", "", "cuda.missing_library"),
        ("libcufft.so.10", "CUDA 11.2", "cuda.missing_library"),  # CUDA 11 brings it under this very name
        ("libcusolver.so.11", "CUDA 12.3", "cuda.missing_library"),
        ("libcudart.so.11.0", "CUDA 11.8", "cuda.missing_library"),
        ("libcudart.so.11.0", "CUDA 12.3", "cuda.version_mismatch"),
    ],
)
def test_a_file_name_dates_the_build(asked, told, cause):
    text = f"{told}\nImportError: {asked}: cannot open shared object file: No such file or directory\n"
    assert explain_text(text).causes[0].id == cause


def test_what_the_driver_runs_is_no_installed_cuda():
    smi = "| NVIDIA-SMI 450.51  Driver Version: 450.51  CUDA Version: 11.0 |\n"
    text = f"{smi}ImportError: libcublas.so.10: cannot open shared object file: No such file or directory\n"
    assert explain_text(text).causes[0].id == "cuda.missing_library"


def test_libraries_are_tried_only_where_the_driver_works():
    drivers = "I cudart_stub.cc:31] Could not find cuda drivers on your machine, GPU will not be used.\n"
    skipped = "W gpu_device.cc:2344] Cannot dlopen some GPU libraries.\nSkipping registering GPU devices...\n"
    assert explain_text(drivers).causes[0].id == "driver.missing"
    assert "driver.missing" not in [c.id for c in explain_text(drivers + skipped).causes[:3]]


@pytest.mark.parametrize(
    "told, cause",
    [
        ("cuda 9.0 and cuDNN v6.0 are installed", "cudnn.version_mismatch"),  # cuDNN 6 does not exist for CUDA 9
        ("TensorFlow 2.3, CUDA 10.1, cuDNN 7.4.2", "cudnn.version_mismatch"),  # this TensorFlow is built with 7.6
        ("TensorFlow 2.3, CUDA 10.1, cuDNN 7.6.5", "memory.preallocation"),
    ],
)
def test_cudnn_and_cuda_that_cannot_go_together(told, cause):
    text = f"{told}\nE cuda_dnn.cc:328] Could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR\n"
    assert explain_text(text).causes[0].id == cause


@pytest.mark.parametrize(
    "told, cause",
    [
        ("RTX3090, CUDA 10.1", "framework.gpu_unsupported"),  # compute capability 8.6 begins with CUDA 11.1
        ("GeForce RTX 3080, TensorFlow 2.3.0", "framework.gpu_unsupported"),  # built for CUDA 10.1
        ("GeForce GTX 1080, CUDA 10.1", "memory.preallocation"),
    ],
)
def test_a_gpu_newer_than_cuda(told, cause):
    text = f"{told}\nfailed to create cublas handle: CUBLAS_STATUS_NOT_INITIALIZED\n"
    assert explain_text(text).causes[0].id == cause


def test_a_note_about_a_library_does_not_explain_a_missing_module():
    note = (
        "W dso_loader.cc:59] Could not load dynamic library 'cudart64_101.dll'; dlerror: cudart64_101.dll not found\n"
        "I cudart_stub.cc:29] Ignore above cudart dlerror if you do not have a GPU set up on your machine.\n"
    )
    assert explain_text(note).causes[0].id == "cuda.missing_library"
    assert explain_text(note + "ModuleNotFoundError: No module named 'my_model'\n").causes[0].id == "other.not_gpu"
