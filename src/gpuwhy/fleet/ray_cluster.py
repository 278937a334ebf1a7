"""Ray: one task without resources on each node of a cluster; Ray runs in a process of its own.

That process prints JSON lines: first {"nodes": {label: "" or why it cannot be asked}}, then one
for each node: {"label", "line"} or {"label", "why"}. `Cluster` reads them.
"""

from __future__ import annotations

import inspect
import json
import time
from collections.abc import Iterator
from typing import Any

import msgspec

from gpuwhy.answer.text import plain
from gpuwhy.fleet.answer import Silent
from gpuwhy.fleet.read import Heard, clean_name
from gpuwhy.machine.children import ray_node

CLIENT = "ray://"
_IN_ORDER = (1, 3, 4)
"""Ray's NodeDeathInfo: EXPECTED_TERMINATION, AUTOSCALER_DRAIN_PREEMPTED, AUTOSCALER_DRAIN_IDLE."""


# In the process that speaks to the cluster


class NoRayError(Exception):
    """Ray is not installed, or there is no such cluster; the text says which."""


def ask(address: str, seconds: float) -> Iterator[str]:
    """The answers as they come, until the time is up."""
    until = time.monotonic() + seconds
    ray = _connected(address)
    nodes = _nodes_of(ray)
    yield json.dumps({"nodes": {label: why for label, (_, why) in nodes.items()}})
    asked = {_start(ray, node, seconds): label for label, (node, why) in nodes.items() if not why}
    waiting = list(asked)
    try:
        while waiting and (left := until - time.monotonic()) > 0:
            ready, waiting = ray.wait(waiting, num_returns=1, timeout=min(left, 5.0))
            for ref in ready:
                yield json.dumps({"label": asked[ref], **_said(ray, ref)})
    finally:
        _cancel(ray, waiting)


def _connected(address: str) -> Any:
    """Ray, joined to a cluster; NoRayError says why not."""
    try:
        import ray
    except ImportError as error:
        how = "pip install 'gpuwhy[ray]' beside the job's Ray"
        raise NoRayError(f"Ray cannot be imported here ({error}): {how}") from error
    client = address.startswith(CLIENT)
    quiet = {} if client else {"log_to_driver": False, "logging_level": "CRITICAL"}
    try:
        ray.init(address=address or "auto", namespace="gpuwhy", **quiet)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        why = str(error).strip().splitlines()[0]
        raise NoRayError(f"no Ray cluster at {address or 'auto'}: {why}") from error
    return ray


def _nodes_of(ray: Any) -> dict[str, tuple[str, str]]:
    """Label → (Ray's id, why it cannot be asked); of several nodes of one name with the id."""
    rows = [row for row in ray.nodes() if row.get("Alive") or _is_missed(row)]
    keys = ("NodeManagerHostname", "NodeName", "NodeManagerAddress")
    names = [next((row[key] for key in keys if row.get(key)), None) for row in rows]
    out = {}
    for row, name in zip(rows, names, strict=True):
        label = str(name) if names.count(name) == 1 else f"{name}/{row['NodeID'][:8]}"
        why = "" if row.get("Alive") else f"Ray lost it: {row.get('DeathReasonMessage') or 'dead'}"
        out[label] = (row["NodeID"], why)
    return out


def _is_missed(row: dict[str, Any]) -> bool:
    """Whether a dead node is missed: one that was taken down in order is not."""
    return row.get("DeathReason") not in (None, *_IN_ORDER)


def _start(ray: Any, node: str, seconds: float) -> Any:
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    def answer(source: str, seconds: float) -> Any:
        """On the node, whose gpuwhy may be another release: what it does there travels along."""
        scope: dict[str, Any] = {}
        exec(source, scope)
        return scope["answer"](seconds)

    strategy = NodeAffinitySchedulingStrategy(node_id=node, soft=False)
    task = ray.remote(num_cpus=0, max_retries=0, scheduling_strategy=strategy)(answer)
    return task.remote(inspect.getsource(ray_node), seconds)


def _said(ray: Any, ref: Any) -> dict[str, str]:
    try:
        line = ray.get(ref, timeout=10)
    except Exception as error:  # Ray's own: the node or its worker died, no Python, no memory
        first = next(iter(str(error).strip().splitlines()), type(error).__name__)
        return {"why": f"{type(error).__name__}: {first}"[:300]}
    return {"why": line[1:] or "it said nothing"} if line.startswith("!") else {"line": line}


def _cancel(ray: Any, refs: list[Any]) -> None:
    """Take back what still runs; the process ends after this, and Ray ends what it started."""
    for ref in refs:
        try:
            ray.cancel(ref, force=True)
        except Exception:  # a node that does not answer cannot be told
            break


# In ours


class _Said(msgspec.Struct, frozen=True):
    nodes: dict[str, str] | None = None
    label: str = ""
    line: str = ""
    why: str = ""


class Cluster:
    """The nodes of a cluster and what has come from them."""

    def __init__(self) -> None:
        self.nodes: dict[str, str] = {}  # label → why it gave no answer, "" while nobody knows
        self.heard = Heard()
        self.why = ""  # the last words of a process that could not begin

    def take(self, data: bytes | None, received: float) -> None:
        """One line of that process."""
        try:
            said = msgspec.json.decode(data or b"", type=_Said)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            text = plain((data or b"")[:400].decode("utf-8", "replace")).strip()
            if text.startswith("gpuwhy: "):  # Ray's own words on an address without answer are many
                self.why = text.removeprefix("gpuwhy: ")
            return
        if said.nodes is not None:
            self.nodes = {clean_name(label): plain(why)[:300] for label, why in said.nodes.items()}
            return
        label, before = clean_name(said.label), len(self.heard.answers)
        if said.line:
            self.heard.take(said.line.encode("utf-8", "replace"), label, received)
        for answer in self.heard.answers[before:]:
            answer.label = label
        if len(self.heard.answers) == before:
            self.nodes[label] = "what it said is no answer" if said.line else plain(said.why)[:300]

    def silent(self, seconds: float) -> list[Silent]:
        """Every node without an answer, with what is known of why."""
        answered = {one.label for one in self.heard.answers}
        late = f"no answer within {seconds:g} s"
        waiting = ((label, why) for label, why in self.nodes.items() if label not in answered)
        return [Silent(label, why or late) for label, why in waiting]
