"""`gpuwhy check`: is this machine and environment able to run GPU work, and if not, why?"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from gpuwhy.cli import HEALTHY, UsageError, output
from gpuwhy.facts.fact import Fact, Known, Unknown, value_or
from gpuwhy.facts.version import numbers

if TYPE_CHECKING:
    from gpuwhy.api.machine import Seen
    from gpuwhy.facts.devices import Gpu
    from gpuwhy.facts.facts import Facts

FRAMEWORKS = ("tensorflow", "torch", "jax", "onnxruntime", "cupy")
MIB = 1 << 20


def go(options: argparse.Namespace) -> int:
    """Observe, judge, print."""
    output.ready(options)
    if options.jsonl:
        return node(options)
    from gpuwhy.cli.machine import seen

    found = seen(options)
    if options.query:
        from gpuwhy.cli.terminal import write

        write(queried(found, options.query.split(",")))
        return HEALTHY
    answer = found.report
    output.put_checked(options, answer)
    return answer.exit_code


def node(options: argparse.Namespace) -> int:
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
    facts, report = seen.facts, seen.report
    if name == "status":
        return report.status
    if name == "cause":
        return report.causes[0].id if report.causes else ""
    if name in NAMES:
        return NAMES[name](facts)
    framework, _, part = name.partition(".")
    installed = facts.frameworks.installed
    found = next((one for one in value_or(installed, ()) if one.name == framework), None)
    if part not in ("", "cuda", "cudnn") or not (found or framework in FRAMEWORKS):
        known = ", ".join((*NAMES, "status", "cause", *FRAMEWORKS, "torch.cuda", "torch.cudnn"))
        raise UsageError(f"--query {name}: the names are {known}")
    if found is None:
        return "?" if isinstance(installed, Unknown) else ""
    built = {"cuda": found.built_for_cuda, "cudnn": found.built_for_cudnn}
    return _plain(built[part]) if part else found.version


def _plain(fact: Fact[str]) -> str:
    return fact.value if isinstance(fact, Known) else "?" if isinstance(fact, Unknown) else ""


def _gpus(value: Callable[[Gpu], str]) -> Callable[[Facts], str]:
    """A value of every GPU, with commas between."""

    def of(facts: Facts) -> str:
        gpus = facts.devices.gpus
        seen = value_or(gpus, ())
        return "?" if isinstance(gpus, Unknown) else ",".join(map(value, seen))

    return of


def _count(facts: Facts) -> str:
    gpus = facts.devices.gpus
    return "?" if isinstance(gpus, Unknown) else str(len(value_or(gpus, ())))


def _memory(fact: Fact[int]) -> str:
    return str(fact.value // MIB) if isinstance(fact, Known) else "?"


def _library(family: str) -> Callable[[Facts], str]:
    """The newest installed copy of a library."""

    def of(facts: Facts) -> str:
        copies = facts.libraries.copies
        found = [_plain(one.version) for one in value_or(copies, ()) if one.family == family]
        return "?" if isinstance(copies, Unknown) else max(found, key=numbers, default="")

    return of


def _python(facts: Facts) -> str:
    python = value_or(facts.environment.python, None)
    return python.version if python else ""


NAMES: dict[str, Callable[[Facts], str]] = {
    "driver": lambda facts: _plain(facts.driver.module_version),
    "driver_cuda": lambda facts: _plain(facts.driver.driver_cuda),
    "gpus": _count,
    "gpu": _gpus(lambda gpu: gpu.name),
    "capability": _gpus(lambda gpu: _plain(gpu.capability)),
    "memory": _gpus(lambda gpu: _memory(gpu.memory_total)),
    "memory_free": _gpus(lambda gpu: _memory(gpu.memory_free)),
    "cuda": _library("cudart"),
    "cudnn": _library("cudnn"),
    "python": _python,
}
