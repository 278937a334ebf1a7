"""Bridge: releases moved to gpuwhy.knowledge.release; goes with model/."""

from gpuwhy.knowledge.release import (
    FIELDS,
    Confidence,
    Described,
    Evidence,
    Release,
    Verdict,
)

__all__ = ["FIELDS", "Confidence", "Described", "Evidence", "Release", "Verdict"]
