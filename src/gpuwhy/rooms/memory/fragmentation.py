"""memory.fragmentation: the GPU's free memory is in pieces that are too small."""

from __future__ import annotations

from gpuwhy.model.cause import Case, Cause, Finding, saw, strong
from gpuwhy.rooms.shared.watched import fullest, of, said, wanted


def held_unused(case: Case) -> Finding | None:
    """A watched PyTorch program that held much more than its tensors used, and more than it asked for."""
    message, use = said(case, "memory.torch_oom"), fullest(case)
    used = wanted(message, "allocated") if message else 0
    if message is None or use is None or not used or message.get("allowed"):
        return None  # below a limit of its own the message's figures decide, not the card's
    unused = use.own - used
    if unused < max(1.2 * wanted(message), 0.06 * use.total):
        return None
    text = f"its tensors used {of(used, use.total)}, while the program held {of(use.own, use.total)} of GPU {use.index}"
    return strong(text, saw(f"peak of {use.own} bytes", case.facts.run.gpus))


CAUSE = Cause(
    id="memory.fragmentation",
    title="GPU memory is free, but only in pieces that are too small (fragmentation)",
    signs=(held_unused,),
    effect="The GPU's memory is in pieces",
    needs_log=True,
)
