"""Twelfth operators, their common ground: the form of the eleventh part, in other dresses and with shorter runs.

Part `twelfth`: ways of breaking that no part before has. Its author saw no rule and no test of gpuwhy. A case names with
`expect` what its mechanism must show in the bare log; a draw that ends otherwise is `void`. Programs that fill memory do so
inside a small share of the card or ask for more than any card has, since other draws run beside them.
"""

from __future__ import annotations

from functools import partial

from lab.random import eleventh
from lab.random.eleventh import Case, Part, py
from lab.random.eleventh_dress import Wardrobe
from lab.random.twelfth_dress import DRESSES, SHELLS

SECONDS = 35
TABLES: dict[str, tuple[Case, ...]] = {}
"""Every table of this part by its operator's name."""
HERE = Part("twelfth", SECONDS, Wardrobe(DRESSES, SHELLS), TABLES)
enter = partial(eleventh.enter, part=HERE)
"""Enter a table as an operator of the twelfth part."""
ON = "torch-matmul torch-train"


def shell(needs: str, target: str, cause: str, also: tuple[str, ...], command: str, expect: str, code: str = "") -> Case:  # fmt: skip
    """A script's own steps around a program."""
    return Case(needs, target, cause, also, command=command, code=code, expect=expect, void="", dress="none")


def pt(target: str, cause: str, also: tuple[str, ...], body: str, expect: str, needs: str = ON) -> Case:
    """A program of torch that works first."""
    code = f"import torch, torch.nn as nn, torch.nn.functional as F\nx = torch.ones(8, 4, device='@D@')\nprint('ready', (x @ x.t()).sum().item(), flush=True)\n{body}"
    return py(needs, target, cause, also, code, expect)


def card(target: str, cause: str, also: tuple[str, ...], body: str, expect: str, needs: str = ON) -> Case:
    """The same where only a card shows it."""
    return pt(target, cause, also, f"assert torch.device('@D@') == torch.device('cuda')\n{body}", expect, needs)
