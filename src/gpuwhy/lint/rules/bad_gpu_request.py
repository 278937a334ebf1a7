"""A GPU request that the runtime refuses or reads in another way."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import containers
from gpuwhy.lint.sheet import Workload
from gpuwhy.model.lint import Mistake, Rule
from gpuwhy.model.plan import Machine

RULE = Rule("bad-gpu-request", "error", "a GPU request that the runtime refuses or reads in another way")


def check_workload(work: Workload, _: Machine | None) -> Iterator[Mistake]:
    """What Compose or Kubernetes refuses."""
    for wrong in work.wrong_request:
        fix = "write {driver: nvidia, count: 1, capabilities: [gpu]}"
        yield RULE.mistake(wrong.place, f"{work.name}: {wrong.text}", containers.COMPOSE, fix)
    if work.asked and not work.limit and not work.partial:
        text = f"{work.name}: nvidia.com/gpu: {work.asked[0]} under requests alone, which Kubernetes refuses"
        yield RULE.mistake(
            work.asked[1],
            text,
            containers.KUBERNETES,
            f"write nvidia.com/gpu: {work.asked[0]} under limits",
        )
    elif work.asked and work.limit and work.asked[0] != work.limit[0]:
        both = f"{work.asked[0]} under requests and {work.limit[0]} under limits"
        text = f"{work.name}: nvidia.com/gpu is {both}; they must be equal"
        yield RULE.mistake(work.asked[1], text, containers.KUBERNETES, "keep the one under limits alone")
    if work.limit and "$" not in work.limit[0] and not re.fullmatch(r"\d+", work.limit[0].strip()):
        text = f"{work.name}: nvidia.com/gpu: {work.limit[0]}; GPUs are counted in whole numbers"
        yield RULE.mistake(
            work.limit[1],
            text,
            containers.KUBERNETES,
            "write a whole number; sharing is set up in the device plugin",
        )
