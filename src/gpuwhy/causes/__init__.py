"""The causes, one per file, registered by hand in one sorted tuple."""

from __future__ import annotations

from gpuwhy.causes.driver import missing as driver_missing
from gpuwhy.model.cause import Cause

CAUSES: tuple[Cause, ...] = (
    driver_missing.CAUSE,
)  # fmt: skip
