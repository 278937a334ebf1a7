"""Nodes for tests: answers of recorded hosts, and small changes of them."""

import json
from functools import cache
from typing import Any

from gpuwhy.api.machine import observe
from gpuwhy.cli.fleet import node_line
from gpuwhy.fleet.answer import Answer
from gpuwhy.fleet.read import decoded
from gpuwhy.look.look import Options
from gpuwhy.machine.recording import Recording, recorded_machine
from tests.signs.test_hosts import answers


@cache
def line(host: str = "h200-wheels") -> str:
    machine = recorded_machine(Recording("gpuwhy.record/1", "0", *answers(host)))
    asked = machine.recording.options
    options = Options(asked.get("python", ""), asked.get("folder", ""))
    return node_line(machine, observe(machine, options), "node-x")


def changed(node: str, facts: dict[str, Any] | None = None, host: str = "h200-wheels", **more: Any) -> str:
    """The line of a recorded host under another name, some facts changed; None takes one away."""
    value = json.loads(line(host))
    kept = {**value["facts"], **(facts or {})}
    value["facts"] = {name: one for name, one in kept.items() if one is not None}
    return json.dumps({**value, "node": node, **more})


def answer(node: str, facts: dict[str, Any] | None = None, host: str = "h200-wheels", **more: Any) -> Answer:
    return decoded(changed(node, facts, host, **more).encode())
