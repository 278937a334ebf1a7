"""cuda.compiler_missing: a compiler that is needed at run time is not found."""

from __future__ import annotations

from gpuwhy.model.cause import Cause

CAUSE = Cause(
    id="cuda.compiler_missing",
    title="a CUDA compiler (nvcc, ptxas, NVRTC) or a C compiler is not found",
    effect="A compiler needed at run time is not found",
    needs_log=True,
)
