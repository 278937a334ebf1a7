"""An extension compiled with another CUDA major than its torch."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import containers
from gpuwhy.knowledge.releases import evidence_of
from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope, is_pinned
from gpuwhy.lint.sheet import Pin
from gpuwhy.model.fact import Source
from gpuwhy.model.lint import Mistake, Rule
from gpuwhy.model.version import major_minor, numbers

RULE = Rule("build-cuda-mismatch", "error", "an extension compiled with another CUDA major than its torch")

_EXTENSION = source("torch.utils.cpp_extension", "it refuses an nvcc of another CUDA major than torch's")


def check(scope: Scope) -> Iterator[Mistake]:
    """An extension compiled with the image's nvcc for a torch of another CUDA major."""
    torch = scope.names.get("torch")
    if scope.base.family != "cuda" or scope.base.variant != "devel" or torch is None or torch.variant == "cpu":
        return
    compiled = next((p for p in scope.pins if p.name in containers.COMPILED and not (p.reference and p.version)), None)
    cuda, know = _torch_cuda(scope, torch)
    base = scope.base
    if compiled and cuda and numbers(cuda)[:1] != numbers(base.cuda)[:1]:
        text = f"{compiled.name} is compiled with CUDA {base.cuda} of {base.name}; torch is built for CUDA {cuda}"
        fix = f"start from a devel image with CUDA {cuda}, or take torch for CUDA {major_minor(base.cuda)}"
        yield RULE.mistake(
            compiled.place,
            text,
            know,
            fix,
            "error" if is_pinned(torch) or torch.variant else "warning",
        )


def _torch_cuda(scope: Scope, torch: Pin) -> tuple[str, Source]:
    found = re.fullmatch(r"cu(\d+)(\d)", torch.variant)
    if found:
        return f"{found[1]}.{found[2]}", _EXTENSION
    row = scope.taken(torch) if not torch.variant and not scope.environment.other_index else None
    return (str(row.cuda), evidence_of(row, "cuda")) if row and isinstance(row.cuda, str) else ("", _EXTENSION)
