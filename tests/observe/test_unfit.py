"""Versions that PyTorch and JAX ask of other packages, against those that are installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuwhy.model.fact import Unknown
from gpuwhy.model.version import meets
from tests.observe.envs import World

PIN = 'nvidia-nvjitlink-cu12 (==12.4.127) ; platform_system == "Linux"'


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.venv()
    return made


def unfit(world: World) -> list[tuple[str, ...]]:
    return [(u.by, u.name, u.wants, u.installed) for u in world.look().unfit.need() or ()]


@pytest.mark.parametrize(
    "version, wanted, outcome",
    [
        ("0.6.2", "<=0.12.0.1,>=0.11.2", False), ("0.11.2", "<=0.12.0.1,>=0.11.2", True),
        ("0.12.0.2", "<=0.12.0.1,>=0.11.2", False), ("12.4.127", "==12.4.127", True), ("2.5", "==2.5.0", True),
        ("9.2", "==9.1.*", False), ("9.1.3", "==9.1.*", True), ("9.1.3", "!=9.1.*", False), ("2.3", "~=2.2", True),
        ("3.0", "~=2.2", False), ("2.1", "~=2.2", False), ("1.0", "<1", False), ("1.0.1", ">1", True),
        ("1", "!=1.0", False), ("1.0", "@ file:///x", True),
    ],
)  # fmt: skip
def test_meets(version: str, wanted: str, outcome: bool) -> None:
    assert meets(version, wanted) is outcome


def test_a_pin_that_is_not_met(world: World) -> None:
    world.install("torch", "2.5.1", requires=[PIN, "sympy (==1.13.1)"])
    world.install("nvidia-nvjitlink-cu12", "12.1.105")
    assert unfit(world) == [("torch", "nvidia-nvjitlink-cu12", "==12.4.127", "12.1.105")]


def test_what_is_met_or_not_installed_is_left_out(world: World) -> None:
    world.install("torch", "2.5.1", requires=[PIN, "nvidia-cudnn-cu12==9.1.0.70"])
    world.install("nvidia-nvjitlink-cu12", "12.4.127")
    assert unfit(world) == []


def test_one_of_several_conditions_is_enough(world: World) -> None:
    world.install("torch", "2.5.1", requires=[PIN, 'nvidia-nvjitlink-cu12==12.1.105; platform_machine == "aarch64"'])
    world.install("nvidia-nvjitlink-cu12", "12.1.105")
    assert unfit(world) == []


def test_jax_and_its_jaxlib_without_the_extras(world: World) -> None:
    world.install("jax", "0.12.0.1", requires=["jaxlib<=0.12.0.1,>=0.11.2", 'jaxlib==0.6.2; extra == "ci"'])
    world.install("jaxlib", "0.6.2")
    assert unfit(world) == [("jax", "jaxlib", "<=0.12.0.1,>=0.11.2", "0.6.2")]


def test_metadata_that_cannot_be_read_is_unknown(world: World) -> None:
    folder = world.install("jax", "0.12.0.1")
    metadata = world.root / f"{folder}/METADATA".lstrip("/")
    metadata.unlink()
    metadata.mkdir()
    assert isinstance(world.look().unfit, Unknown)
