"""Fragmentation: what torch's allocator keeps above what is allocated, by what was seen on an H200 with torch 2.11.

Freed blocks are used again by what has their size. Where a step's fullest moments need blocks of different sizes, such
as activations and then gradients with the optimizer's temporaries, one does not fit into the other's.
"""

from __future__ import annotations

from gpuwhy.fit.phase import Phase, part
from gpuwhy.fit.view import View
from gpuwhy.model.fit import Part, Use

ROUNDING = 30 << 20
MOVING, CACHE = 0.20, 0.60
"""Shares of activations and of a cache that grows, in inference."""
HELD, STEPPED = (0.03, 0.40), (0.09, 0.30)
"""In training, where activations or where the optimizer's step is the fullest: of everything, and of gradients and
temporaries less how far these two moments are apart."""
WORDS = 0.5
"""Of the optimizer's state that settles in the blocks that logits leave, where those are larger than activations."""
PICTURES, PICTURES_UP, PICTURES_TRAINED = 0.06, 0.45, 0.30
"""Of activations of convolutions: inference, inference of a U-Net, training."""
GIVEN = 0.5
"""Of all that is given back when memory runs short, before an allocation fails."""


def fragments(view: View, use: Use, phases: list[Phase]) -> Part:
    """The part for the fullest of these moments; `phases` are sorted, the fullest first."""
    if use.framework != "torch":
        return part("fragmentation", ROUNDING, (1.0, 1.0), "assumed", "the allocator's rounding")
    full = phases[0]
    if view.net is not None:
        size = _pictures(view, use, phases)
    elif use.task == "inference":
        size = MOVING * full.of("activations", "logits") + CACHE * full.of("kv cache")
    else:
        size = _trained(full, phases)
    text = "rounding, and freed blocks that nothing else fits into"
    return part("fragmentation", ROUNDING + size, (0.9, 1.5), "assumed", text)


def _trained(full: Phase, phases: list[Phase]) -> float:
    between = full.bytes - next((one.bytes for one in phases if _other(one, full)), 0)
    stepped = max((one.of("gradients", "workspace") for one in phases if one.name == "step"), default=0)
    words = max(0, full.of("logits") - full.of("activations"))
    held, share = STEPPED if full.name in ("step", "end") else HELD
    settled = WORDS * min(words, full.of("optimizer"))
    return held * full.bytes + max(0.0, share * stepped - between) + settled


def _other(one: Phase, full: Phase) -> bool:
    """Whether a moment belongs to the other half of a step."""
    return (one.name in ("step", "end")) is not (full.name in ("step", "end"))


def _pictures(view: View, use: Use, phases: list[Phase]) -> float:
    moving = max(one.of("activations") for one in phases)
    if use.task != "inference":
        return PICTURES_TRAINED * moving
    return (PICTURES_UP if view.net and view.net.unet else PICTURES) * moving
