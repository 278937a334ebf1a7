"""Machine → Seen: what was observed, what follows from it, and the Answer of `check`.

`check`, `fix`, `explain`, `run`, `report` and `plan` ask here: one machine has one diagnosis.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from gpuwhy.answer.answer import NOT_GPU, Answer
from gpuwhy.answer.checked import checked
from gpuwhy.diagnose.diagnosis import Diagnosis, Open
from gpuwhy.diagnose.facts import without_text
from gpuwhy.facts.fact import NOT_OBSERVED, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Effect, Finding, Weight
from gpuwhy.loader.loads import loads
from gpuwhy.look.look import Options, look, look_by_importing
from gpuwhy.machine.machine import Machine
from gpuwhy.signs import judge, with_gpu
from gpuwhy.signs.expect import lacks_gpu

Note = Callable[[str], None]


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
    if options.probe:
        from gpuwhy.probe.probe import probe

        facts = probe(machine, facts, options.probe == "gentle", note)
    if assume:
        facts = assume(facts)
    return judged(facts, as_if, time.monotonic() - started)


def judged(facts: Facts, as_if: str = "", took: float = 0.0) -> Seen:
    """What follows from facts."""
    from gpuwhy.knowledge.releases import newest

    found, findings = judge(facts), _findings(facts)
    probed = facts.probe.stages != NOT_OBSERVED
    if probed:
        from gpuwhy.api.probed import observed, with_probe

        findings = observed(findings, facts)
    diagnosis = _without_beaten(without_text(findings))
    undecided = [Open(one.cause, one.missing, one.how) for one in found.undecided]
    answer = checked(facts, diagnosis, undecided)
    answer = replace(answer, took=round(took, 3), knowledge=newest())
    if as_if:
        head = f"As if on {as_if}: {answer.headline}"
        answer = replace(answer, as_if=as_if, headline=head)
    seen = Seen(_for_texts(findings, facts), answer, facts)
    return with_probe(seen) if probed else seen


def _findings(facts: Facts) -> tuple[Finding, ...]:
    """What the signs conclude, with what would fail on a machine like this that has a GPU."""
    if not lacks_gpu(facts):
        return judge(facts).findings
    from gpuwhy.look.assumed import AssumedMachine, assume

    return with_gpu(facts, assume(facts, AssumedMachine()))


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
