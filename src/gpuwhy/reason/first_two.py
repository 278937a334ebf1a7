"""First two: what a person does first is a remedy of the cause that is told, and one that changes something.

The last word on the order of fixes, after the gate has put them into the words of the place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import structs

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.deeds import destroys, only_looks
from gpuwhy.model.report import Shown

_IF = re.compile(r"^(?:Or, )?(?:only )?if\b", re.IGNORECASE)


def in_order(causes: Iterable[Shown]) -> tuple[Shown, ...]:
    """The causes, each with what mends it first."""
    return tuple(structs.replace(one, fixes=ordered(one.fixes)) for one in causes)


def ordered(fixes: Sequence[Fix]) -> tuple[Fix, ...]:
    """Own remedies before another cause's; of the first two, what changes something before what only looks."""
    own = [fix for fix in fixes if not fix.of]
    if not own:
        return tuple(fixes)
    rest = [fix for fix in fixes if fix is not own[0]]
    held = [fix for fix in rest if _held_back(fix)]
    kept = [own[0], *(fix for fix in rest if fix not in held)]
    return tuple(_doing_first([*kept[:2], *held, *kept[2:]]))


def _held_back(fix: Fix) -> bool:
    """Whether another cause's remedy takes something away, and says no condition."""
    return bool(fix.of) and destroys(fix.text, fix.command) and not _IF.match(_bare(fix.text))


def _doing_first(fixes: list[Fix]) -> list[Fix]:
    """The second one first, where the first only looks and the second, of the same cause, does something."""
    if len(fixes) < 2 or not looks(fixes[0]) or looks(fixes[1]) or not fixes[1].command or fixes[1].of:
        return fixes
    return fixes if fixes[1].text.startswith("Then") else [fixes[1], fixes[0], *fixes[2:]]


def looks(fix: Fix) -> bool:
    """Whether its commands, if it has any, change nothing."""
    return fix.role == "look" or (bool(fix.command) and only_looks(fix.command))


def _bare(text: str) -> str:
    return text.bare if isinstance(text, on.Said) else text
