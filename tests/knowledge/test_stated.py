"""What releases state of each other: no project that the harvest asks for may be lost on the way."""

import ast
from pathlib import Path
from typing import Any

from gpuwhy.knowledge import pairs

TOOL = Path(__file__).parents[2] / "tools/harvest/stated.py"


def told(name: str) -> Any:
    """A constant of the harvest, which needs packages that the tests do not."""
    tree = ast.parse(TOOL.read_text(encoding="utf-8"))
    found = [n.value for n in tree.body if isinstance(n, ast.Assign) and getattr(n.targets[0], "id", "") == name]
    return ast.literal_eval(found[0])


def test_every_project_of_the_harvest_is_there() -> None:
    lost = {name for name in told("PROJECTS") if name not in pairs._table()}
    assert lost == set(told("NOTHING"))


def test_keras_2_beside_another_tensorflow() -> None:
    assert pairs.stated("tf-keras", "2.16.0") == {"tensorflow": ("<2.17,>=2.16",)}
    assert pairs.fitting("tf-keras", "tensorflow", "2.18.1") == "2.18.0"
