"""install.cache: a stale build or bytecode cache is used."""

from __future__ import annotations

from gpuwhy.model.cause import Cause

CAUSE = Cause(
    id="install.cache",
    title="an outdated build or cache is used",
    effect="what was built for another release is loaded again",
    needs_log=True,
)
