"""What the signs of memory causes ask of a watched program: what was refused, and on which GPU it held most."""

from __future__ import annotations

from gpuwhy.model.cause import Case
from gpuwhy.model.fact import Known, value_or
from gpuwhy.model.facts import GpuUse
from gpuwhy.model.symptom import Symptom

GIB = 1 << 30


def said(case: Case, *prefixes: str) -> Symptom | None:
    """The first message of a watched program that failed which starts so."""
    if not case.facts.run.failed:
        return None
    return next((s for s in case.symptoms if s.signature.startswith(prefixes)), None)


def fullest(case: Case) -> GpuUse | None:
    """The GPU on which the program and the others held most, among those it used; None where nothing was sampled."""
    gpus: tuple[GpuUse, ...] = value_or(case.facts.run.gpus, ())
    return max((use for use in gpus if use.own), key=lambda use: (use.own + use.others_then) / use.total, default=None)


def wanted(symptom: Symptom, name: str = "wanted") -> int:
    """Bytes that a message names; 0 where it does not."""
    return max(0, int(symptom.size(name)))


def of(count: int, total: int) -> str:
    """ "22.4 of 23.6 GiB" """
    return f"{count / GIB:.1f} of {total / GIB:.1f} GiB"


def killed(case: Case) -> bool:
    """Whether a watched program was killed by a signal that cannot be caught."""
    signal = case.facts.run.signal
    return isinstance(signal, Known) and signal.value == "SIGKILL"
