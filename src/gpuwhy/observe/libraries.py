"""libraries: to be observed."""

from __future__ import annotations

from gpuwhy.observe.scene import Look

LOOKS: tuple[Look, ...] = ()
