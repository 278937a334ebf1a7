"""program.fork: CUDA is used in a forked child, or in a context that is not current."""

from __future__ import annotations

from gpuwhy.model.cause import Cause

CAUSE = Cause(
    id="program.fork",
    title="CUDA is used after fork(), or from the wrong thread or process",
    effect="CUDA does not survive a fork",
    needs_log=True,
)
