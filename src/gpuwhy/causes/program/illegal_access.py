"""program.illegal_access: a kernel touches memory that is not its own."""

from __future__ import annotations

from gpuwhy.causes.told import by_output, needs_output
from gpuwhy.model.cause import Cause

CAUSE = Cause(
    id="program.illegal_access",
    title="a kernel touches memory that is not its own",
    signs=(needs_output,),
    fixes=by_output("program.illegal_access"),
    effect="A kernel touched memory that is not its own",
    needs_log=True,
)
