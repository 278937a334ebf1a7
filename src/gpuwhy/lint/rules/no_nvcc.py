"""CUDA code compiled in an image without nvcc."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import containers
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake, Place, Rule

RULE = Rule("no-nvcc", "error", "CUDA code compiled in an image without nvcc")

_ACTIVE = re.compile(
    r"-D(GGML_CUDA|LLAMA_CUBLAS|LLAMA_CUDA|WHISPER_CUDA|GGML_CUBLAS|USE_CUDA|WITH_CUDA)=(on|1|yes|true)", re.IGNORECASE
)


def check(scope: Scope) -> Iterator[Mistake]:
    """CUDA code compiled in an image whose tag says that it has no compiler."""
    base, stage = scope.base, scope.environment
    if base.variant not in ("base", "runtime") or any(containers.NVCC_PACKAGES.match(name) for name in stage.apt):
        return
    if any(
        pin.name in ("cuda-nvcc", "cuda-toolkit", "nvidia-cuda-nvcc-cu12", "nvidia-cuda-nvcc") for pin in stage.pins
    ):
        return
    found = _compiles(scope)
    if found:
        place, what, sure = found
        text = f"{what}, and image {base.name} has no nvcc"
        know = containers.TAGS if base.family == "cuda" else containers.PYTORCH_TAGS
        fix = f"compile it in a stage from {base.name.replace('-' + base.variant, '-devel')} and copy the result"
        yield RULE.mistake(place, text, know, fix, "error" if sure else "warning")


def _compiles(scope: Scope) -> tuple[Place, str, bool] | None:
    """What is compiled, where, and whether it surely is."""
    for command in scope.environment.commands:
        line = command.lines[0] if command.lines else 0
        called = command.words[0] if command.words else ""
        if called == "nvcc" and "||" not in command.then:
            return Place(scope.environment.path, line), "nvcc is called", True
        told = _ACTIVE.search(" ".join([command.text, *(value for _, value in command.assigned)]))
        if told and re.match(r"(pip|python|cmake|make|uv)", called):
            return Place(scope.environment.path, line or 1), f"{told[0]} compiles CUDA code", True
    return _compiled(scope)


def _compiled(scope: Scope) -> tuple[Place, str, bool] | None:
    """A package that is compiled when it is installed."""
    pin = next((p for p in scope.pins if p.name in containers.COMPILED and not (p.reference and p.version)), None)
    return (pin.place, containers.COMPILED[pin.name], pin.name not in containers.PREBUILT) if pin else None
