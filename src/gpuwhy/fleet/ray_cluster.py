"""Ray: one task without resources on each node of a cluster; runs in a process of its own.

It yields JSON lines: first {"nodes": {label: "" or why it cannot be asked}}, then one for each
node: {"label", "line"} or {"label", "why"}.
"""

from __future__ import annotations

import inspect
import json
import time
from collections.abc import Iterator
from typing import Any

from gpuwhy.machine.children import ray_node

CLIENT = "ray://"
_IN_ORDER = (1, 3, 4)
"""Ray's NodeDeathInfo: EXPECTED_TERMINATION, AUTOSCALER_DRAIN_PREEMPTED, AUTOSCALER_DRAIN_IDLE."""


class NoRayError(Exception):
    """Ray is not installed, or there is no such cluster; the text says which."""


def ask(address: str, seconds: float) -> Iterator[str]:
    """The answers as they come, until the time is up."""
    until = time.monotonic() + seconds
    ray = connected(address)
    nodes = nodes_of(ray)
    yield json.dumps({"nodes": {label: why for label, (_, why) in nodes.items()}})
    asked = {_start(ray, node, seconds): label for label, (node, why) in nodes.items() if not why}
    try:
        yield from _answers(ray, asked, until)
    finally:
        cancel(ray, list(asked))


def connected(address: str) -> Any:
    """Ray, joined to a cluster; NoRayError says why not."""
    try:
        import ray
    except ImportError as error:
        raise NoRayError(
            f"Ray cannot be imported here ({error}): pip install 'gpuwhy[ray]' beside the job's Ray"
        ) from error
    client = address.startswith(CLIENT)
    quiet = {} if client else {"log_to_driver": False, "logging_level": "CRITICAL"}
    try:
        ray.init(address=address or "auto", namespace="gpuwhy", **quiet)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        raise NoRayError(
            f"no Ray cluster at {address or 'auto'}: {str(error).strip().splitlines()[0]}"
        ) from error
    return ray


def nodes_of(ray: Any) -> dict[str, tuple[str, str]]:
    """Label → (Ray's id, why it cannot be asked); of several nodes of one name with the id."""
    rows = [row for row in ray.nodes() if row.get("Alive") or _lost(row)]
    names = list(map(_name, rows))
    out = {}
    for row, name in zip(rows, names, strict=True):
        label = str(name) if names.count(name) == 1 else f"{name}/{row['NodeID'][:8]}"
        why = "" if row.get("Alive") else f"Ray lost it: {row.get('DeathReasonMessage') or 'dead'}"
        out[label] = (row["NodeID"], why)
    return out


def _name(row: dict[str, Any]) -> Any:
    return row.get("NodeManagerHostname") or row.get("NodeName") or row.get("NodeManagerAddress")


def _lost(row: dict[str, Any]) -> bool:
    """Whether a dead node is missed: one that was taken down in order is not."""
    return row.get("DeathReason") not in (None, *_IN_ORDER)


def pinned(ray: Any, node: str, function: Any) -> Any:
    """A function as a task without resources on one node."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    strategy = NodeAffinitySchedulingStrategy(node_id=node, soft=False)
    return ray.remote(num_cpus=0, max_retries=0, scheduling_strategy=strategy)(function)


def _start(ray: Any, node: str, seconds: float) -> Any:
    def answer(source: str, seconds: float) -> Any:
        """On the node, whose gpuwhy may be another release: what it does there travels along."""
        scope: dict[str, Any] = {}
        exec(source, scope)
        return scope["answer"](seconds)

    return pinned(ray, node, answer).remote(inspect.getsource(ray_node), seconds)


def _answers(ray: Any, asked: dict[Any, str], until: float) -> Iterator[str]:
    waiting = list(asked)
    while waiting and (left := until - time.monotonic()) > 0:
        ready, waiting = ray.wait(waiting, num_returns=1, timeout=min(left, 5.0))
        for ref in ready:
            yield json.dumps({"label": asked[ref], **_said(ray, ref)})


def _said(ray: Any, ref: Any) -> dict[str, str]:
    try:
        line = ray.get(ref, timeout=10)
    except (
        Exception
    ) as error:  # Ray's own errors: the node or its worker died, no Python there, out of memory
        first = next(iter(str(error).strip().splitlines()), type(error).__name__)
        return {"why": f"{type(error).__name__}: {first}"[:300]}
    return {"why": line[1:] or "it said nothing"} if line.startswith("!") else {"line": line}


def cancel(ray: Any, refs: list[Any]) -> None:
    """Take back what still runs; the process ends after this, and Ray ends what it started."""
    _, running = ray.wait(refs, num_returns=len(refs), timeout=0) if refs else ([], [])
    for ref in running:
        try:
            ray.cancel(ref, force=True)
        except Exception:  # a node that does not answer cannot be told
            break
