"""Mutated inputs for every parser: a few on every change, 20,000 with `pytest -m attack`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

pytest.importorskip("resource")

from fuzz import parsers

EVERYONE = {target.name: target for target in parsers.targets()}


@pytest.mark.parametrize("name", EVERYONE)
def test_a_few_damaged_inputs(name):
    result = parsers.attacked(EVERYONE[name], 5, seed=7)
    assert (result.crashes, result.hangs) == ([], 0)


@pytest.mark.attack
@pytest.mark.parametrize("name", EVERYONE)
def test_many_damaged_inputs(name):
    result = parsers.attacked(EVERYONE[name], -(-parsers.COUNT // len(EVERYONE)), seed=1)
    assert (sorted(set(result.crashes)), result.hangs) == ([], 0)


def test_what_the_attack_found():
    """300 tabs in a requirement held lint for half a minute."""
    target = EVERYONE["lint pyproject.toml"]
    assert target.parse(b"[project]\ndependencies = ['ja" + b"\t" * 300 + b"x', 'a" + b" ," * 300 + b"']\n") is None
