"""What the names and shapes of tensors tell of the architecture, where no config does."""

from __future__ import annotations

from collections.abc import Sequence

from gpuwhy.fit.model import Architecture, Tensor


def architecture_from(tensors: Sequence[Tensor]) -> Architecture | None:
    """None where they tell nothing."""
    return None
