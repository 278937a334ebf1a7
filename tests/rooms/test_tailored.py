"""Fixes made for the case: the library, the framework and the system that the text names."""

from __future__ import annotations

import msgspec
import pytest

from gpuwhy.logs import explain_text
from gpuwhy.model.facts import Facts
from gpuwhy.model.report import Shown

from .facts import HERE, base, load

CANNOT = "cannot open shared object file: No such file or directory\n"
TF = "W tensorflow/stream_executor/platform/default/dso_loader.cc:55] Could not load dynamic library "


def told(text: str, cause: str) -> str:
    shown: Shown = next(c for c in explain_text(text).causes if c.id == cause)
    return "\n".join(f"{f.text}\n{f.command}" for f in shown.fixes)


@pytest.mark.parametrize(
    "text, cause, has, has_not",
    [
        (
            "[E:onnxruntime:Default] Failed to load library libonnxruntime_providers_cuda.so with error: "
            f"libcublasLt.so.13: {CANNOT}",
            "cuda.missing_library",
            ['"onnxruntime-gpu[cuda,cudnn]"', "preload_dlls()"],
            ["tensorflow", "Windows"],
        ),
        (
            f"{TF}'libcudart.so.10.1'; dlerror\n{TF}'libcudnn.so.7'; dlerror: libcudnn.so.7: {CANNOT}",
            "cudnn.missing",
            ["cudatoolkit=10.1 cudnn=7.6", "archive"],
            ["nvidia-cudnn", "and-cuda"],
        ),
        (f"{TF}'cudart64_101.dll'; dlerror: cudart64_101.dll not found\n", "cuda.missing_library",
         ["CUDA 10.1", r"\v10.1\bin;%PATH%"], ["and-cuda", "export"]),
        (f"{TF}'libcudart.so.12'; dlerror: libcudart.so.12: {CANNOT}", "cuda.missing_library",
         ['"tensorflow[and-cuda]"'], ["conda"]),
        (f"tensorflow==2.10.0\n{TF}'libcudnn.so.8'; dlerror: libcudnn.so.8: {CANNOT}", "cudnn.missing",
         ["nvidia-cudnn-cu11==8.9.*"], ["and-cuda", "cu12"]),
        (f"OSError: libcudnn.so.9: {CANNOT}", "cudnn.missing", ["nvidia-cudnn-cu12==9.*"], ["8.9", "cu11"]),
        (f"OSError: libcudnn.so.9: {CANNOT}Cuda compilation tools, release 13.0, V13.0.48\n", "cudnn.missing",
         ["nvidia-cudnn-cu13==9.*"], ["cu12"]),
        (f"OSError: libcudnn.so.8: {CANNOT}/opt/x/lib/libcudnn.so.8\n", "env.path",
         ["LD_LIBRARY_PATH=/opt/x/lib:"], ["find /"]),
        (
            "RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch installation.\n",
            "framework.gpu_unsupported",
            ["CUDA 12.8 or newer", "gpuwhy releases torch --works-with gpu=sm_120"],
            [],
        ),
        (
            "Loaded runtime CuDNN library: 8.0.5 but source was compiled with: 8.1.0.\n",
            "cudnn.version_mismatch",
            [">=8.1,<9"],
            ["cu12"],
        ),
        ("The NVIDIA driver on your system is too old (found version 11040). torch\n", "driver.too_old",
         ["built for CUDA 11.8", '"torch==2.7.1"', "cu118"], ["cu114", "11040"]),
        ("AssertionError: Torch not compiled with CUDA enabled\n", "framework.cpu_only", ["PyTorch"], ["jax", "ONNX"]),
    ],
)  # fmt: skip
def test_fixes_fit_the_case(text, cause, has, has_not):
    said = told(text, cause)
    assert [word for word in has if word not in said] == [], said
    assert [word for word in has_not if word in said] == [], said


def test_windows_gets_a_windows_test():
    report = explain_text(f"{TF}'cudart64_101.dll'; dlerror: cudart64_101.dll not found\n")
    assert report.question is not None
    assert report.question.command.startswith("where /R C:\\ ")


def test_a_cause_is_not_told_and_ruled_out():
    facts = msgspec.convert(base("healthy"), type=Facts)
    report = explain_text(f"OSError: libcudnn.so.8: {CANNOT}", facts)
    assert report.ruled_out
    assert not {c.id for c in report.causes} & {r.id for r in report.ruled_out}


@pytest.mark.parametrize(
    "text",
    [
        "RuntimeError: CUDA error: device-side assert triggered\n",
        "[E ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1)\n",
    ],
)
def test_a_bare_message_is_not_certain(text):
    assert 0.7 <= explain_text(text).causes[0].confidence < 0.97


def test_an_answer_alone_is_not_certain():
    from gpuwhy.logs import read, report_on

    report = report_on(read([b"epoch 1\n"]), None, ["library=there"])
    assert report.causes[0].id == "env.path"
    assert report.causes[0].confidence <= 0.9


def test_quotes():
    long = "x" * 600 + f" ImportError: libcudnn.so.9: {CANNOT}"
    finding = explain_text(long).causes[0].because[0]
    assert "libcudnn.so.9: cannot open" in finding.evidence[0].text
    report = explain_text(
        f"{TF}'cudart64_101.dll'; dlerror: cudart64_101.dll not found\nSkipping registering GPU devices...\n"
    )
    quoted = [e.source.detail for f in report.causes[0].because for e in f.evidence]
    assert len(quoted) == len(set(quoted))
    assert report.causes[0].explains == ("line 2 “Skipping registering GPU devices...”",)
    assert report.headline.startswith("Not certain. Perhaps a CUDA library")  # a note: it goes on


def test_a_text_that_shows_the_attempt_overrules_the_missing_gpu():
    facts = load(HERE / "cuda" / "missing_library" / "ruled-out-2.json")[1]
    report = explain_text(f"{TF}'libcufft.so.11'; dlerror: libcufft.so.11: {CANNOT}", facts)
    assert report.causes[0].id == "cuda.missing_library"
    assert report.causes[0].because[0].evidence[0].kind == "saw"
    assert not any("never opened" in r.because for r in report.ruled_out if r.id.startswith("cuda."))
