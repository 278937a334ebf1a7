"""Looks where no change makes it run: on the CPU, under compute-sanitizer, the probe, after another process ended."""

from __future__ import annotations

import time

from msgspec.structs import replace

from gpuwhy.answer.answer import Answer
from gpuwhy.api.machine import observe
from gpuwhy.look.look import Options
from gpuwhy.machine.live import LiveMachine
from gpuwhy.machine.recording import RecordingMachine
from gpuwhy.prove.proof import Tweak
from gpuwhy.proving import stage
from gpuwhy.proving.session import Session
from gpuwhy.proving.trial import end_process

ILLEGAL = ("program.illegal_access", "device.hardware", "framework.bug", "program.index")
MEANS = {"cpu=works": "memory.oom", "sanitizer=own-kernel": "program.illegal_access"}
"""What an outcome speaks for."""
SEEN = 0.9
PROBE = 30.0
"""Seconds that the probe's staircase may take."""


def looks(session: Session) -> None:
    """Each look where it can tell something and there is time left."""
    if session.after is None or session.base is None:
        return
    _gone(session)
    if session.proven or not session.gpu:
        return
    answers = [*_on_cpu(session), *_sanitized(session)]
    if answers:
        session.learn(_decided(session.after.answer, {MEANS[one] for one in answers}))
    _stairs(session)


def _decided(answer: Answer, causes: set[str]) -> Answer:
    """The answer after what was seen: these causes come first."""
    named = (one for one in answer.causes if one.id in causes)
    first = (replace(one, confidence=max(one.confidence, SEEN)) for one in named)
    rest = (one for one in answer.causes if one.id not in causes)
    return replace(answer, causes=(*first, *rest))


def _gone(session: Session) -> None:
    """After the process has gone that may be told to; it cannot be brought back, so this comes once."""
    pid = session.plan.ask_to_go
    if not pid or not end_process(pid):
        return
    one = Tweak(
        f"process {pid}",
        "process",
        f"after process {pid} ended",
        str(pid),
        causes=("memory.other_process", "device.busy"),
        weight=1.0,
        command=f"kill {pid}",
    )
    if session.repeated((one,), "look").outcome == "passes" and session.once((one,), "confirm").outcome == "passes":
        session.found = (one,)
        session.proven = sum(run.outcome == "same" for run in session.runs if not run.key) >= 2


def _on_cpu(session: Session) -> list[str]:
    """Whether the GPU is needed for the failure at all."""
    one = next((tweak for tweak in session.tweaks if tweak.id == "no GPU"), None)
    if one is None:
        return []
    outcome = session.once((one,), "look").outcome
    return [one.asks[outcome]] if outcome in one.asks else []


def _sanitized(session: Session) -> list[str]:
    """Which kernel touches foreign memory, where the sanitizer is installed."""
    tool = stage.found_program(("compute-sanitizer",), session.plan.environ)
    if not tool or max(session.causes.get(one, 0.0) for one in ILLEGAL) < 0.2:
        return []
    text = session.bench.wrapped((tool, "--print-limit", "3"), session.first * 20 + 60).output
    told = [line.strip("= ") for line in text.splitlines() if "Invalid __" in line or "ERROR SUMMARY" in line]
    session.left += [f"compute-sanitizer: {line}" for line in told if "not printed" not in line][:3]
    return ["sanitizer=own-kernel"] if "Invalid __" in text else []


def _stairs(session: Session) -> None:
    """The probe at the moment of failure."""
    assert session.after is not None
    if session.time_left() < PROBE:
        return
    started = time.monotonic()
    options = Options(session.after.options.python, ".", probe="gentle")
    machine = RecordingMachine(LiveMachine(dict(session.plan.environ)))
    answer = observe(machine, options).report
    broken = [row for row in answer.probe if row.mark == "bad"]
    took = time.monotonic() - started
    words = (
        f"breaks at {broken[0].name}: {broken[0].note or broken[0].text}" if broken else "finds nothing broken below it"
    )
    session.left.append(f"the probe ({took:.0f} s) {words}")
    if broken:
        session.learn(answer)
