"""`gpuwhy check`: is this machine and environment able to run GPU work, and if not, why?"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from gpuwhy.cli import HEALTHY, UsageError, output
from gpuwhy.facts.fact import Fact, Known, Unknown, value_or
from gpuwhy.facts.version import numbers

if TYPE_CHECKING:
    from gpuwhy.api.machine import Seen
    from gpuwhy.facts.facts import Facts

FRAMEWORKS = ("tensorflow", "torch", "jax", "onnxruntime", "cupy")
MIB = 1 << 20


def go(options: argparse.Namespace) -> int:
    """Observe, judge, print."""
    from gpuwhy.cli import machine
    from gpuwhy.cli.terminal import write

    if options.jsonl:
        return _node(options)
    found = machine.seen(options)
    if options.query:
        write(queried(found, options.query.split(",")))
        return HEALTHY
    return output.put_answer(options, found.report, checked=True)


def _node(options: argparse.Namespace) -> int:
    """One line for `gpuwhy fleet`."""
    from gpuwhy.api.machine import observe
    from gpuwhy.cli.fleet import node_line
    from gpuwhy.cli.machine import asked_for
    from gpuwhy.cli.terminal import write

    if options.probe or options.gentle:
        raise UsageError("--jsonl does not probe: leave --probe and --gentle out")
    if not options.recording:
        options.recording = os.environ.get("GPUWHY_FROM")  # a node that answers as a recorded one
    machine, asked = asked_for(options)
    seen = observe(machine, asked)
    write(node_line(machine, seen, options.node))
    return HEALTHY if options.exit_zero else seen.report.exit_code


# ---------------------------------------------------------------- --query


def queried(seen: Seen, names: Iterable[str]) -> str:
    """Plain values for scripts, a line each in the order asked.

    An empty line: looked, and not there. A question mark: could not be found out.
    """
    return "".join(f"{_value(seen, name.strip())}\n" for name in names)


def _value(seen: Seen, name: str) -> str:
    if name in NAMES:
        return NAMES[name](seen.facts)
    if name == "status":
        return seen.report.status
    if name == "cause":
        return seen.report.causes[0].id if seen.report.causes else ""
    framework, _, part = name.partition(".")
    installed = seen.facts.frameworks.installed
    found = next((one for one in value_or(installed, ()) if one.name == framework), None)
    if part not in ("", "cuda", "cudnn") or not (found or framework in FRAMEWORKS):
        known = ", ".join((*NAMES, "status", "cause", *FRAMEWORKS, "torch.cuda", "torch.cudnn"))
        raise UsageError(f"--query {name}: the names are {known}")
    if found is None:
        return "?" if isinstance(installed, Unknown) else ""
    return _plain(getattr(found, f"built_for_{part}")) if part else found.version


def _plain(fact: Fact[Any]) -> str:
    return str(fact.value) if isinstance(fact, Known) else "?" if isinstance(fact, Unknown) else ""


def _gpus(facts: Facts, value: Callable[[Any], str] | None = None) -> str:
    """A value of every GPU, with commas between; without one, how many there are."""
    gpus = value_or(facts.devices.gpus, ())
    if isinstance(facts.devices.gpus, Unknown):
        return "?"
    return ",".join(map(value, gpus)) if value else str(len(gpus))


def _memory(fact: Fact[int]) -> str:
    return str(fact.value // MIB) if isinstance(fact, Known) else "?"


def _library(facts: Facts, family: str) -> str:
    """The newest installed copy of a library."""
    copies = facts.libraries.copies
    found = [_plain(one.version) for one in value_or(copies, ()) if one.family == family]
    return "?" if isinstance(copies, Unknown) else max(found, key=numbers, default="")


NAMES: dict[str, Callable[[Facts], str]] = {
    "driver": lambda facts: _plain(facts.driver.module_version),
    "driver_cuda": lambda facts: _plain(facts.driver.driver_cuda),
    "gpus": _gpus,
    "gpu": lambda facts: _gpus(facts, lambda gpu: gpu.name),
    "capability": lambda facts: _gpus(facts, lambda gpu: _plain(gpu.capability)),
    "memory": lambda facts: _gpus(facts, lambda gpu: _memory(gpu.memory_total)),
    "memory_free": lambda facts: _gpus(facts, lambda gpu: _memory(gpu.memory_free)),
    "cuda": lambda facts: _library(facts, "cudart"),
    "cudnn": lambda facts: _library(facts, "cudnn"),
    "python": lambda facts: getattr(value_or(facts.environment.python, None), "version", ""),
}
