"""program.illegal_access: a kernel touches memory that is not its own."""

from __future__ import annotations

from gpuwhy.model.cause import Cause

CAUSE = Cause(
    id="program.illegal_access",
    title="a kernel reads or writes memory that is not its own (illegal memory access)",
    effect="A kernel touched memory that is not its own",
    needs_log=True,
)
