"""Hedge: where two causes are about as likely, the second thing to try is the best remedy of the second one."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.report import Shown
from gpuwhy.model.threshold import LIKELY

CLOSE = 0.35
"""The part of the first cause's likelihood from which on a second one is worth a try."""
_OPEN = (" PACKAGE", " VARIABLE", " EXTENSION", " FILE.cpp", " FILE.cu")
"""How a command ends that leaves open what it is about."""


_TWINS = {"memory.oom", "memory.other_process"}
"""A full card tells neither whose memory it is nor how much the program would need: both are told what to do."""


def hedged(shown: Sequence[Shown]) -> tuple[Shown, ...]:
    """The causes; the first one's second remedy, where it says little, gives way to the first of the next cause."""
    if len(shown) < 2 or shown[0].confidence >= LIKELY or not shown[0].fixes:
        return tuple(shown)
    first, *others = shown
    near = [one for one in others if one.confidence >= CLOSE * first.confidence]
    twins = [one for one in near if {first.id, one.id} == _TWINS]
    other = next((fix for one in twins or near for fix in _best(one, first.fixes, bool(twins))), None)
    if other is None or _said(first.fixes[1:2], twins) or not (twins or _says_little(first.fixes[1:2])):
        return tuple(shown)
    fixes = (first.fixes[0], other, *first.fixes[1:])
    return (structs.replace(first, fixes=fixes), *others)


def _best(cause: Shown, known: Sequence[Fix], twin: bool) -> list[Fix]:
    """Its first remedy with a command (a twin's: any) that is not among those already told, under its condition."""
    told = {fix.command for fix in known if fix.command}
    fits = (fix for fix in cause.fixes[:2] if fix.command not in told and fix.role != "look")
    found = next((fix for fix in fits if twin or not _vague(fix)), None)
    if found is None:
        return []
    return [structs.replace(found, text=on.after(f"Or, if {cause.title}: ", found.text), of=cause.id)]


def _said(second: Sequence[Fix], twins: Sequence[Shown]) -> bool:
    """Whether the second remedy already is the first one of a twin."""
    told = {fix.command for fix in second} - {""}
    return any(fix.command in told for one in twins for fix in one.fixes[:1])


def _says_little(second: Sequence[Fix]) -> bool:
    return not second or _vague(second[0])


def _vague(fix: Fix) -> bool:
    """Whether it only looks, has no command, or one that leaves open what it is about."""
    return fix.role == "look" or not fix.command or fix.command.endswith(_OPEN)
