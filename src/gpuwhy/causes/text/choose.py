"""Choose: of a cause's remedies those for the case at hand: its messages, who speaks, and the system."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from msgspec import structs

from gpuwhy.causes.text.asked import Asked, asked
from gpuwhy.causes.text.meant import common, exact
from gpuwhy.causes.text.rooms import rooms
from gpuwhy.model.cause import Fix
from gpuwhy.model.facts import Facts
from gpuwhy.model.symptom import Reading, Symptom

_SETS = re.compile(r"export(?: \w+=[\w.:-]+)+")
"""Variables that are set to plain words: Windows' shell can do that too."""


def remedies(
    cause: str, own: Sequence[Fix], symptoms: Sequence[Symptom], reading: Reading, facts: Facts | None = None
) -> tuple[Fix, ...]:
    """The fixes for a cause where only a text is known.

    Those for the very messages; else those made for what was asked; else the ones for who speaks and the common ones.
    What the text names itself comes first of all, after what only looks.
    """
    room, case = rooms()[cause], asked(symptoms, reading, facts)
    very, enough = exact(room.remedies, case)
    rather = tuple(room.rather(reading, case.windows))
    very = (*rather, *(fix for fix in very if not rather or fix.role == "look"))
    if not enough:
        made = tuple(room.made(case))
        very = (*made, *very) if made else (*very, *common(room.remedies, case))
    fixes = _for_system(_once(very or own), case, reading)
    looks = sum(1 for _ in takewhile(lambda fix: fix.role == "look", fixes))
    return (*fixes[:looks], *room.named(symptoms, reading), *fixes[looks:])


def _once(fixes: Sequence[Fix]) -> tuple[Fix, ...]:
    """The same command once."""
    out: dict[str, Fix] = {}
    for fix in fixes:
        out.setdefault(fix.command or fix.text, fix)
    return tuple(out.values())


def _for_system(fixes: Sequence[Fix], case: Asked, reading: Reading) -> tuple[Fix, ...]:
    """Without what is for another system than the one that speaks, where that is known."""
    if case.windows:
        fit = [one for fix in fixes if (one := _on_windows(fix))]
        return tuple(sorted(fit, key=lambda f: "Windows" not in f.text)) or tuple(fixes)
    if reading.told.os in ("linux", "wsl") or ".so" in case.library:
        return tuple(f for f in fixes if not f.text.startswith("Windows")) or tuple(fixes)
    return tuple(fixes)


def _on_windows(fix: Fix) -> Fix | None:
    """The fix in the words of Windows' shell; None where it is for Linux."""
    if _SETS.fullmatch(fix.command):
        each = fix.command.removeprefix("export ").split()
        return structs.replace(fix, command="\n".join(f"set {one}" for one in each))
    shell = fix.command.startswith(("sudo ", "export ", "unset ", "find ", "LD_", "echo ", "printf ", "ls "))
    return None if shell or "and-cuda" in fix.command or "\nexport " in fix.command else fix
