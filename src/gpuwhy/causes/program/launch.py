"""program.launch: a kernel is launched with more than the card takes."""

from __future__ import annotations

from gpuwhy.model.cause import Cause

CAUSE = Cause(
    id="program.launch",
    title="a kernel asks for more threads, registers or shared memory than the GPU has",
    effect="A kernel cannot be launched",
    needs_log=True,
)
