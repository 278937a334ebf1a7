"""Ray: one task without resources on each node of a cluster; Ray runs in a process of its own.

That process prints JSON lines: first {"nodes": [label …]}, then one for each node:
{"label", "line"} or {"label", "why"}. `Cluster` reads them.
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

# In the process that speaks to the cluster


class NoRayError(Exception):
    """Ray is not installed, or there is no such cluster; the text says which."""


def ask(address: str, seconds: float) -> Iterator[str]:
    """The answers as they come, until the time is up; what still runs ends with this process."""
    until = time.monotonic() + seconds
    ray = _connected(address)
    rows = [row for row in ray.nodes() if row.get("Alive")]
    keys = ("NodeManagerHostname", "NodeName", "NodeManagerAddress")
    names = [next((row[key] for key in keys if row.get(key)), "?") for row in rows]
    nodes = {}  # of several nodes of one name with the id
    for row, name in zip(rows, names, strict=True):
        label = name if names.count(name) == 1 else f"{name}/{row['NodeID'][:8]}"
        nodes[label] = row["NodeID"]
    yield json.dumps({"nodes": list(nodes)})
    asked = {_start(ray, node, seconds): label for label, node in nodes.items()}
    while asked and (left := until - time.monotonic()) > 0:
        for ref in ray.wait(list(asked), num_returns=1, timeout=min(left, 5.0))[0]:
            said = {"label": asked.pop(ref)}
            try:
                line = ray.get(ref, timeout=10)
                said |= {"why": line[1:]} if line.startswith("!") else {"line": line}
            except (
                Exception
            ) as error:  # Ray's own: the node or its worker died, no Python, no memory
                first = next(iter(str(error).strip().splitlines()), "")
                said["why"] = f"{type(error).__name__}: {first}"[:300]
            yield json.dumps(said)


def _connected(address: str) -> Any:
    """Ray, joined to a cluster; NoRayError says why not."""
    try:
        import ray
    except ImportError as error:
        how = "pip install 'gpuwhy[ray]' beside the job's Ray"
        raise NoRayError(f"Ray cannot be imported here ({error}): {how}") from error
    client = address.startswith("ray://")
    quiet = {} if client else {"log_to_driver": False, "logging_level": "CRITICAL"}
    try:
        ray.init(address=address or "auto", namespace="gpuwhy", **quiet)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        why = str(error).strip().splitlines()[0]
        raise NoRayError(f"no Ray cluster at {address or 'auto'}: {why}") from error
    return ray


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


# In ours


class _Said(msgspec.Struct, frozen=True):
    nodes: list[str] | None = None
    label: str = ""
    line: str = ""
    why: str = ""


class Cluster:
    """The nodes of a cluster and what has come from them."""

    def __init__(self) -> None:
        self.nodes: dict[str, str] = {}  # label → why it gave no answer, "" while nobody knows
        self.heard = Heard(keep=True)
        self.why = ""  # the last words of a process that could not begin

    def take(self, data: bytes | None) -> None:
        """One line of that process."""
        try:
            said = msgspec.json.decode(data or b"", type=_Said)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            text = plain((data or b"")[:400].decode("utf-8", "replace")).strip()
            if text.startswith("gpuwhy: "):  # Ray's own words on an address without answer are many
                self.why = text.removeprefix("gpuwhy: ")
            return
        if said.nodes is not None:
            self.nodes = dict.fromkeys(map(clean_name, said.nodes), "")
            return
        label, before = clean_name(said.label), len(self.heard.answers)
        if said.line:
            self.heard.take(said.line.encode("utf-8", "replace"), label)
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
