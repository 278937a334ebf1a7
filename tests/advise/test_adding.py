"""tools/precedents.py refuses what must not be added."""

import importlib.util
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[2] / "tools" / "precedents.py"


def tool() -> Any:
    spec = importlib.util.spec_from_file_location("precedents_tool", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ROW = {"cause": "memory.oom", "says": ["a phrase of nobody"], "text": "Make the batch smaller"}


def test_a_sound_row_may_be_added_and_others_not() -> None:
    """An address that judges teaches nothing, however it is written."""
    made = tool()
    left_out = {made.address_hash("http://example.org/thread/1")}
    assert made.faults(ROW, left_out) == []
    for wrong in (
        {"source": "https://www.example.org/thread/1/?x=2#y"},
        {"cause": "memory.none"},
        {"run": "x"},
        {"do": [{"action": "explode"}]},
    ):
        assert made.faults({**ROW, **wrong}, left_out), wrong
