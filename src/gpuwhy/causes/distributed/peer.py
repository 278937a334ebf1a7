"""distributed.peer: another process of the job is missing, unreachable or has died."""

from __future__ import annotations

from gpuwhy.causes.told import by_output, needs_output
from gpuwhy.model.cause import Cause

CAUSE = Cause(
    id="distributed.peer",
    title="another process of the job is missing, unreachable or has died",
    signs=(needs_output,),
    fixes=by_output("distributed.peer"),
    effect="The processes of the job do not find each other",
    needs_log=True,
)
