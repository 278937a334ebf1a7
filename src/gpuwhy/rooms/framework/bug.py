"""framework.bug: this release of the framework or library has a bug."""

from __future__ import annotations

from gpuwhy.model.cause import Cause

CAUSE = Cause(
    id="framework.bug",
    title="this release of the framework or library has a bug",
    effect="This release has a bug",
    needs_log=True,
)
