"""Thirteenth operators, their common ground: the form of the eleventh part, in other dresses and with shorter runs.

Part `thirteenth`: ways of breaking and of ending that no part before has. Its author saw no rule and no test of gpuwhy. A case
names with `expect` what its mechanism must show in the bare log; a draw that ends otherwise is `void`. Programs that fill
memory do so inside a small share of the card or ask for more than any card has, since other draws run beside them.
"""

from __future__ import annotations

from functools import partial

from lab.random import eleventh
from lab.random.eleventh import ANY, OT, Case, Part
from lab.random.eleventh_dress import Wardrobe
from lab.random.thirteenth_dress import DRESSES, SHELLS

SECONDS = 35
TABLES: dict[str, tuple[Case, ...]] = {}
"""Every table of this part by its operator's name."""
HERE = Part("thirteenth", SECONDS, Wardrobe(DRESSES, SHELLS), TABLES)
enter = partial(eleventh.enter, part=HERE)
"""Enter a table as an operator of the thirteenth part."""


def well(target: str, before: str = "", after: str = "", needs: str = ANY) -> Case:
    """A good program that stays good, whatever stands around it."""
    return Case(needs, f"harmless: {target}", OT, (), before=before, after=after)
