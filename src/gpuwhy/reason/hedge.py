"""Hedge: where two causes are about as likely, the second thing to try is the best remedy of the second one."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from gpuwhy.model.cause import Fix
from gpuwhy.model.report import Shown
from gpuwhy.model.threshold import LIKELY

CLOSE = 0.35
"""The part of the first cause's likelihood from which on a second one is worth a try."""
_OPEN = (" PACKAGE", " EXTENSION", " FILE.cpp", " FILE.cu")
"""How a command ends that leaves open what it is about."""


def hedged(shown: Sequence[Shown]) -> tuple[Shown, ...]:
    """The causes; the first one's second remedy, where it says little, gives way to the first of the next cause."""
    if len(shown) < 2 or shown[0].confidence >= LIKELY or not shown[0].fixes:
        return tuple(shown)
    first, *others = shown
    near = [one for one in others if one.confidence >= CLOSE * first.confidence]
    other = next((fix for one in near for fix in _best(one, first.fixes)), None)
    if other is None or not _says_little(first.fixes[1:2]):
        return tuple(shown)
    fixes = (first.fixes[0], other, *first.fixes[1:])
    return (structs.replace(first, fixes=fixes), *others)


def _best(cause: Shown, known: Sequence[Fix]) -> list[Fix]:
    """Its first remedy with a command that is not among those already told, under its condition."""
    told = {fix.command for fix in known}
    found = next((fix for fix in cause.fixes[:2] if not _vague(fix) and fix.command not in told), None)
    if found is None:
        return []
    return [structs.replace(found, text=f"Or, if {cause.title}: {found.text.removeprefix('Or ')}")]


def _says_little(second: Sequence[Fix]) -> bool:
    return not second or _vague(second[0])


def _vague(fix: Fix) -> bool:
    """Whether it only looks, has no command, or one that leaves open what it is about."""
    return fix.role == "look" or not fix.command or fix.command.endswith(_OPEN)
