"""gpuwhy: why does my GPU stack fail, and what do I do about it?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpuwhy._version import __version__

if TYPE_CHECKING:
    from gpuwhy.app import check, explain

__all__ = ["__version__", "check", "explain"]


def __getattr__(name: str) -> Any:
    """Import the public functions where they are used: `import gpuwhy` itself loads nothing."""
    if name in ("check", "explain"):
        from gpuwhy import app

        return getattr(app, name)
    raise AttributeError(f"module 'gpuwhy' has no attribute {name!r}")
