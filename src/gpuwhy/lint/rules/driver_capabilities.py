"""NVIDIA_DRIVER_CAPABILITIES without compute: no libcuda in the container."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import containers
from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope, base_of
from gpuwhy.lint.sheet import Workload
from gpuwhy.model.lint import Edit, Mistake, Place, Rule
from gpuwhy.model.plan import Machine

RULE = Rule("driver-capabilities", "error", "NVIDIA_DRIVER_CAPABILITIES without compute: no libcuda in the container")


def check(scope: Scope) -> Iterator[Mistake]:
    """NVIDIA_DRIVER_CAPABILITIES of the image that runs."""
    variable = scope.environment.variables.get("NVIDIA_DRIVER_CAPABILITIES")
    if scope.environment.runs and variable and (scope.gpu_framework() or scope.base.gpu):
        yield from _lacking_compute(variable.value, variable.place)


def _lacking_compute(value: str, place: Place) -> Iterator[Mistake]:
    """A list of capabilities without the one that brings libcuda."""
    listed = {part.strip() for part in value.lower().split(",") if part.strip()}
    if listed and not listed & {"all", *_WITH_LIBCUDA} and "$" not in value:
        text = f"NVIDIA_DRIVER_CAPABILITIES={value} lacks compute: the container gets no libcuda.so.1"
        fix = f"write NVIDIA_DRIVER_CAPABILITIES=compute,{value}"
        yield RULE.mistake(place, text, containers.TOOLKIT, fix, edit=Edit(value, f"compute,{value}"))


def check_workload(work: Workload, _: Machine | None) -> Iterator[Mistake]:
    """NVIDIA_DRIVER_CAPABILITIES of a container for GPUs."""
    variable = work.variables.get("NVIDIA_DRIVER_CAPABILITIES")
    if variable and base_of(work).gpu:
        yield from _lacking_compute(variable.value, variable.place)
    yield from _handed_on(work)


def _handed_on(work: Workload) -> Iterator[Mistake]:
    """Capabilities of a device reservation that leave compute out, where more than nvidia-smi is wanted."""
    parts, place = work.device_parts or ("", work.place)
    told = f"{work.name} {work.image.text if work.image else ''} {work.command}"
    if parts and not _WITH_LIBCUDA & set(parts.split(", ")) and not _ONLY_LOOKS.search(told):
        text = (
            f"capabilities [gpu, {parts}] of a device become NVIDIA_DRIVER_CAPABILITIES={parts}, without compute: "
            f"{work.name} gets no libcuda.so.1"
        )
        yield RULE.mistake(place, text, _HANDED_ON, f"write capabilities: [gpu], or [gpu, compute, {parts}]", "warning")


_WITH_LIBCUDA = frozenset(["compute", "video", "graphics", "display"])
"""libnvidia-container, src/options.h: video brings the libraries of compute; who draws was seen to have them too."""

_ONLY_LOOKS = re.compile(
    r"export|monitor|metrics|dcgm|smi\b|stats?\b|telegraf|prometheus|netdata|glances|cadvisor", re.I
)
_HANDED_ON = source("docker/compose issue 8583, mudler/LocalAI issue 11973", "seen with [gpu, utility]")
