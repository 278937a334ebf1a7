"""Random worlds: whatever the needs, tags, copies and variables, glibc and gpuwhy list the same files in one order.

GPUWHY_WORLDS=300 makes it a long run; a world that differs is named by its seed.
"""

import os
import random

import pytest


from .ground import needs_gcc

pytestmark = needs_gcc

FOLDERS = ("x", "y", "z", "x/glibc-hwcaps/x86-64-v2")
NAMES = ("a", "b", "c1", "d", "e")
SEEDS = range(int(os.environ.get("GPUWHY_WORLDS", "4")))


def _tags(dice: random.Random) -> dict[str, str]:
    kind = dice.choice(("", "", "rpath", "rpath", "runpath"))
    folders = ":".join(f"@/{dice.choice(FOLDERS)}" for _ in range(dice.randint(1, 3)))
    return {kind: folders} if kind else {}


def _needs(dice: random.Random, most: int) -> tuple[str, ...]:
    return tuple(f"lib{name}.so" for name in dice.sample(NAMES, dice.randint(0, most)))


def _build(ground, dice: random.Random) -> None:
    ground.program(_needs(dice, 2), **(_tags(dice) or {"rpath": "@/x:@/y"}))
    for name in NAMES:
        for folder in dice.sample(FOLDERS, dice.randint(1, 3)):
            soname = dice.choice(("", "", "", None))
            ground.library(f"{folder}/lib{name}.so", _needs(dice, 2), soname=soname, **_tags(dice))


def _question(ground, dice: random.Random) -> tuple[list[str], dict[str, str]]:
    opens = []
    for _ in range(dice.randint(0, 3)):
        name = f"lib{dice.choice(NAMES)}.so"
        name = dice.choice((name, name, f"@/{dice.choice(FOLDERS)}/{name}"))
        opens.append(f"{dice.choice(('main', *NAMES))}={name}")
    environ = {}
    if dice.random() < 0.6:
        environ["PATH_"] = ":".join(f"@/{dice.choice(FOLDERS)}" for _ in range(dice.randint(1, 2)))
    if dice.random() < 0.2:
        environ["PRELOAD"] = dice.choice(("libe.so", f"@/{dice.choice(FOLDERS)}/libd.so"))
    return opens, environ


@pytest.mark.parametrize("seed", SEEDS)
def test_random_world(ground, seed):
    dice = random.Random(seed)
    _build(ground, dice)
    wrong = []
    for _ in range(12):
        opens, environ = _question(ground, dice)
        said, mine = ground.ask(*opens, **environ), ground.predict(*opens, **environ)
        if said != mine:
            wrong.append((opens, environ, said, mine))
    assert not wrong, "\n".join(map(str, wrong))
