"""A release without code for the described GPU (--gpu)."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge import archs
from gpuwhy.knowledge.releases import evidence_of
from gpuwhy.lint.meeting import Met, met
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake, Rule
from gpuwhy.model.plan import Machine

RULE = Rule("gpu-no-code", "error", "a release without code for the described GPU (--gpu)")


def check(scope: Scope) -> Iterator[Mistake]:
    """Each framework's release against each GPU."""
    for one in met(scope):
        if scope.machine:
            yield from _lacking(scope.machine, one)


def _lacking(machine: Machine, one: Met) -> Iterator[Mistake]:
    row = one.release
    if not isinstance(row.sass, tuple) or not isinstance(row.ptx, tuple) or not row.sass:
        return
    for gpu in machine.gpus:
        if archs.runs_on(row.sass, row.ptx, gpu.capability) == "no":
            ptx = f" and PTX for {', '.join(row.ptx)}" if row.ptx else ""
            has = f"{one.said} has code for {', '.join(row.sass)}{ptx}"
            text = f"{has}; {gpu.name} is compute capability {gpu.capability}"
            fix = f"gpuwhy plan --gpu {gpu.capability} {row.name}"
            yield RULE.mistake(one.pin.place, text, evidence_of(row, "sass"), fix)
