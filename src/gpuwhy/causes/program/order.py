"""program.order: something is done at a moment when it is not allowed."""

from __future__ import annotations

from gpuwhy.causes.told import by_output, needs_output
from gpuwhy.model.cause import Cause

CAUSE = Cause(
    id="program.order",
    title="something is done at a moment when it is not allowed",
    signs=(needs_output,),
    fixes=by_output("program.order"),
    effect="The program does things in the wrong order",
    needs_log=True,
)
