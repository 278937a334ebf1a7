"""Steps: fixes that belong together, because one only goes on from the one before it ("Then …")."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpuwhy.model import on
from gpuwhy.model.cause import Fix

_FOLLOWS = re.compile(
    r"(?:On the host: )?(?:Then\b|And (?!then\b)|(?:Compose|Podman|For good): the same\b)", re.IGNORECASE
)


def follows(fix: Fix) -> bool:
    """Whether a fix says nothing without the one before it."""
    return bool(_FOLLOWS.match(fix.text.bare if isinstance(fix.text, on.Said) else fix.text))


def in_steps(fixes: Sequence[Fix]) -> Iterator[list[Fix]]:
    """Each fix with those that follow from it."""
    steps: list[Fix] = []
    for fix in fixes:
        if steps and not follows(fix):
            yield steps
            steps = []
        steps.append(fix)
    if steps:
        yield steps
