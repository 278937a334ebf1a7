"""memory.oom: the work needs more GPU memory than there is."""

from __future__ import annotations

from gpuwhy.knowledge.messages import GPU_MEMORY
from gpuwhy.model.cause import Case, Cause, Finding, saw, strong
from gpuwhy.model.facts import GpuUse
from gpuwhy.model.symptom import Symptom
from gpuwhy.rooms.shared.watched import GIB, fullest, of, said, wanted


def filled(case: Case) -> Finding | None:
    """A watched program that filled the GPU itself, or asked for more than it has."""
    message, use = said(case, *GPU_MEMORY), fullest(case)
    if message is None or use is None or use.others_then > use.own:
        return None
    more = wanted(message)
    if use.own + use.others_then + more < 0.9 * use.total or _held_by_another_framework(message, use):
        return None
    others = f"all others {use.others_then / GIB:.1f} GiB"
    text = f"the program itself held {of(use.own, use.total)} of GPU {use.index} at its peak, {others}"
    return strong(text, saw(f"peak of {use.own} bytes", case.facts.run.gpus))


def _held_by_another_framework(message: Symptom, use: GpuUse) -> bool:
    """PyTorch says how much of the process's memory is its own: the rest is another framework's grab."""
    theirs = wanted(message, "allocated") + wanted(message, "unused")
    return bool(message.get("allocated")) and theirs < 0.1 * use.own


CAUSE = Cause(
    id="memory.oom",
    title="out of GPU memory: the work needs more than there is",
    signs=(filled,),
    effect="The GPU's memory is too small for this work",
    needs_log=True,
)
