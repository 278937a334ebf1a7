"""A switch of a build that the project no longer has."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope, is_pinned
from gpuwhy.model.lint import Mistake, Place, Rule
from gpuwhy.model.version import at_least

RULE = Rule("old-build-flag", "error", "a build switch that the project no longer has")

_KNOW = source("llama.cpp, CMakeLists.txt", "LLAMA_CUBLAS ends the build since July 2024 (llama-cpp-python 0.2.80)")
_SINCE = "0.2.80"


def check(scope: Scope) -> Iterator[Mistake]:
    """LLAMA_CUBLAS for a llama-cpp-python that is new enough to refuse it."""
    place = _place(scope)
    pin = scope.names.get("llama-cpp-python")
    old = pin is not None and is_pinned(pin) and not at_least(pin.version or "0", _SINCE)
    if place and not old:
        text = "-DLLAMA_CUBLAS is gone: llama.cpp stops its build there and asks for GGML_CUDA"
        yield RULE.mistake(place, text, _KNOW, 'write CMAKE_ARGS="-DGGML_CUDA=on"')


def _place(scope: Scope) -> Place | None:
    """Where the switch is set: for the whole file, or before a command."""
    stage = scope.environment
    told = stage.variables.get("CMAKE_ARGS")
    if told and "LLAMA_CUBLAS" in told.value:
        return told.place
    for command in stage.commands:
        words = [*(f"{name}={value}" for name, value in command.assigned), *command.words]
        if any(re.search(r"CMAKE_ARGS=.*-DLLAMA_CUBLAS|^-C?cmake\.args=.*LLAMA_CUBLAS", word) for word in words):
            return Place(stage.path, command.lines[0] if command.lines else 0)
    return None
