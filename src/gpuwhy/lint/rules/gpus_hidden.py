"""A GPU asked for and hidden by a variable."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge import containers
from gpuwhy.lint.requests import HIDDEN
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Workload
from gpuwhy.model.lint import Mistake, Rule
from gpuwhy.model.plan import Machine

RULE = Rule("gpus-hidden", "warning", "a GPU asked for and hidden by a variable")

_HIDING = {"NVIDIA_VISIBLE_DEVICES": ("void", "none"), "CUDA_VISIBLE_DEVICES": ("-1", "")}


def check(scope: Scope) -> Iterator[Mistake]:
    """Variables of the image that runs which hide every GPU from its containers."""
    if not scope.environment.runs or not (scope.gpu_framework() or scope.base.gpu):
        return
    for name, values in _HIDING.items():
        variable = scope.environment.variables.get(name)
        if variable and variable.value.strip().strip("\"'") in values:
            text = f"{name}={variable.value} in the image hides every GPU from its containers"
            yield RULE.mistake(variable.place, text, containers.TOOLKIT, f"remove {name}")


def check_workload(work: Workload, _: Machine | None) -> Iterator[Mistake]:
    """A GPU asked for, and a variable that hides it."""
    for name in ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"):
        variable = work.variables.get(name)
        if work.request and variable and variable.value.strip("\"'") in HIDDEN:
            text = f"{work.name} asks for a GPU, and {name}={variable.value or '(empty)'} hides all of them"
            yield RULE.mistake(variable.place, text, containers.TOOLKIT, f"remove {name}, or the request")
