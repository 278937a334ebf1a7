"""The same error in other surroundings gets the same answer."""

from __future__ import annotations

import json

import pytest

from gpuwhy.logs import explain_text

ERRORS = {
    "memory.host": "Loading checkpoint shards\nKilled",
    "driver.too_old": "RuntimeError: The NVIDIA driver on your system is too old (found version 11040).",
    "framework.extension_abi": "ImportError: my_ext.so: undefined symbol: _ZN3c105ErrorC2E",
    "program.index": "Loss.cu:115: block: [0,0,0], thread: [3,0,0] Assertion `t >= 0 && t < n_classes` failed.\n"
    "RuntimeError: CUDA error: device-side assert triggered",
    "device.hardware": "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.",
    "cuda.compiler_missing": "RuntimeError: Failed to find C compiler. Please specify via CC environment variable.",
}
PREFIXES = [
    "> ",
    ">> ",
    "    ",
    "- ",
    "E   ",
    "0: ",
    "[rank0]: ",
    "[1,0]<stderr>:",
    "stderr: ",
    "2024-05-01 12:00:00,123 - INFO - ",
    "2024-05-01T12:00:00.1234567Z ",
    "2024-05-01T12:00:00.123456789Z stderr F ",
    "2024-05-01 12:00:00.123 | ERROR    | app.main:run:12 - ",
    "[2024-05-01 12:00:00,123] [INFO] [engine.py:12:run] ",
    "Oct 04 13:19:39 node7 app[394]: ",
    "(EngineCore_DP0 pid=17374) ERROR 09-28 15:47:24 [core.py:718] ",
    "(RayTrainWorker pid=1234, ip=10.0.0.1) ",
    "time=2024-09-05T09:20:35.622+08:00 level=INFO source=gpu.go:521 msg=",
]


def first(text: str) -> str:
    return explain_text(text).causes[0].id


@pytest.mark.parametrize("cause", ERRORS)
@pytest.mark.parametrize("prefix", PREFIXES)
def test_prefix(cause, prefix):
    assert first("\n".join(prefix + line for line in ERRORS[cause].split("\n"))) == cause


@pytest.mark.parametrize("cause", ERRORS)
def test_frames(cause):
    text = ERRORS[cause]
    assert first(text.replace("\n", "\r\n")) == cause
    assert first("".join(f"\x1b[31m{line}\x1b[0m\n" for line in text.split("\n"))) == cause
    assert first("".join(f"│ {line:70} │\n" for line in text.split("\n"))) == cause
    assert first(json.dumps({"log": text + "\n", "stream": "stderr"})) == cause
    assert first(f"step 1 of 9\n```\n{text}\n```\n") == cause
