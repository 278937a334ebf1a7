"""program.shape: a tensor's shape, type or layout is not what the operation takes."""

from __future__ import annotations

from gpuwhy.causes.told import by_output, needs_output
from gpuwhy.model.cause import Cause

CAUSE = Cause(
    id="program.shape",
    title="a tensor's shape, type or layout is not what the operation takes",
    signs=(needs_output,),
    fixes=by_output("program.shape"),
    effect="The program passes a tensor that does not fit",
    needs_log=True,
)
