"""Every look, in the order in which subjects build on each other; and the questions worth asking early."""

from __future__ import annotations

from typing import Any

from gpuwhy.observe import devices, driver, environment, libraries, surroundings, target, toolkits
from gpuwhy.observe.scene import Look

LOOKS: tuple[Look, ...] = (
    *surroundings.LOOKS,
    *target.LOOKS,
    *environment.LOOKS,
    *toolkits.LOOKS,
    *libraries.LOOKS,
    *driver.LOOKS,
    *devices.LOOKS,
)

EARLY: tuple[tuple[Any, ...], ...] = (("call", "nvml"), ("call", "nodes"), ("kernel_log",))
"""Questions whose answers come from another process."""
