"""A file for the CPU that installs PyTorch with CUDA."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.index import from_index
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.model.lint import Mistake, Place, Rule

RULE = Rule("cuda-for-cpu", "warning", "a file for the CPU that installs PyTorch with CUDA")

_KNOW = source(
    "PyTorch's wheels on the package index", "on Linux with CUDA, and gigabytes of NVIDIA's wheels beside it"
)
_URL = "https://download.pytorch.org/whl/cpu"


def check(scope: Scope) -> Iterator[Mistake]:
    """torch by name from the default index, in a file that is for the CPU by its name."""
    name = scope.environment.path.rsplit("/", 1)[-1].lower()
    stage = scope.environment
    for_cpu = re.search(r"(^|[^a-z])cpu([^a-z]|$)", name) and not scope.named_gpu
    if not for_cpu or stage.system in ("windows", "darwin") or stage.locked or stage.told_elsewhere or scope.base.gpu:
        return
    pin = next((p for p in scope.pins if p.name == "torch" and p.installed and not p.marker), None)
    if pin is None or pin.indexes or not from_index(scope, pin) or "pytorch" in scope.names or _comes_first(scope):
        return
    text = f"{name} is for the CPU by its name; torch from the package index brings CUDA and its libraries on Linux"
    fix = f"write torch==…+cpu, with --extra-index-url {_URL}"
    yield RULE.mistake(_place(scope, pin), text, _KNOW, fix)


def _place(scope: Scope, pin: Pin) -> Place:
    """The pin, or the command of this file that installs it from another one."""
    commands = scope.environment.commands
    elsewhere = pin.place.path != scope.environment.path and 0 < pin.step <= len(commands)
    return Place(scope.environment.path, commands[pin.step - 1].lines[0]) if elsewhere else pin.place


def _comes_first(scope: Scope) -> bool:
    """Whether an earlier command, or an image of PyTorch's, has the one for the CPU already."""
    return scope.base.framework == "torch" or any(p.name == "torch" and p.variant == "cpu" for p in scope.pins)
