"""What a recording of `gpuwhy run` holds of the program: its facts, and what it printed."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from gpuwhy.facts.fact import Unknown
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.run import Run
from gpuwhy.machine.machine import Machine
from gpuwhy.machine.recording import RecordedMachine


def with_recorded(facts: Facts, machine: Machine) -> Facts:
    """The facts with those of the watched program, where a recording holds them."""
    values = _recorded(machine)
    if "facts" not in values:
        return facts
    try:
        return replace(facts, run=msgspec.convert(values["facts"], Run))
    except msgspec.ValidationError as error:
        unknown = Unknown(f"the recording's watched program makes no sense: {error}")
        return replace(facts, run=Run(program=unknown))


def output_of(machine: Machine) -> str:
    """What a watched program printed, where a recording holds that."""
    return str(_recorded(machine).get("output", ""))


def _recorded(machine: Machine) -> dict[str, Any]:
    return machine.recording.run if isinstance(machine, RecordedMachine) else {}
