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


def test_a_sound_row_may_be_added() -> None:
    assert tool().faults(ROW, set()) == []


def test_an_address_that_judges_teaches_nothing() -> None:
    address = "https://www.example.org/thread/1/?x=2#y"
    made = tool()
    left_out = {made.address_hash("http://example.org/thread/1")}
    assert made.faults({**ROW, "source": address}, left_out)


def test_an_unknown_cause_key_or_action_is_refused() -> None:
    made = tool()
    assert made.faults({**ROW, "cause": "memory.none"}, set())
    assert made.faults({**ROW, "run": "x"}, set())
    assert made.faults({**ROW, "do": [{"action": "explode"}]}, set())
