"""An NVIDIA wheel pinned outside of what the framework demands."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.lint.demands import conflicts, evidence
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake, Rule

RULE = Rule("nvidia-pin", "error", "an NVIDIA wheel pinned outside of what the framework demands")


def check(scope: Scope) -> Iterator[Mistake]:
    """A pin of a library against what every allowed release of a framework demands of it."""
    for first, second, wheel, place in conflicts(scope):
        if second.release is None:
            text = f"{wheel}{second.ranges[wheel]} is pinned, and {first.title} demands {first.ranges[wheel]}"
            brings = f"remove the pin (line {place.line}): {first.title} brings its own"
            yield RULE.mistake(place, text, evidence(first), f"{brings}, or write {wheel}{first.ranges[wheel]}")
