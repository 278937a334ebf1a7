"""program.launch: a kernel is launched with more than the card takes."""

from __future__ import annotations

from gpuwhy.model.cause import Cause

CAUSE = Cause(
    id="program.launch",
    title="a kernel asks for more threads, registers, shared memory or time than the GPU allows",
    effect="A kernel cannot be launched",
    needs_log=True,
)
