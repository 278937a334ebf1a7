"""Will it fit? A model's headers, what its use takes of a GPU's memory, and the smallest change.

The package itself is callable, so that `gpuwhy.fit(…)` is one name for both.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpuwhy.fit.answer import Fit


class Fitting(ModuleType):
    """The type of this package: it can be called."""

    def __call__(self, model: str, **asked: Any) -> Fit:
        """Whether a use of a model fits: gpuwhy.fit("./model", train="lora", gpu="RTX 4090")."""
        from gpuwhy.fit.ask import fit

        return fit(model, **asked)


sys.modules[__name__].__class__ = Fitting
