"""torch without a version from an index of PyTorch's that ended years ago."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge import indexes
from gpuwhy.lint import holding
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake, Rule
from gpuwhy.model.version import at_least

RULE = Rule("index-ended", "warning", "torch without a version from an index that ended: an old release is taken")

_OLD = "2.6"
"""Indexes that ended before it have no code for Blackwell, and no torch that transformers 5 takes."""


def check(scope: Scope) -> Iterator[Mistake]:
    """Each such torch, once in an environment."""
    for pin in scope.pins:
        held = holding.by_index(pin)
        if held and not at_least(held.version, _OLD) and not scope.environment.locked:
            backend = pin.backend
            text = f"the index {backend} ended with torch {held.version}: that is what comes, whatever is out since"
            lacks = " (no code for Blackwell GPUs, too old for transformers 5)" if backend.startswith("cu") else ""
            fix = f"take an index that goes on (cu126, cu130, rocm7.0), or write torch=={held.version} if it is meant"
            yield RULE.mistake(pin.place, text + lacks, indexes.ENDED, fix)
            return
