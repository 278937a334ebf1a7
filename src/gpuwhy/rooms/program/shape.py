"""program.shape: a tensor's shape, type or layout is not what the operation takes."""

from __future__ import annotations

from gpuwhy.model.cause import Cause

CAUSE = Cause(
    id="program.shape",
    title="a tensor has the wrong shape, type or layout",
    effect="The program passes a tensor that does not fit",
    needs_log=True,
)
