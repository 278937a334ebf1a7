"""NVIDIA_VISIBLE_DEVICES set past the scheduler."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge import containers
from gpuwhy.lint.sheet import Workload
from gpuwhy.model.lint import Mistake, Rule
from gpuwhy.model.plan import Machine

RULE = Rule("visible-devices", "warning", "NVIDIA_VISIBLE_DEVICES set past the scheduler")


def check_workload(work: Workload, _: Machine | None) -> Iterator[Mistake]:
    """In Kubernetes the device plugin says which GPUs a container sees."""
    variable = work.variables.get("NVIDIA_VISIBLE_DEVICES")
    if work.kind == "kubernetes" and variable and variable.value == "all" and not work.exempt:
        said = "gives the container every GPU of the node, past the scheduler"
        text = f"{work.name}: NVIDIA_VISIBLE_DEVICES=all {said}" + (
            "" if work.request else ", and no limit asks for one"
        )
        yield RULE.mistake(
            variable.place,
            text,
            containers.PLUGIN,
            "remove it; resources.limits nvidia.com/gpu decides",
        )
