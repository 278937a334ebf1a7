"""At length: of a long table of like rows every second is asked each time, the others with `pytest -m attack`."""

from collections.abc import Iterable
from typing import Any

import pytest


def halved(rows: Iterable[Any]) -> list[Any]:
    """The rows of a table for `parametrize`; every second one is for `-m attack`."""

    def later(row: Any) -> Any:
        return pytest.param(*(row if isinstance(row, tuple) else (row,)), marks=pytest.mark.attack)

    return [later(row) if at % 2 else row for at, row in enumerate(rows)]
