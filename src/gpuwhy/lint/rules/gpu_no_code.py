"""A release without code for the described GPU (--gpu)."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge import archs, gpus
from gpuwhy.knowledge.releases import evidence_of
from gpuwhy.lint.meeting import LABEL, Met, met
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.model.lint import Mistake, Rule
from gpuwhy.model.plan import Machine
from gpuwhy.model.version import at_least, numbers

RULE = Rule("gpu-no-code", "error", "a release without code for the described GPU (--gpu)")


def check(scope: Scope) -> Iterator[Mistake]:
    """Each framework's release against each GPU."""
    for one in met(scope):
        if scope.machine:
            yield from _lacking(scope.machine, one)
    for gpu in filter(None, map(gpus.by_name, scope.environment.on)) if not scope.machine else ():
        for pin in scope.pins:
            yield from _too_early(scope, pin, gpu)


def _too_early(scope: Scope, pin: Pin, gpu: gpus.GpuRow) -> Iterator[Mistake]:
    """A torch for a CUDA from before the GPU that the file itself asks for."""
    label = LABEL.fullmatch(pin.variant)
    row = scope.taken(pin) if pin.name == "torch" and pin.specifier and not pin.variant else None
    cuda = f"{label[1]}.{label[2]}" if label and pin.name == "torch" else row.cuda if row else ""
    first = _first(gpu.capability or "")
    if isinstance(cuda, str) and cuda and first and not at_least(cuda, first):
        text = f"torch{pin.specifier} is for CUDA {cuda}, which has no code for {gpu.name} (from CUDA {first} on)"
        fix = f"take a torch for CUDA {first} or newer, or an older GPU"
        yield RULE.mistake(pin.place, text, archs.PTXAS, fix)


def _first(capability: str) -> str:
    """The first CUDA with code that runs on a GPU: of its generation, the later members of which run older code."""
    major = capability.partition(".")[0]
    known = [a.first_toolkit for a in archs.ARCHS if a.capability.partition(".")[0] == major and a.first_toolkit]
    return min(known, key=numbers) if major.isdigit() and int(major) >= _NEW and known else ""


_NEW = 8


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
