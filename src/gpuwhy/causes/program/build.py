"""program.build: a build from source is not set up right."""

from __future__ import annotations

from gpuwhy.causes.told import by_output, needs_output
from gpuwhy.model.cause import Cause

CAUSE = Cause(
    id="program.build",
    title="a build from source is not set up right",
    signs=(needs_output,),
    fixes=by_output("program.build"),
    effect="The build against CUDA fails",
    needs_log=True,
)
