"""Warnings, notes and typing: what is no failure, what is only a second matter, and what is said less surely."""

from __future__ import annotations

import pytest

from gpuwhy.logs import explain_text, read, read_text, report_on
from gpuwhy.model.report import certainty

OLD = "UserWarning: CUDA initialization: The NVIDIA driver on your system is too old (found version 11040).\n"
UNKNOWN = "W0101 12:00:00.1 77 CUDAFunctions.cpp:109] CUDA unknown error - this may be due to an incorrect setup\n"
PLAIN = (
    "KeyError: 'learning_rate'",
    "FileNotFoundError: [Errno 2] No such file or directory: 'config.json'",
    "ValueError: batch_size should be positive, but got 0",
    "ModuleNotFoundError: No module named 'einops'",
)
SMI = "| NVIDIA-SMI 535.154.05    Driver Version: 535.154.05   CUDA Version: 12.2 |\n"


@pytest.mark.parametrize("ended", PLAIN)
def test_a_warning_does_not_explain_what_ended_the_program(ended):
    report = explain_text(f"{OLD}Traceback (most recent call last):\n{ended}\n")
    (first,) = report.causes
    assert first.id == "other.not_gpu"
    assert certainty(first.confidence) == "likely"
    assert [one.id for one in report.noticed] == ["driver.too_old"]


def test_what_the_warning_does_explain_stays_with_it():
    report = explain_text(f"{OLD}Traceback (most recent call last):\nRuntimeError: No CUDA GPUs are available\n")
    assert report.causes[0].id == "driver.too_old"
    assert report.causes[0].explains
    talks_of_it = explain_text(f"{OLD}ValueError: the GPU backend has no device 0\n")
    assert talks_of_it.causes[0].id == "driver.too_old"


def test_the_same_message_as_an_error_is_no_warning():
    raised = OLD.replace("UserWarning", "RuntimeError")
    assert [s.warned for s in read_text(OLD).all("torch.driver_too_old")] == [True]
    assert [s.warned for s in read_text(raised).all("torch.driver_too_old")] == [False]
    assert [s.warned for s in read_text(OLD + raised).all("torch.driver_too_old")] == [False]
    assert explain_text(OLD + raised + PLAIN[0]).causes[0].id == "driver.too_old"


@pytest.mark.parametrize("line, warned", [(UNKNOWN, True), (UNKNOWN.replace("W0101", "E0101"), False)])
def test_the_level_of_glog(line, warned):
    assert {s.warned for s in read_text(line).symptoms} == {warned}


@pytest.mark.parametrize(
    "line",
    [
        "INFO: fixed last week's CUDA out of memory issue",
        "2024-01-01 10:00:00 INFO to avoid CUDA out of memory the batch is split",
        "[2024-01-01 10:00:00] DEBUG: if you get CUDA out of memory, lower --batch",
    ],
)
def test_a_note_about_another_time_is_no_failure(line):
    report = explain_text(line)
    assert (report.status, report.causes) == ("healthy", ())


@pytest.mark.parametrize(
    "line",
    [
        "INFO: RuntimeError: CUDA out of memory",
        "ERROR: fixed size: CUDA out of memory",
        "INFO stderr: CUDA out of memory. Tried to allocate 2.00 GiB. Set max_split_size_mb to avoid fragmentation.",
    ],
)
def test_an_error_that_a_logger_passes_on_is_one(line):
    assert explain_text(line).causes[0].id == "memory.oom"


def test_a_misspelt_text_is_understood_and_never_more_than_possible():
    meant = "could not load library libcudnn_cnn_infer.so.8, error: libnvrtc.so: cannot open shared object file"
    typed = meant.replace("library", "libary").replace("cannot", "canot").replace("object", "objct")
    right, wrong = explain_text(meant).causes[0], report_on(read([typed.encode()]), None).causes[0]
    assert right.id == wrong.id == "cudnn.dependency_missing"
    assert certainty(right.confidence) == "likely"
    assert certainty(wrong.confidence) == "possible"


def test_a_healthy_table_is_called_one():
    report = explain_text(SMI)
    assert report.status == "healthy"
    assert report.headline == "No known failure in 1 line: a healthy nvidia-smi table, driver 535.154.05"
    assert (
        explain_text(SMI + "|ERR!  ERR! ERR!    ERR! / ERR! |   6172MiB / 11178MiB |     ERR!      Default |\n")
        .causes[0]
        .id
        == "device.hardware"
    )


def test_jax_without_a_gpu_has_several_causes():
    causes = {c.id: c.confidence for c in explain_text("WARNING:absl:No GPU/TPU found, falling back to CPU.").causes}
    assert causes["framework.cpu_only"] < 0.5
    assert {"driver.missing", "cuda.missing_library", "device.selection"} <= causes.keys()


def test_an_index_that_does_not_exist_is_said_first():
    report = explain_text("RuntimeError: CUDA error: invalid device ordinal")
    assert report.headline.startswith("A GPU is asked for that is not there")
    assert "cuda:1 where one GPU is" in report.causes[0].because[0].text


@pytest.mark.parametrize(
    "text",
    ["CUDNN_STATUS_INTERNAL_ERROR", "E cuda_dnn.cc:1] Could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR"],
)
def test_one_answer_makes_no_runner_up_certain_while_others_stay_open(text):
    report = report_on(read([text.encode()]), None, ["growth=no"])
    assert report.causes[0].id == "cudnn.version_mismatch"
    assert certainty(report.causes[0].confidence) == "likely"


def test_the_process_that_holds_the_memory_is_named():
    text = (
        "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 15.77 GiB of which 1.00 GiB is "
        "free. Process 12345 has 14.00 GiB memory in use. Including non-PyTorch memory, this process has 500.00 MiB "
        "memory in use. Of the allocated memory 300.00 MiB is allocated by PyTorch, and 20.00 MiB is reserved."
    )
    first = explain_text(text).causes[0]
    assert first.id == "memory.other_process"
    assert first.because[0].text.endswith("process 12345 held 14.00 GiB")
    assert any("kill 12345" in fix.command for fix in first.fixes)


def test_a_build_without_torch_names_the_package_and_the_option():
    text = (
        "Collecting flash-attn\n  Getting requirements to build wheel: finished with status 'error'\n"
        "ModuleNotFoundError: No module named 'torch'\n"
    )
    first = explain_text(text).causes[0]
    assert first.id == "program.build"
    assert "pip install --no-build-isolation flash-attn" in first.fixes[0].command
