"""distributed.nccl: the GPUs do not reach each other through NCCL."""

from __future__ import annotations

from gpuwhy.model.cause import Cause

CAUSE = Cause(
    id="distributed.nccl",
    title="NCCL cannot connect the GPUs",
    effect="NCCL does not connect the GPUs",
    needs_log=True,
)
