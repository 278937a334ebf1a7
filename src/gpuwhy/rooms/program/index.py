"""program.index: an index or label is out of range."""

from __future__ import annotations

from gpuwhy.model.cause import Cause

CAUSE = Cause(
    id="program.index",
    title="an index or label is out of range",
    effect="The program uses an index that is out of range",
    needs_log=True,
)
