"""Neighbours told apart: texts that are nearly alike, and the difference that decides."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import pytest

from gpuwhy.logs import explain_text

GROUPS: dict[str, dict[str, str]] = json.loads((Path(__file__).parent / "neighbours.json").read_text(encoding="utf-8"))
HARMLESS = (
    "Unable to register cuDNN factory: Attempting to register factory for plugin cuDNN\n"
    "successful NUMA node read from SysFS had negative value (-1), but there must be at least one NUMA node\n"
)


@pytest.mark.parametrize("group, cause", [(group, cause) for group, texts in GROUPS.items() for cause in texts])
def test_each_has_its_own_cause(group, cause):
    report = explain_text(GROUPS[group][cause])
    assert report.causes[0].id == cause, [(c.id, c.confidence) for c in report.causes]


def test_every_pair_that_is_told_apart_has_two_texts():
    apart = [
        {"cudnn.missing", "cudnn.version_mismatch", "env.path"},
        {"cuda.missing_library", "cuda.version_mismatch"},
        {"cuda.mixed_libraries", "framework.extension_abi", "install.conflict"},
        {"container.no_gpu", "driver.missing", "driver.permission"},
        {"driver.library_mismatch", "driver.compat_misuse", "driver.stub"},
        {"memory.oom", "memory.other_process", "memory.preallocation", "memory.fragmentation", "memory.host"},
        {"framework.cpu_only", "framework.platform_dropped"},
        {"program.index", "memory.oom"},
        {"other.not_gpu", "cudnn.missing"},
    ]
    for causes in apart:
        for pair in combinations(sorted(causes), 2):
            assert any(set(pair) <= set(texts) for texts in GROUPS.values()), pair


def shares(text: str) -> list[tuple[str, float]]:
    return [(cause.id, cause.confidence) for cause in explain_text(text).causes]


@pytest.mark.parametrize(
    "text, always",
    [
        (GROUPS["not enough memory, by numbers"]["memory.oom"].split("If reserved")[0],
         "If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n"),
        ("RuntimeError: CUDA error: no kernel image is available for execution on the device\n",
         "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n"),
        (GROUPS["no cuDNN by that name"]["cudnn.missing"], HARMLESS),
    ],
)  # fmt: skip
def test_what_is_printed_always_says_nothing(text, always):
    assert shares(text) == shares(text + always)


def test_harmless_lines_alone_are_no_failure():
    assert explain_text(HARMLESS).status == "healthy"
