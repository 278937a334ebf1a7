"""A program that says its framework has no CUDA, on a machine whose files say so too: certain, GPU or not."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gpuwhy.logs import explain_text
from gpuwhy.model.facts import Facts
from tests.rooms.facts import base, change

TORCH = "Traceback (most recent call last):\nAssertionError: Torch not compiled with CUDA enabled\n"
JAX = "RuntimeError: Unknown backend: 'gpu' requested, but no platforms that are instances of gpu are present.\n"


def machine(gpu: bool) -> Facts:
    plain = base("healthy")
    for name, title in (("torch", "PyTorch"), ("jax", "JAX")):
        one = {
            "name": name, "title": title, "distribution": name, "version": "2.0", "path": f"~/venv/{name}",
            **{key: {"absent": "CPU build"} for key in ("built_for_cuda", "built_for_cudnn", "sass", "ptx")},
            "gpu_build": {"known": False}, "opens": {"known": []},
        }  # fmt: skip
        _add(plain, one)
    if not gpu:
        change(plain, "devices.devices", {"known": []})
        change(plain, "devices.pci", {"known": []})
    change(plain, "target.interpreter.chosen_by", "--python")
    return msgspec.convert(plain, type=Facts)


def _add(plain: Any, one: dict[str, Any]) -> None:
    found = plain["target"]["frameworks"]["value"]
    found[:] = [other for other in found if other["name"] != one["name"]]
    found.append({})
    change(plain, f"target.frameworks.{len(found) - 1}", one)


@pytest.mark.parametrize("message, title", [(TORCH, "PyTorch 2.0"), (JAX, "JAX 2.0")])
@pytest.mark.parametrize("gpu", [True, False])
def test_the_facts_confirm_it(message: str, title: str, gpu: bool) -> None:
    first = explain_text(message, machine(gpu)).causes[0]
    assert (first.id, first.subject) == ("framework.cpu_only", title)
    assert first.confidence >= 0.97
    assert ("will not help here" in first.because[0].text) is not gpu
    assert ("no NVIDIA GPU here" in first.fixes[0].text) is not gpu


def test_checks_name_the_environment_that_was_named() -> None:
    fixes = explain_text(TORCH, machine(gpu=True)).causes[0].fixes
    assert {fix.check for fix in fixes} == {"gpuwhy check --python ~/venv"}
