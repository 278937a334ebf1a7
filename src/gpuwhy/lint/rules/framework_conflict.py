"""Two frameworks that demand different versions of one NVIDIA wheel."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.lint.demands import conflicts, evidence
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake, Rule

RULE = Rule("framework-conflict", "error", "two frameworks that demand different versions of one NVIDIA wheel")


def check(scope: Scope) -> Iterator[Mistake]:
    """Two frameworks of which no allowed releases agree on a library."""
    for first, second, wheel, place in conflicts(scope):
        if second.release is not None:
            text = (
                f"{first.title} demands {wheel}{first.ranges[wheel]}, "
                f"{second.title} demands {wheel}{second.ranges[wheel]}: pip finds no release for both"
            )
            both = f"gpuwhy plan {first.pin.name} {second.pin.name}"
            fix = f"use one environment for each, or let the installer choose: {both}"
            yield RULE.mistake(place, text, evidence(first), fix)
