"""memory.preallocation: the framework grabbed the GPU's memory and left none for its libraries."""

from __future__ import annotations

from gpuwhy.knowledge.messages import STARVED
from gpuwhy.model.cause import Case, Cause, Finding, saw, strong
from gpuwhy.model.fact import value_or
from gpuwhy.rooms.shared.watched import fullest, of, said

GRABS = ("tensorflow", "jax")
AT_ONCE = 3.0


def grabbed(case: Case) -> Finding | None:
    """A watched TensorFlow or JAX program that took most of the GPU at once, before a library got nothing."""
    message, use = said(case, *STARVED), fullest(case)
    used: tuple[str, ...] = value_or(case.facts.run.frameworks, ())
    if message is None or use is None or not set(GRABS) & set(used):
        return None
    first = next((moment for moment in use.curve if moment.own), None)
    full = next((moment for moment in use.curve if moment.own > 0.7 * use.total), None)
    if first is None or full is None or full.seconds - first.seconds > AT_ONCE:
        return None
    text = f"the program took {of(full.own, use.total)} of GPU {use.index} within {AT_ONCE:.0f} s of its first use"
    return strong(text, saw(f"{full.own} bytes after {full.seconds} s", case.facts.run.gpus))


CAUSE = Cause(
    id="memory.preallocation",
    title="the framework took all GPU memory and left none for cuDNN or cuBLAS",
    signs=(grabbed,),
    effect="cuDNN or cuBLAS found no GPU memory left",
    needs_log=True,
)
