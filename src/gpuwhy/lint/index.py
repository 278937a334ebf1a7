"""Index: what the package index has of the judged packages."""

from __future__ import annotations

import re

from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Pin, holds_only
from gpuwhy.lint.versions import parsed, rows

JUDGED = ("tensorflow", "tensorflow-gpu", "tensorflow-cpu", "torch", "torchvision", "torchaudio", "jaxlib", "jax",
           "onnxruntime", "onnxruntime-gpu", "cupy-cuda11x", "cupy-cuda12x", "cupy-cuda13x")  # fmt: skip


FRAMEWORKS = {
    "tensorflow": "tensorflow",
    "tensorflow-gpu": "tensorflow",
    "tensorflow-cpu": "tensorflow",
    "torch": "torch",
    "jax": "jax",
    "jaxlib": "jax",
    "onnxruntime-gpu": "onnxruntime",
    "onnxruntime": "onnxruntime",
}


def rows_name(pin: Pin) -> str:
    """jax is pure Python; its jaxlib of the same number has the wheels."""
    return "jaxlib" if pin.name == "jax" else pin.name


def from_index(scope: Scope, pin: Pin) -> bool:
    """Whether a pin is taken from the default index."""
    return pin.origin == "pip" and not pin.reference and not pin.variant and not scope.environment.other_index


def next_release(name: str, version: str) -> str:
    """The next release after one."""
    asked = parsed(version)
    for row in rows(name):
        found = parsed(row.version)
        if (
            asked
            and found
            and found > asked
            and not found.is_prerelease
            and not row.yanked
            and row.platform != "source"
        ):
            return row.version
    return ""


def from_elsewhere(scope: Scope, pin: Pin) -> bool:
    """Whether another index or page of files may have a package, or the image holds it already."""
    other = any(holds_only(index.url) not in ("torch", "mirror") for index in pin.indexes)
    stage = scope.environment
    told = scope.told_index or bool(scope.repository.other_indexes) or _for_jetson(scope)
    return other or stage.other_index or stage.locked or scope.base.family in ("ngc", "l4t") or told


def _for_jetson(scope: Scope) -> bool:
    """Whether an extra or a file is for NVIDIA's small machines, whose packages come from an index of their own."""
    stage = scope.environment
    words = re.compile(r"(^|[^a-z])(jetson|orin|thor|xavier|l4t|jetpack|spark|tegra)([^a-z]|$)")
    return bool(words.search(stage.extra.lower()) or words.search(stage.path.lower()))
