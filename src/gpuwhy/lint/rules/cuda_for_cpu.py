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
    """torch by name from the default index, in a file that is for the CPU by its name; Cog without a GPU."""
    yield from _cog(scope)
    pin = next((p for p in scope.pins if p.name == "torch" and p.installed and not p.marker), None)
    if pin is None or pin.indexes or not from_index(scope, pin) or not _is_for_cpu(scope) or _is_there(scope):
        return
    if scope.environment.extra and _is_chosen_elsewhere(scope, pin):
        return
    extra = scope.environment.extra
    name = f"the extra {extra}" if extra else scope.environment.path.rsplit("/", 1)[-1]
    text = f"{name} is for the CPU by its name; torch from the package index brings CUDA and its libraries on Linux"
    fix = f"write torch==…+cpu, with --extra-index-url {_URL}"
    yield RULE.mistake(_place(scope, pin), text, _KNOW, fix)


def _cog(scope: Scope) -> Iterator[Mistake]:
    """A build for CUDA in an image that Cog makes without any."""
    pin = next((p for p in scope.pins if p.installed and p.variant.startswith("cu")), None)
    if scope.environment.no_gpu and pin:
        place = Place(scope.environment.path, scope.environment.no_gpu)
        text = f"gpu: false makes an image without CUDA; {pin.name}{pin.specifier} (line {pin.place.line}) is for a GPU"
        yield RULE.mistake(place, text, _COG, "write gpu: true, or take the builds for the CPU")


_COG = source(
    "replicate/cog, docs/yaml.md", "gpu: true chooses a base image with CUDA, and asks for a GPU when it runs"
)


def _is_for_cpu(scope: Scope) -> bool:
    """Whether the file's name says CPU, on Linux, and nothing says otherwise or tells the index elsewhere."""
    stage = scope.environment
    title = stage.extra if scope.kind == "pyproject" else stage.path.rsplit("/", 1)[-1]
    named = re.search(r"(^|[^a-z])cpu([^a-z]|$)", title.lower()) and not scope.named_gpu
    told = stage.told_elsewhere or stage.locked or bool(scope.base.gpu)
    return bool(named) and not told and stage.system not in ("windows", "darwin")


def _is_chosen_elsewhere(scope: Scope, pin: Pin) -> bool:
    """Whether an extra for a CUDA asks for the very same torch: which build that is, an index says at installation."""
    text = scope.read(scope.environment.path) or ""
    extras = re.findall(r"^\s*[\"']?cu\d{2,3}[\"']?\s*=\s*\[([^\]]*)\]", text, re.MULTILINE)
    wanted = re.compile(rf"[\"']torch\s*{re.escape(pin.specifier)}\s*[\"']")
    return any(wanted.search(extra.replace(" ", "")) for extra in extras)


def _place(scope: Scope, pin: Pin) -> Place:
    """The pin, or the command of this file that installs it from another one."""
    commands = scope.environment.commands
    elsewhere = pin.place.path != scope.environment.path and 0 < pin.step <= len(commands)
    return Place(scope.environment.path, commands[pin.step - 1].lines[0]) if elsewhere else pin.place


def _is_there(scope: Scope) -> bool:
    """Whether an earlier command, conda or an image of PyTorch's has one already."""
    return (
        "pytorch" in scope.names
        or scope.base.framework == "torch"
        or any(p.name == "torch" and p.variant == "cpu" for p in scope.pins)
    )
