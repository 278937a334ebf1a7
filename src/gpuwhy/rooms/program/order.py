"""program.order: something is done at a moment when it is not allowed."""

from __future__ import annotations

from gpuwhy.model.cause import Cause

CAUSE = Cause(
    id="program.order",
    title="calls are in the wrong order (for example set-up after the first use, or use of a buffer after its end)",
    effect="The program does things in the wrong order",
    needs_log=True,
)
