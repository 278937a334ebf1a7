"""What installed releases ask of each other, what they do not state, what their files tell."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpuwhy.facts.fact import Unknown
from tests.look.world import World

ROWS = msgspec.toml.decode((Path(__file__).parent / "contradictions.toml").read_bytes())["row"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["what"])
def test_row(world: World, row: dict[str, Any]) -> None:
    for package, requires in row["installed"].items():
        world.install(*package.split(), requires=requires)
    every = [list(one) for one in found(world)]
    assert every == row.get("found", every)
    assert all(one in every for one in row.get("among", ()))
    told = world.look().installs.contradictions.need() or ()
    assert all(one.stops == row.get("stops", one.stops) for one in told)


def found(world: World) -> list[tuple[str, str, str, str]]:
    told = world.look().installs.contradictions.need() or ()
    return [(c.by.name, c.name, c.installed, c.basis.value) for c in told]


def test_metadata_that_cannot_be_read_leaves_it_open(world: World) -> None:
    folder = world.install("torch", "2.6.0")
    path = world.root / folder.lstrip("/") / "METADATA"
    path.unlink()
    path.mkdir()
    assert isinstance(world.look().installs.contradictions, Unknown)
