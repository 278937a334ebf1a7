"""Meeting: the releases of an environment as the described machine would get them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gpuwhy.lint.index import from_index
from gpuwhy.lint.scope import Scope, is_gpu_build, is_pinned
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import LINUX
from gpuwhy.model.release import Release

LABEL = re.compile(r"cu(\d+)(\d)")
"""The label of a build from PyTorch's own index: cu121."""


class Met(NamedTuple):
    """A framework's release for the machine's platform, and how to name it."""

    pin: Pin
    release: Release
    said: str


def met(scope: Scope) -> Iterator[Met]:
    """Every framework of an environment that runs on the described machine."""
    machine = scope.machine
    if machine is None or not scope.environment.runs or (scope.named_otherwise and not scope.named_gpu):
        return
    for pin in scope.pins:
        row = _row(scope, pin)
        if row is not None and row.platform == machine.platform:
            yield Met(pin, row, f"{pin.name} {row.version}" + ("" if is_pinned(pin) else " (the newest)"))


def _row(scope: Scope, pin: Pin) -> Release | None:
    if not from_index(scope, pin) or not is_gpu_build(pin):
        return None
    platform = scope.machine.platform if scope.machine else LINUX
    if pin.name in ("jax", "jaxlib"):
        extra = next((e for e in pin.extras if e.startswith("cuda")), "")
        return scope.taken(pin, f"jax-{extra[:6]}-plugin", platform) if extra else None
    return scope.taken(pin, platform=platform)
