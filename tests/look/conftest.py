from pathlib import Path

import pytest

from tests.look.world import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.venv()
    return made
