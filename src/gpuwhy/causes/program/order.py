"""program.order: something is done at a moment when it is not allowed."""

from __future__ import annotations

from gpuwhy.model.cause import Cause

CAUSE = Cause(
    id="program.order",
    title="the program does something too late or too early (for example set-up after the first use)",
    effect="The program does things in the wrong order",
    needs_log=True,
)
