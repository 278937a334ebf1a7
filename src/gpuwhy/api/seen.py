"""The bridge to version 0's look at a machine: its report becomes findings. Goes with `look/`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from gpuwhy.answer import contract
from gpuwhy.answer.answer import Answer
from gpuwhy.facts.fact import Source
from gpuwhy.facts.finding import Effect, Evidence, Finding, Weight

if TYPE_CHECKING:
    from gpuwhy.app import Report


class Seen(msgspec.Struct, frozen=True):
    """What was seen on a machine: findings, and the report by facts alone."""

    findings: tuple[Finding, ...]
    report: Answer


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
            yield Finding(
                cause.id,
                Weight(one.weight),
                "{text}",
                {"text": one.text},
                tuple(Evidence(e.kind, e.text, _source(e.source)) for e in one.evidence),
                cause.subject,
                Effect.STOPS if one.stops else Effect.SLOWS,
                one.linked,
                cause.with_gpu,
            )
    for gone in report.ruled_out if rule_out else ():
        yield Finding(gone.id, Weight.AGAINST, "{text}", {"text": gone.because})


def _source(source: Any) -> Source:
    return Source(source.kind, source.where, source.detail)
