"""Builds that failed on purpose (tools/build_failures.py): the cause, and a fix in the words of that build system."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gpuwhy.logs import explain_text
from gpuwhy.rooms.text import build_parts

ROWS = [json.loads(line) for line in (Path(__file__).parent / "builds.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_the_cause_and_a_fix_for_that_build_system(row):
    best = explain_text(row["log"]).causes[0]
    assert best.id in row["causes"]
    assert re.search(row["fix"], "\n".join(f"{fix.text} {fix.command}" for fix in best.fixes[:3]))


def test_a_symbol_a_header_and_a_library_lead_to_the_same_part():
    for symbol, header, library in (
        ("cudnnCreate", "cudnn_version.h", "cudnn"),
        ("cublasLtMatmul", "cublasLt.h", "cublas"),
        ("cudaMalloc", "cuda_fp16.h", "cudart_static"),
        ("ncclAllReduce", "nccl.h", "nccl"),
        ("nvmlInit_v2", "nvml.h", "nvidia-ml"),
    ):
        parts = {build_parts.by_symbol(symbol), build_parts.by_header(header), build_parts.by_library(library)}
        assert len(parts) == 1, (symbol, parts)
    assert build_parts.by_symbol("cuInit").library == "cuda"
    assert build_parts.by_symbol("customFunction") is None
