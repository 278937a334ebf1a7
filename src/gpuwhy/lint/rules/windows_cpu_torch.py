"""torch from the default index on Windows, where a GPU is meant: it has no CUDA there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.knowledge.variants import middle_index
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Pin, holds_only
from gpuwhy.model.lint import Mistake, Rule

RULE = Rule("windows-cpu-torch", "error", "torch of the default index on Windows, where a GPU is meant: it has no CUDA")
_KNOW = source(
    "wheels of torch on the package index", "those for Windows are built without CUDA; PyTorch's index has others"
)


def check(scope: Scope) -> Iterator[Mistake]:
    """The first torch that a Windows script installs, unless another line takes it from PyTorch's index."""
    stage = scope.environment
    meant = scope.gpu_meant or ("a GPU may be meant" if scope.for_windows else "")
    if stage.system != "windows" or not meant or stage.other_index:
        return
    found = [pin for pin in stage.pins if pin.name == "torch" and pin.origin == "pip" and not pin.limits]
    if any(map(_from_pytorch, found)):
        return
    for pin in found[:1] if not _is_meant(scope, found) else ():
        text = f"torch{pin.specifier} of the default index has no CUDA on Windows, and {meant}"
        fix = f"install it with --index-url {middle_index(pin.version)} (or another CUDA)"
        yield RULE.mistake(pin.place, text, _KNOW, fix, None if scope.gpu_meant else "warning")


def _is_meant(scope: Scope, found: list[Pin]) -> bool:
    """Whether the lines above say that it is the build for the CPU."""
    lines = (scope.read(found[0].place.path) or "").split("\n") if found else []
    above = lines[max(0, found[0].place.line - 4) : found[0].place.line] if found else []
    return any(re.search(r"\bcpu\b", line, re.IGNORECASE) for line in above)


def _from_pytorch(pin: Pin) -> bool:
    """Whether a line takes a build of PyTorch's own."""
    return bool(pin.variant) or pin.reference or any(holds_only(index.url) == "torch" for index in pin.indexes)
