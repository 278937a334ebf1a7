"""Every recorded door is still there: exit code, no traceback of ours, the same JSON contracts."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from tests.doors.replay import RECORDED, Call, calls, head, heads, missing, run

COMMAND = os.path.abspath(Path(sys.executable).parent / "gpuwhy")
CALLS = calls()
OWN_FRAME = re.compile(r'(?m)^\s+File "[^"]*[/\\]gpuwhy[/\\]')

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="run on Linux")


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.id)
def test_a_door_answers_as_it_did(call: Call) -> None:
    if missing(call.needs, COMMAND):
        pytest.skip(f"the Python of {COMMAND} has no {call.needs}")
    answer = run(call, COMMAND)
    errors = answer.texts["stderr"]
    assert answer.code in call.codes, errors
    assert not OWN_FRAME.search(errors)
    assert call.traceback or "Traceback (most recent call last)" not in errors
    for name in ("stdout", *call.files):
        assert answer.texts[name] or f"--- {name}\n" not in call.recorded, f"{name} is empty"
    for name, contract in heads(call.recorded).items():
        gone = set(contract.split()) - set(head(answer.texts[name]).split())
        assert not gone, f"{name}: the schema or keys that are gone"


def test_rows_and_recordings_are_the_same_set() -> None:
    ids = [call.id for call in CALLS]
    assert len(ids) == len(set(ids))
    assert {f"{name}.out" for name in ids} == {file.name for file in RECORDED.iterdir()}


def test_another_exit_code_than_recorded_has_its_reason() -> None:
    for call in CALLS:
        code = int(call.recorded.partition("\n")[0].removeprefix("exit "))
        assert (code in call.codes) != bool(call.since_1_0), call.id
