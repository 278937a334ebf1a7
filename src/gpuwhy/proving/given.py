"""What is known before anything runs: a failure that `gpuwhy run --record` kept, and the list of experiments."""

from __future__ import annotations

import signal as signals

from gpuwhy.api.machine import output_of, _with_recorded as with_recorded
from gpuwhy.facts.fact import value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.log.ending import Ending
from gpuwhy.look.look import Options, look
from gpuwhy.machine.live import LiveMachine
from gpuwhy.machine.recording import RecordingMachine, read_recording, recorded_machine
from gpuwhy.prove.proof import Tweak
from gpuwhy.prove.weigh import weighed
from gpuwhy.proving.plan import Plan
from gpuwhy.proving.world import tweaks_here
from gpuwhy.run.target import python_of_command
from gpuwhy.proving.trial import Ran


class NothingGivenError(Exception):
    """A recording without a failed program."""


def given(data: bytes, name: str) -> Ran:
    """The run in a recording; raises BadRecordingError, NothingGivenError."""
    machine = recorded_machine(read_recording(data, name))
    watched = with_recorded(Facts(), machine).run
    signal = value_or(watched.signal, "")
    if not watched.failed:
        raise NothingGivenError(f"{name} holds no program that failed: gpuwhy run --record FILE -- CMD makes one")
    number = int(getattr(signals, signal)) if signal.startswith("SIG") and hasattr(signals, signal) else 0
    return Ran(value_or(watched.exit, 0), number, value_or(watched.seconds, 1.0), output_of(machine))


def listed(plan: Plan) -> list[Tweak]:
    """The experiments of a program that has not run yet, the likeliest first."""
    options = Options(plan.python or python_of_command(plan.argv), ".")
    machine = RecordingMachine(LiveMachine(dict(plan.environ)))
    facts = look(machine, options, only=("system", "environment", "devices"))
    return weighed(tweaks_here(plan, facts), Ending(), "", {})
