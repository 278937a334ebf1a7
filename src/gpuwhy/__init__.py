"""gpuwhy: why does my GPU stack fail, and what do I do about it?"""

from __future__ import annotations

from gpuwhy._version import __version__

TYPE_CHECKING = False  # not from typing: what PYTHONPATH puts before it must not keep us from starting
if TYPE_CHECKING:
    from typing import Any

    from gpuwhy.app import check, explain
    from gpuwhy.fit import Fitting
    from gpuwhy.guard import Guarding
    from gpuwhy.api.batch import Fitted, NoBatchFitsError, fit_batch
    from gpuwhy.inside.expectation import Dims, MismatchError, expect, expects
    from gpuwhy.inside.growth import memory_growth
    from gpuwhy.inside.selection import SelectionError, select_gpu

    fit: Fitting
    guard: Guarding

__all__ = [
    "Dims",
    "Fitted",
    "MismatchError",
    "NoBatchFitsError",
    "SelectionError",
    "__version__",
    "check",
    "expect",
    "expects",
    "explain",
    "fit",
    "fit_batch",
    "guard",
    "memory_growth",
    "select_gpu",
]

_HOMES = {
    "gpuwhy.app": ("check", "explain"),
    "gpuwhy.api.batch": ("Fitted", "NoBatchFitsError", "fit_batch"),
    "gpuwhy.inside.expectation": ("Dims", "MismatchError", "expect", "expects"),
    "gpuwhy.inside.growth": ("memory_growth",),
    "gpuwhy.inside.selection": ("SelectionError", "select_gpu"),
}


def __getattr__(name: str) -> Any:
    """Import the public names where they are used: `import gpuwhy` itself loads nothing."""
    from importlib import import_module

    if name in ("guard", "fit"):  # modules that can be called
        return import_module(f"gpuwhy.{name}")
    for home, names in _HOMES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(home), name)
            return value
    raise AttributeError(f"module 'gpuwhy' has no attribute {name!r}")


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext gpuwhy` calls: adds `%%gpuwhy` and `%gpuwhy`."""
    from gpuwhy.inside import notebook

    notebook.load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """What `%unload_ext gpuwhy` calls."""
    from gpuwhy.inside import notebook

    notebook.unload(shell)
