"""The bridge to version 0's look at a machine: its report becomes findings. Goes with `look/`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from gpuwhy.answer import contract
from gpuwhy.answer.answer import NOT_GPU, Answer
from gpuwhy.api.machine import Seen
from gpuwhy.facts.fact import Source
from gpuwhy.facts.finding import Effect, Evidence, Finding, Weight

if TYPE_CHECKING:
    from gpuwhy.app import Report
    from gpuwhy.log.log import Log
    from gpuwhy.model.facts import Facts


def seen(report: Report) -> Seen:
    """The findings of a report of version 0."""
    from gpuwhy.render.json import render

    known = contract.read(render(report))
    return Seen(tuple(_findings(report, _can_rule_out(known))), known)


def _can_rule_out(known: Answer) -> bool:
    """Whether the machine has a GPU and a framework; a text from elsewhere is not judged by what
    a bare machine lacks.
    """
    marks = {layer.name.split(" ")[0]: layer.mark for layer in known.layers}
    others = set(marks) - {"GPU", "driver", "CUDA", "cuDNN", "Python", "container", "WSL"}
    return marks.get("GPU", "none") != "none" and bool(others)


def _findings(report: Report, rule_out: bool) -> Iterator[Finding]:
    for cause in report.causes:
        for one in cause.because:
            yield _finding(cause.id, cause.subject, one, cause.with_gpu)
    for gone in report.ruled_out if rule_out else ():
        if gone.id == NOT_GPU:
            continue
        yield Finding(gone.id, Weight.AGAINST, "{text}", {"text": gone.because})


def watched(facts: Facts, log: Log, known: Seen) -> Seen:
    """The same with what the signs of version 0 find in a run that was watched."""
    from gpuwhy.model.ending import Ending
    from gpuwhy.model.symptom import Reading, Symptom
    from gpuwhy.reason.judge import judge
    from gpuwhy.rooms import CAUSES

    said = tuple(
        Symptom(one.id, one.line, one.text, fields=one.fields, role="error", seen=one.observed)
        for one in log.messages
        if one.decides and one.role == "error"
    )
    ending = msgspec.convert(msgspec.to_builtins(log.ending), type=Ending)
    reading = Reading(symptoms=said, ending=ending, lines=log.lines, excerpt=log.excerpt)
    verdicts = judge(CAUSES, facts, reading)
    shown = [one for one in verdicts if one.state in ("shown", "possible")]
    found = tuple(_finding(v.cause.id, v.subject, one) for v in shown for one in v.findings)
    against = (one for one in known.findings if one.weight is Weight.AGAINST)
    named = {one.cause for one in found}
    return Seen((*found, *(one for one in against if one.cause not in named)), known.report)


def _finding(cause: str, subject: str, one: Any, with_gpu: bool = False) -> Finding:
    """A finding of version 0."""
    return Finding(
        cause,
        Weight(one.weight),
        "{text}",
        {"text": one.text},
        tuple(Evidence(e.kind, e.text, _source(e.source)) for e in one.evidence),
        subject,
        Effect.STOPS if one.stops else Effect.SLOWS,
        one.linked,
        with_gpu,
    )


def _source(source: Any) -> Source:
    return Source(source.kind, source.where, source.detail)
