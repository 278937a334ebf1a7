"""A GPU request that the runtime refuses or reads in another way."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import containers
from gpuwhy.lint.requests import ASK, KNOW
from gpuwhy.lint.rules.shared_memory import parallel
from gpuwhy.lint.sheet import Workload
from gpuwhy.model.lint import Mistake, Place, Rule
from gpuwhy.model.plan import Machine

RULE = Rule("bad-gpu-request", "error", "a GPU request that the runtime refuses or reads in another way")


def check_workload(work: Workload, _: Machine | None) -> Iterator[Mistake]:
    """What Compose or Kubernetes refuses."""
    for wrong in work.wrong_request:
        compose = work.kind == "compose"
        fix = "write {driver: nvidia, count: 1, capabilities: [gpu]}" if compose else ASK[work.kind]
        know = containers.COMPOSE if compose else KNOW[work.kind]
        yield RULE.mistake(wrong.place, f"{work.name}: {wrong.text}", know, fix)
    count = work.limit[0].strip() if work.limit else ""
    if work.limit and count.isdigit() and 0 < int(count) < parallel(work):
        text = f"{work.name} splits a model over {parallel(work)} GPUs and asks for {count}: the server does not start"
        yield RULE.mistake(work.limit[1], text, containers.KUBERNETES, f"write nvidia.com/gpu: {parallel(work)}")
    if work.asked:
        yield from _requested(work, *work.asked)
    if work.limit and "$" not in work.limit[0] and not re.fullmatch(r"\d+", work.limit[0].strip()):
        text = f"{work.name}: nvidia.com/gpu: {work.limit[0]}; GPUs are counted in whole numbers"
        yield RULE.mistake(
            work.limit[1],
            text,
            containers.KUBERNETES,
            "write a whole number; sharing is set up in the device plugin",
        )


def _requested(work: Workload, count: str, place: Place) -> Iterator[Mistake]:
    """GPUs under requests: Kubernetes wants the same under limits."""
    if work.limit and count != work.limit[0]:
        both = f"{count} under requests and {work.limit[0]} under limits"
        text = f"{work.name}: nvidia.com/gpu is {both}; they must be equal"
        yield RULE.mistake(place, text, containers.KUBERNETES, "keep the one under limits alone")
    if not work.limit and not work.partial:
        text = f"{work.name}: nvidia.com/gpu: {count} under requests alone, which Kubernetes refuses"
        yield RULE.mistake(place, text, containers.KUBERNETES, f"write nvidia.com/gpu: {count} under limits")
