"""The live stages in the diagnosis: what was seen to work counts, and what failed is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gpuwhy.answer.answer import FOUND, SURE, Answer, CauseFound
from gpuwhy.diagnose import probed as diagnose
from gpuwhy.facts.fact import value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Finding, Weight
from gpuwhy.probe.outcome import Failure, failures, reached, rows, words, works
from gpuwhy.probe.stages import BY_NAME

if TYPE_CHECKING:
    from gpuwhy.api.machine import Seen


def observed(findings: Sequence[Finding], facts: Facts) -> tuple[Finding, ...]:
    """The findings, where the probe saw work what they say cannot: observation beats prediction."""
    working = {one.framework for one in value_or(facts.probe.frameworks, ()) if works(one)}
    return diagnose.observed(findings, facts, working, reached(facts))


def with_probe(seen: Seen) -> Seen:
    """What was seen, with a row per stage, and what failed explained by its words."""
    report = replace(seen.report, probe=rows(seen.facts))
    if value_or(seen.facts.probe.frameworks, ()):  # they were imported
        report = replace(report, not_tried=())
    failed = failures(seen.facts)
    if failed and not (report.status == "broken" and _surest(report) >= SURE):
        report = _explained(replace(seen, report=report), failed)
    return replace(seen, report=report)


def _explained(seen: Seen, failed: Sequence[Failure]) -> Answer:
    """What the words of each failure mean on this machine; the surest decides."""
    from gpuwhy.api.text import explain

    by_facts = seen.report
    read = [(one, explain(one.text, _alone(seen, one), signal=one.signal)) for one in failed]
    read.sort(key=lambda one: -_surest(one[1]))
    (who, stage, *_), first = read[0]
    sure = first.verdict == "found" and _surest(first) >= FOUND
    why = first.causes[0].title if sure else stage.why or next(words(stage), stage.outcome)
    step = BY_NAME.get(stage.name)
    where = (
        f"{who} fails at its {stage.name}" if who else f"{step.title if step else stage.name} fails"
    )
    causes: dict[str, CauseFound] = {}
    for failure, answer in read:
        for cause in answer.causes if failure.who == who else answer.causes[:1]:
            causes.setdefault(cause.id, _of(cause, failure.who))
    for cause in by_facts.causes:
        causes.setdefault(cause.id, cause)
    note = first.causes[0].id if sure else ""
    layers = [
        replace(row, mark="bad", note=note) if who.startswith(f"{row.name} ") else row
        for row in by_facts.layers
    ]
    kept = {one: getattr(by_facts, one) for one in ("undetermined", "not_tried", "probe", "facts")}
    return replace(
        first,
        command="check",
        status="broken",
        verdict="found" if sure else "undecided",
        headline=f"{where[:1].upper()}{where[1:]}: {why}",
        causes=tuple(causes.values()),
        ruled_out=tuple(one for one in by_facts.ruled_out if one.id not in causes),
        layers=tuple(layers),
        last_line=None,
        **kept,
    )


def _of(cause: CauseFound, who: str) -> CauseFound:
    """The cause, of who failed: nobody sees the lines of what was printed by number."""
    printed = f"printed by {who}" if who else "answered to the probe"
    because = []
    for one in cause.because:
        told = tuple(replace(proof, source=printed) for proof in one.told)
        because.append(replace(one, line=0, told=told))
    return replace(cause, subject=cause.subject or who, because=tuple(because))


def _alone(seen: Seen, failed: Failure) -> Seen:
    """The findings for the framework that failed: another one's say nothing of it, and what was
    predicted of its own files rules nothing out.
    """
    installed = value_or(seen.facts.frameworks.installed, ()) if failed.who else ()
    names = {f"{one.title} {one.version}" for one in installed}
    kept = []
    for one in seen.findings:
        own = one.subject == failed.who and one.weight is not Weight.AGAINST
        if one.subject not in names or own:
            kept.append(one)
    return replace(seen, findings=tuple(kept))


def _surest(answer: Answer) -> float:
    return max((one.confidence for one in answer.causes), default=0.0)
