"""Machine → Seen: what was observed, what follows from it, and the Answer of `check`.

`check`, `fix`, `explain`, `run`, `report` and `plan` ask here: one machine has one diagnosis.
"""

import time
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from gpuwhy.answer.answer import Answer
from gpuwhy.answer.checked import checked
from gpuwhy.diagnose.diagnosis import Open
from gpuwhy.diagnose.facts import beside_text, without_text
from gpuwhy.facts.fact import NOT_OBSERVED, Unknown
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Finding
from gpuwhy.facts.run import Run
from gpuwhy.loader.loads import loads
from gpuwhy.look.look import Options, look, look_by_importing
from gpuwhy.machine.machine import Machine
from gpuwhy.machine.recording import RecordedMachine
from gpuwhy.signs.expect import lacks_gpu
from gpuwhy.signs.judged import judge, with_gpu

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

    found = judge(facts)
    findings = found.findings
    if lacks_gpu(facts):  # what would fail on a machine like this that has a GPU
        from gpuwhy.look.assumed import AssumedMachine, assume

        findings = with_gpu(facts, assume(facts, AssumedMachine()))
    probed = facts.probe.stages != NOT_OBSERVED
    if probed:
        from gpuwhy.api.probed import observed, with_probe

        findings = observed(findings, facts)
    undecided = [Open(one.cause, one.missing, one.how) for one in found.undecided]
    answer = checked(facts, without_text(findings), undecided)
    answer = replace(answer, took=round(took, 3), knowledge=newest())
    if as_if:
        head = f"As if on {as_if}: {answer.headline}"
        answer = replace(answer, as_if=as_if, headline=head)
    seen = Seen(beside_text(findings, facts), answer, facts)
    return with_probe(seen) if probed else seen


def with_recorded(facts: Facts, machine: Machine) -> Facts:
    """The facts with those of the watched program, where a recording of `gpuwhy run` holds them."""
    values = _recorded(machine).get("facts")
    if values is None:
        return facts
    try:
        return replace(facts, run=msgspec.convert(values, Run))
    except msgspec.ValidationError as error:
        unknown = Unknown(f"the recording's watched program makes no sense: {error}")
        return replace(facts, run=Run(program=unknown))


def output_of(machine: Machine) -> str:
    """What a watched program printed, where a recording holds that."""
    return str(_recorded(machine).get("output", ""))


def _recorded(machine: Machine) -> dict[str, Any]:
    return machine.recording.run if isinstance(machine, RecordedMachine) else {}
