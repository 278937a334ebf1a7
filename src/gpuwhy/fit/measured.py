"""What a measurement says of the account, and the account of what to measure first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from gpuwhy.fit.answer import settled, shares_of
from gpuwhy.fit.guess import described
from gpuwhy.fit.model import Model
from gpuwhy.model.fit import Card, Share, Use

MOVING = ("activations", "logits", "attention")
MOST = 1 << 16


class OneTry(Protocol):
    """A batch that was tried."""

    @property
    def size(self) -> int: ...  # noqa: D102
    @property
    def fits(self) -> bool: ...  # noqa: D102


class Tried(Protocol):
    """What `fit_batch` gives back."""

    @property
    def tries(self) -> Sequence[OneTry]: ...  # noqa: D102


def corrected(model: Model, use: Use, cards: tuple[Card, ...], tried: Tried) -> Use:
    """The use with its moving parts scaled so that what fitted fits, and what did not does not."""
    model = described(model)
    use, cards = settled(model, use, cards)
    good = max((one.size for one in tried.tries if one.fits), default=0)
    bad = min((one.size for one in tried.tries if not one.fits and one.size > good), default=0)
    scale = use.scale
    for size, fits in ((good, True), (bad, False)):
        share = shares_of(model, msgspec.structs.replace(use, batch=size, scale=scale), cards)[0] if size else None
        if share is not None and (share.needs <= share.card.room) is not fits:
            scale *= _factor(share)
    return msgspec.structs.replace(use, scale=max(0.05, min(20.0, scale)))


def _factor(share: Share) -> float:
    """By how much the moving parts must differ for the whole to meet what there is."""
    moving = sum(part.bytes for part in share.parts if part.name in MOVING)
    rest = share.needs - moving
    return max(0.05, (share.card.room - rest) / moving) if moving else 1.0


def largest(model: Model, use: Use, cards: tuple[Card, ...]) -> int:
    """The largest batch that the account lets in; 0 where not even one fits."""
    model = described(model)
    use, cards = settled(model, use, cards)

    def fits(batch: int) -> bool:
        share = shares_of(model, msgspec.structs.replace(use, batch=batch), cards)[0]
        return share.needs <= share.card.room

    low, high = 0, 1
    while high <= MOST and fits(high):
        low, high = high, high * 2
    while high - low > 1 and low:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
