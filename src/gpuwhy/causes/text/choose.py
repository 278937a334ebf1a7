"""Choose: of a cause's remedies those for the case at hand: its messages and who speaks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from gpuwhy.causes.text.asked import asked
from gpuwhy.causes.text.meant import common, exact
from gpuwhy.causes.text.rooms import rooms
from gpuwhy.model.cause import Fix
from gpuwhy.model.facts import Facts
from gpuwhy.model.symptom import Reading, Symptom


def remedies(cause: str, symptoms: Sequence[Symptom], reading: Reading, facts: Facts | None = None) -> tuple[Fix, ...]:
    """The fixes for a cause where only a text is known.

    Those for the very messages; else those made for what was asked; else the ones for who speaks and the common ones.
    What the text names itself comes first of all, after what only looks.
    """
    room, case = rooms()[cause], asked(symptoms, reading, facts)
    very, enough = exact(room.remedies, case)
    rather = tuple(room.rather(reading, case.windows))
    very = (*rather, *(fix for fix in very if not rather or fix.role == "look"))
    if not enough and not rather:
        made = tuple(room.made(case))
        very = (*made, *very) if made else (*very, *common(room.remedies, case))
    fixes = _once(very)
    looks = sum(1 for _ in takewhile(lambda fix: fix.role == "look", fixes))
    named = tuple(room.named(symptoms, reading))
    rest = (fix for fix in fixes[looks:] if not named or not fix.command.endswith(" PACKAGE"))
    return (*fixes[:looks], *named, *rest)


def _once(fixes: Sequence[Fix]) -> tuple[Fix, ...]:
    """The same command once."""
    out: dict[str, Fix] = {}
    for fix in fixes:
        out.setdefault(fix.command or fix.text, fix)
    return tuple(out.values())
