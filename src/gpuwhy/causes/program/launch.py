"""program.launch: a kernel is launched with more than the card takes."""

from __future__ import annotations

from gpuwhy.causes.told import by_output, needs_output
from gpuwhy.model.cause import Cause

CAUSE = Cause(
    id="program.launch",
    title="a kernel is launched with more than the card takes",
    signs=(needs_output,),
    fixes=by_output("program.launch"),
    effect="A kernel cannot be launched",
    needs_log=True,
)
