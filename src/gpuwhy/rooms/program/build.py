"""program.build: a build from source is not set up right."""

from __future__ import annotations

from gpuwhy.model.cause import Cause

CAUSE = Cause(
    id="program.build",
    title="building from source fails: compiler, headers or libraries are not set up",
    effect="The build against CUDA fails",
    needs_log=True,
)
