"""Machine → Seen: what was observed, what follows from it, and the Answer of `check`.

`check`, `fix`, `explain`, `run`, `report` and `plan` ask here: one machine has one diagnosis.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

import msgspec
from msgspec.structs import replace

from gpuwhy.answer.answer import NOT_GPU, Answer
from gpuwhy.answer.checked import checked
from gpuwhy.diagnose.diagnosis import Diagnosis, Open
from gpuwhy.diagnose.weigh import diagnose
from gpuwhy.facts.fact import Known, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Effect, Finding, Weight
from gpuwhy.loader.loads import loads
from gpuwhy.look.look import Options, look, look_by_importing
from gpuwhy.machine.machine import Machine
from gpuwhy.signs import judge
from gpuwhy.signs.expect import lacks_gpu

Note = Callable[[str], None]
Probe = Literal["", "gentle", "full"]

OF_ENVIRONMENT = ("cuda.", "cudnn.", "install.", "env.", "framework.", "device.selection")
"""Causes that lie in the environment: they would show on any machine with a GPU."""
CARRIED = ("driver.stub", "driver.compat_misuse", "driver.library_mismatch")
"""What the files of an image or folder put before the driver of whichever machine they come to."""
CHOSEN = ("framework.cpu_only", "framework.platform_dropped")
"""A build for the CPU on a machine without a GPU is what somebody chose."""


class Seen(msgspec.Struct, frozen=True):
    """What was seen of a machine, what the signs conclude, and the answer by that alone."""

    findings: tuple[Finding, ...]
    report: Answer
    facts: Facts = Facts()


def observe(
    machine: Machine,
    options: Options,
    assume: Callable[[Facts], Facts] | None = None,
    as_if: str = "",
    note: Note = lambda _: None,
) -> Seen:
    """Look at a machine, and judge it; `assume` makes the facts those of another machine."""
    from gpuwhy.api.recorded import with_recorded

    started = time.monotonic()
    facts = with_recorded(look(machine, options, note=note), machine)
    facts = replace(facts, loads=loads(machine, facts))
    if options.imports:
        facts = look_by_importing(machine, facts, options, note)
    if assume:
        facts = assume(facts)
    return judged(facts, as_if, time.monotonic() - started)


def judged(facts: Facts, as_if: str = "", took: float = 0.0) -> Seen:
    """What follows from facts."""
    found = judge(facts)
    findings = (*found.findings, *_with_gpu(facts, found.findings))
    diagnosis = diagnose(None, findings)
    undecided = [Open(one.cause, one.missing, one.how) for one in found.undecided]
    answer = checked(facts, _without_beaten(diagnosis), undecided)
    if as_if:
        head = f"As if on {as_if}: {answer.headline}"
        answer = replace(answer, as_if=as_if, headline=head)
    return Seen(_for_texts(findings, facts), replace(answer, took=round(took, 3)), facts)


def _with_gpu(facts: Facts, here: tuple[Finding, ...]) -> list[Finding]:
    """What would show on a machine like this that has a GPU, where this one has none."""
    if not lacks_gpu(facts) or any(one.effect is Effect.PREVENTS_START for one in here):
        return []
    from gpuwhy.look.assumed import with_some_gpu

    shown = {one.cause for one in here if one.weight in (Weight.PROOF, Weight.STRONG)}
    asked = OF_ENVIRONMENT + (CARRIED if isinstance(facts.system.offline, Known) else ())
    chosen = () if _has_unused_cuda(facts) else CHOSEN
    return [
        replace(one, with_gpu=True)
        for one in judge(with_some_gpu(facts)).findings
        if one.weight in (Weight.PROOF, Weight.STRONG)
        and one.cause.startswith(asked)
        and one.cause not in shown
        and one.cause not in chosen
    ]


def _has_unused_cuda(facts: Facts) -> bool:
    """Whether NVIDIA's wheels lie beside frameworks of which none has CUDA: a GPU was meant."""
    names = {one.name.rpartition("-cu")[0] for one in value_or(facts.environment.packages, ())}
    builds = [value_or(one.gpu_build, True) for one in value_or(facts.frameworks.installed, ())]
    return {"nvidia-cublas", "nvidia-cudnn"} <= names and not any(builds)


def _without_beaten(diagnosis: Diagnosis) -> Diagnosis:
    """Without what is merely possible and would stop nothing, beside what is shown."""
    weighty = [one for one in diagnosis.causes if one.confidence >= 0.5 or _stops(one.effect)]
    return replace(diagnosis, causes=tuple(weighty)) if weighty else diagnosis


def _stops(effect: Effect) -> bool:
    return effect in (Effect.STOPS, Effect.PREVENTS_START)


def _for_texts(findings: tuple[Finding, ...], facts: Facts) -> tuple[Finding, ...]:
    """The findings that are weighed with a text: a bare machine rules nothing out, because the
    text may come from elsewhere.
    """
    gpus = bool(value_or(facts.devices.gpus, ()))
    equipped = gpus and bool(value_or(facts.frameworks.installed, ()))
    return tuple(
        one
        for one in findings
        if one.weight is not Weight.AGAINST or (equipped and one.cause != NOT_GPU)
    )
