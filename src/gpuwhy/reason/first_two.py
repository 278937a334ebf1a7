"""First two: what a person does first is a remedy of the cause that is told, and one that changes something.

The last word on the order of fixes, after the gate has put them into the words of the place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import structs

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.deeds import destroys, only_looks
from gpuwhy.model.report import Shown
from gpuwhy.model.steps import in_steps

_IF = re.compile(r"^(?:Or, )?(?:only )?if\b", re.IGNORECASE)
_SAYS = 60
"""Characters of a sentence that says what to do, whatever its command looks at."""

Steps = list[Fix]


def in_order(causes: Iterable[Shown]) -> tuple[Shown, ...]:
    """The causes, each with what mends it first."""
    return tuple(structs.replace(one, fixes=ordered(one.fixes)) for one in causes)


def ordered(fixes: Sequence[Fix]) -> tuple[Fix, ...]:
    """Own remedies before another cause's; of the first two, what changes something before what only looks."""
    ways = list(in_steps(_once(fixes)))
    own = [way for way in ways if not way[0].of]
    if not own:
        return tuple(fixes)
    rest = [way for way in ways if way is not own[0]]
    held = [way for way in rest if _held_back(way[0])]
    kept = [own[0], *(way for way in rest if way not in held)]
    first, *others = _told(_doing_first([*kept[:2], *held, *kept[2:]]))
    return (_as_first(first), *others)


def _as_first(fix: Fix) -> Fix:
    """A fix as the first of a list: no alternative to one that stands below it."""
    text = re.sub(r"^(?:Or|And)(?: also)?,? (?=\w)", "", str(fix.text))
    return structs.replace(fix, text=on.as_said(text[:1].upper() + text[1:], fix.text)) if text != fix.text else fix


def _once(fixes: Sequence[Fix]) -> list[Fix]:
    """The fixes, those that read alike once: at a place two systems' words may be the same."""
    return list({(str(fix.text).lower(), str(fix.command)): fix for fix in reversed(fixes)}.values())[::-1]


def _held_back(fix: Fix) -> bool:
    """Whether another cause's remedy takes something away, and says no condition; or only looks."""
    if not fix.of:
        return False
    return looks(fix) or (destroys(fix.text, fix.command) and not _IF.match(_bare(fix.text)))


def _doing_first(ways: list[Steps]) -> list[Steps]:
    """One that does something among the first two, where there is one; the first, if what looks says nothing to do."""
    at = next((n for n, way in enumerate(ways) if _does(way)), 0)
    if not at or not looks(ways[0][0]):
        return _second_does(ways)
    doing = ways.pop(at)
    return [ways[0], doing, *ways[1:]] if _says(ways[0][0]) and at > 1 else [doing, *ways]


def _second_does(ways: list[Steps]) -> list[Steps]:
    """What only looks is not the second, where the third does something."""
    if len(ways) > 2 and looks(ways[1][0]) and not _says(ways[1][0]) and _does(ways[2]):
        ways[1], ways[2] = ways[2], ways[1]
    return ways


def _told(ways: Sequence[Steps]) -> Iterator[Fix]:
    """The ways one after the other; a step of the first that only looks is told after the second."""
    last = [fix for way in ways[:1] for fix in way[1:] if looks(fix)]
    for number, way in enumerate(ways):
        yield from (fix for fix in way if fix not in last)
        yield from last if number == min(1, len(ways) - 1) else ()


def _does(way: Steps) -> bool:
    return not way[0].of and way[0].role != "look" and any(fix.command and not looks(fix) for fix in way)


def _says(fix: Fix) -> bool:
    return fix.role != "look" and len(fix.text) >= _SAYS


def looks(fix: Fix) -> bool:
    """Whether its commands, if it has any, change nothing."""
    return fix.role == "look" or (bool(fix.command) and only_looks(fix.command))


def _bare(text: str) -> str:
    return text.bare if isinstance(text, on.Said) else text
