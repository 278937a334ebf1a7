"""program.index: an index or label is out of range."""

from __future__ import annotations

from gpuwhy.causes.told import by_output, needs_output
from gpuwhy.model.cause import Cause

CAUSE = Cause(
    id="program.index",
    title="an index or label is out of range",
    signs=(needs_output,),
    fixes=by_output("program.index"),
    effect="The program uses an index that is out of range",
    needs_log=True,
)
