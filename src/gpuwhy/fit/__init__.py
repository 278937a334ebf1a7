"""Will it fit? A model's headers, what its use takes of a GPU's memory, and the smallest change by which it fits.

The package itself is callable, so that `gpuwhy.fit(…)` is one name for both.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from gpuwhy.fit.model import Unreadable
from gpuwhy.fit.reading import read

if TYPE_CHECKING:
    from gpuwhy.model.fit import Fit

__all__ = ["Unreadable", "read"]


class Fitting(ModuleType):
    """The type of this package: it can be called."""

    def __call__(self, model: str, **asked: Any) -> Fit:
        """Whether a use of a model fits: gpuwhy.fit("./model", train="lora", batch=4, tokens=2048, gpu="RTX 4090")."""
        from gpuwhy.fitting import fit

        return fit(model, **asked)


sys.modules[__name__].__class__ = Fitting
