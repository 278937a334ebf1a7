"""distributed.peer: another process of the job is missing, unreachable or has died."""

from __future__ import annotations

from gpuwhy.model.cause import Cause

CAUSE = Cause(
    id="distributed.peer",
    title="another process of the job is missing, unreachable or has died",
    effect="The processes of the job do not find each other",
    needs_log=True,
)
