"""Whether a test that wants GPUs can run here, for the pytest marker: asked once per process."""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import TYPE_CHECKING

from gpuwhy.inside.selection import SelectionError, require, sorted_out, visible, wish
from gpuwhy.model.fact import Known

if TYPE_CHECKING:
    from gpuwhy.model.facts import Device


def why_not(free: str | int = 0, capability: str | float = "", n: int = 1) -> str:
    """Why there are no such GPUs; "" where there are, and where nobody can tell: no test is skipped on a guess."""
    wanted = wish(free, capability)
    if sys.platform != "linux":
        return ""
    found = _visible()
    if isinstance(found, str):
        return found
    if found is None:
        return ""
    try:
        require(*sorted_out(found, wanted), n)
    except SelectionError as error:
        return str(error)
    return ""


@lru_cache(maxsize=1)
def _visible() -> tuple[Device, ...] | str | None:
    """The visible GPUs, or why there are none; None where that cannot be told or another maker's driver is there."""
    from gpuwhy.app import devices_of, live_host

    host = live_host()
    if isinstance(host.stat("/dev/kfd"), Known):  # AMD's driver, whose GPUs NVML does not count
        return None
    try:
        return visible(devices_of(host))
    except SelectionError as error:
        return str(error) if error.certain else None
