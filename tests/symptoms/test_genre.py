"""Source code and questions are no logs: they hold no failure, and get no cause from a comment or a string."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuwhy.logs import explain_text, read_text
from gpuwhy.symptoms.document import is_document
from gpuwhy.symptoms.reader import read

CPP = """#include <cudnn.h>
#include <iostream>

int main() {
  cudnnHandle_t handle;
  auto status = cudnnCreate(&handle);
  if (status != CUDNN_STATUS_SUCCESS) {
    std::cerr << "cuDNN create failed: " << status << std::endl;
    return 1;
  }
  return 0;
}
"""
PYTHON = """import torch

def train():
    try:
        x = torch.zeros(3).cuda()
    except RuntimeError as error:
        # CUDA out of memory lands here
        if "out of memory" in str(error):
            print("CUDA out of memory, trying again")
    return x
"""


@pytest.mark.parametrize("text", [CPP, PYTHON])
def test_source_code_has_no_cause(text):
    report = explain_text(text)
    assert (report.status, report.causes) == ("healthy", ())
    assert report.headline.startswith("This is source code")


def test_what_a_program_printed_beside_its_source_is_a_log():
    assert explain_text(PYTHON + "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n").causes


def test_a_question_is_answered_as_one():
    report = explain_text("Why can't TensorFlow 1.15 load cuDNN 7?")
    assert report.headline.startswith("A question, not a log")
    assert all(cause.confidence < 0.5 for cause in report.causes)


@pytest.mark.parametrize(
    "line, slug",
    [
        ("cuDNN create failed: 4", "cudnn.internal_error"),
        ("cuDNN initialization failed: 1", "cudnn.not_initialized"),
        ("cuDNN initialization failed: 1001", "cudnn.not_initialized"),
    ],
)
def test_numbers_beside_the_library_are_decoded(line, slug):
    assert slug in {one.signature for one in read_text(line).symptoms}


@pytest.mark.parametrize(
    "library, unfit", [("cudart64_101.dll", True), ("libcudart.so.10.1", True), ("libcudart.so.11.0", False)]
)
def test_a_card_that_the_loaded_runtime_cannot_know(library, unfit):
    text = (
        f"I tensorflow/stream_executor/platform/dso_loader.cc:48] Successfully opened dynamic library {library}\n"
        "pciBusID: 0000:01:00.0 name: GeForce RTX 3080 computeCapability: 8.6\n"
        "E tensorflow/cuda_dnn.cc:328] Could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR\n"
    )
    assert (explain_text(text).causes[0].id == "framework.gpu_unsupported") is unfit


@pytest.mark.parametrize(
    "text, truth",
    [
        ("Why can't TensorFlow 1.15 load cuDNN 7?", "loads cuDNN 7"),
        ("Error: CUDA_PATH or CUDNN_PATH environment variables not set.", "neither CUDA_PATH nor CUDNN_PATH"),
        ("error: 'cudaDeviceProp' has no member named 'driverVersion'", "has no driverVersion"),
    ],
)
def test_false_claims_are_answered(text, truth):
    assert any(truth in one.text for one in explain_text(text).noticed)


def test_a_plain_log_is_no_claim():
    assert explain_text("RuntimeError: CUDA error: out of memory").noticed == ()


HOME = Path(__file__).parents[2]
WRITTEN = sorted(HOME.glob("src/gpuwhy/**/*.py"))[::20]


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: str(path.relative_to(HOME)))
def test_what_somebody_wrote_is_accused_of_nothing(path):
    """Our own sources quote more failures than any log has; pages that show whole logs are no matter of this."""
    report = explain_text(path.read_text("utf-8"))
    assert [one.id for one in report.causes if one.confidence >= 0.5 and one.id != "other.not_gpu"] == []


FILE = "".join(f"    value_{n} = settings.get('cuda out of memory', {n})\n" for n in range(20))


@pytest.mark.parametrize(
    ("end", "told"),
    [
        ("    return value_1\n", False),
        ("CUDA error: out of memory\n", True),
        ("cuDNN error: CUDNN_STATUS_NOT_INITIALIZED\n", True),
        ("RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n", True),
        ("2024-03-01 10:00:01 CUDA out of memory\n", True),
    ],
)
def test_a_source_with_what_it_printed_is_a_log(end, told):
    text = f"import torch\n\n\ndef main(settings):\n{FILE}{end}"
    assert is_document(text) is not told
    assert bool(explain_text(text).causes) is told


def test_what_is_known_to_have_run_is_no_document():
    text = f"def main(settings):\n{FILE}    return 1\n"
    assert "source code" in read_text(text).notes
    assert "source code" not in read((text.encode(),), exit_code=1).notes


def test_a_name_before_every_line_is_a_programs():
    text = "".join(f"ggml_cuda_init: value_{n} = {n};\n" for n in range(12))
    assert not is_document(text)


TABLE = """## Troubleshooting

| You see | Try |
|---|---|
| `RuntimeError: CUDA out of memory` | a smaller tile |
| `Torch not compiled with CUDA enabled` | reinstall torch from the cu121 index |
"""
REPORT = (
    'Wochenbericht: am Dienstag fiel auf gpu-07 eine Karte mit Xid 79 ("GPU has fallen off the bus") aus, jetzt ist '
    'alles fehlerfrei. Die Meldung "Failed to initialize NVML" auf gpu-11 war nur ein ausstehender Neustart.\n'
)
CODES = "RETURN VALUE\n" + "".join(
    f"       Return code {n} - {what}\n"
    for n, what in ((0, "Success"), (9, "not loaded"), (14, "corrupted"), (15, "The GPU has fallen off the bus"))
)  # fmt: skip


NOTES = (
    "Notes on the course, Thursday. There are twelve machines with an RTX 4060 in the room. The driver is "
    "installed, and PyTorch brings its own libraries. Please tell everybody what “CUDA out of memory” means (a smaller "
    "batch), and that nobody will see it today. Who likes may train longer in the evening.\n"
)


@pytest.mark.parametrize("text", [TABLE, REPORT, CODES, NOTES])
def test_errors_that_somebody_talks_about_accuse_nobody(text):
    assert [one.id for one in explain_text(text).causes if one.confidence >= 0.5] == []


@pytest.mark.parametrize(
    "text",
    [
        'My training ends with "CUDA out of memory", and before it there was "Failed to initialize NVML".\n',
        'After "Failed to initialize NVML" it says "CUDA error: out of memory". Why?\n',
        "CUDA error: out of memory\n",
    ],
)
def test_who_has_them_is_answered(text):
    assert explain_text(text).causes


def test_a_warning_by_its_letter_is_one_in_any_month():
    line = "[rank0]:[W{} 08:37:44.001512020 ProcessGroupNCCL.cpp:1250] Warning: the communicator of NCCL is kept\n"
    for day in ("212", "1112"):
        assert [one.id for one in explain_text(line.format(day)).causes if one.confidence >= 0.5] == []


MANUAL = """Run a job on several machines
=============================

.. note:: Some of the options are of the newest release only.

Before you start
----------------
You need a driver on each of the machines, and a network on which the workers reach the first one.
If a worker takes more memory than its machine has, it is killed by the kernel with exit code 137 (out of memory).

.. code-block:: console

   $ launch --nodes 2 train.yaml
   E0101 10:00:00 worker.py:12] CUDA error: out of memory
"""


@pytest.mark.parametrize(
    "text",
    [
        MANUAL,
        "[solved] CUDA error: no kernel image is available for execution on the device\n\nThe new wheel has it.\n",
        "Hinweis: der Fehler „CUDA driver version is insufficient“ auf den Knoten 5 bis 8 ist seit heute behoben.\n",
        "集群公告：节点上的 CUDA out of memory 问题已经解决，队列恢复正常。\n",
        "Avis : l'erreur « CUDA driver version is insufficient » a été corrigée cette nuit.\n",
        "E       AssertionError: Tensor-likes are not close!\nE       Mismatched elements: 3 / 128\n1 failed in 2.1s\n",
        "INFO:     uvicorn starts\nOSError: [Errno 98] Address already in use\n",
    ],
)
def test_what_is_over_explained_or_the_programs_own_accuses_nobody(text):
    accused = [one.id for one in explain_text(text).causes if one.confidence >= 0.5]
    assert accused in ([], ["other.not_gpu"])


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("The driver is fixed, but now I get CUDA error: no kernel image is available.\n", "framework.gpu_unsupported"),
        (
            "It works now on one node. The other fails with CUDA error: no kernel image is available.\n",
            "framework.gpu_unsupported",
        ),
        ("[solved?] CUDA error: no kernel image is available for execution\n", "framework.gpu_unsupported"),
        ("[c10d] TCPStore: [Errno 98] Address already in use (master_port 29500)\n", "distributed.peer"),
    ],
)
def test_good_news_that_is_taken_back_is_none(text, cause):
    assert explain_text(text).causes[0].id == cause
