"""gpuwhy: why does my GPU stack fail, and what do I do about it?"""

from __future__ import annotations

from gpuwhy._version import __version__

TYPE_CHECKING = False  # not from typing: a file of that name on PYTHONPATH must not keep us off
if TYPE_CHECKING:
    from typing import Any

    from gpuwhy.api.batch import Fitted, NoBatchFitsError, fit_batch
    from gpuwhy.api.expect import MismatchError, expect
    from gpuwhy.api.python import check, explain
    from gpuwhy.api.select import SelectionError, select_gpu
    from gpuwhy.fit import Fitting
    from gpuwhy.guard import Guarding

    fit: Fitting
    guard: Guarding

__all__ = [
    "Fitted",
    "MismatchError",
    "NoBatchFitsError",
    "SelectionError",
    "__version__",
    "check",
    "expect",
    "explain",
    "fit",
    "fit_batch",
    "guard",
    "select_gpu",
]

_HOMES = {
    "gpuwhy.api.batch": ("Fitted", "NoBatchFitsError", "fit_batch"),
    "gpuwhy.api.expect": ("MismatchError", "expect"),
    "gpuwhy.api.python": ("check", "explain"),
    "gpuwhy.api.select": ("SelectionError", "select_gpu"),
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
    from gpuwhy.api import notebook

    notebook.load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """What `%unload_ext gpuwhy` calls."""
    from gpuwhy.api import notebook

    notebook.unload(shell)
