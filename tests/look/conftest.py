from pathlib import Path

import pytest

from tests.look.machines import Made
from tests.look.world import World
from tests.windows.trees import Disk, windows


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.venv()
    return made


@pytest.fixture
def machine(tmp_path: Path) -> Made:
    return Made(tmp_path)


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    return windows(tmp_path)
