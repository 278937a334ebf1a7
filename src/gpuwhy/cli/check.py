"""`gpuwhy check`: is this machine and environment able to run GPU work, and if not, why?"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gpuwhy.cli import HEALTHY, UsageError, output
from gpuwhy.facts.fact import Absent, Known, Unknown, value_or
from gpuwhy.facts.version import numbers

if TYPE_CHECKING:
    from gpuwhy.api.machine import Seen

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

    if not options.recording:
        options.recording = os.environ.get("GPUWHY_FROM")  # a node that answers as a recorded one
    machine, asked = asked_for(options)
    seen = observe(machine, asked)
    write(node_line(machine, seen, options.node))
    return HEALTHY if options.exit_zero else seen.report.exit_code


# ---------------------------------------------------------------- --query

PATHS = {
    "driver": "driver.module_version",
    "driver_cuda": "driver.driver_cuda",
    "gpu": "devices.gpus.name",
    "capability": "devices.gpus.capability",
    "memory": "devices.gpus.memory_total",
    "memory_free": "devices.gpus.memory_free",
    "python": "environment.python.version",
}
LIBRARIES = {"cuda": "cudart", "cudnn": "cudnn"}
NAMES = (*PATHS, "gpus", *LIBRARIES, "status", "cause", *FRAMEWORKS, "torch.cuda", "torch.cudnn")


def queried(seen: Seen, names: Iterable[str]) -> str:
    """Plain values for scripts, a line each in the order asked.

    An empty line: looked, and not there. A question mark: could not be found out.
    """
    return "".join(f"{_value(seen, name.strip())}\n" for name in names)


def _value(seen: Seen, name: str) -> str:
    facts, report = seen.facts, seen.report
    if name in PATHS:
        return _text(facts, PATHS[name])
    if name == "gpus":
        gpus = facts.devices.gpus
        return "?" if isinstance(gpus, Unknown) else str(len(value_or(gpus, ())))
    if name in LIBRARIES:  # the newest installed copy
        copies = facts.libraries.copies
        own = (one for one in value_or(copies, ()) if one.family == LIBRARIES[name])
        newest = max((_text(one.version) for one in own), key=numbers, default="")
        return "?" if isinstance(copies, Unknown) else newest
    if name in ("status", "cause"):
        first = report.causes[0].id if report.causes else ""
        return report.status if name == "status" else first
    framework, _, part = name.partition(".")
    installed = facts.frameworks.installed
    found = next((one for one in value_or(installed, ()) if one.name == framework), None)
    if part not in ("", "cuda", "cudnn") or not (found or framework in FRAMEWORKS):
        raise UsageError(f"--query {name}: the names are {', '.join(NAMES)}")
    if found is None:
        return "?" if isinstance(installed, Unknown) else ""
    return _text(found, f"built_for_{part}" if part else "version")


def _text(value: Any, path: str = "") -> str:
    """What stands at a path of names; of several with commas between, sizes in MiB."""
    if isinstance(value, Unknown):
        return "?"
    if isinstance(value, (Known, Absent)):
        value = value_or(value, "")
    if isinstance(value, tuple):
        return ",".join(_text(one, path) for one in value)
    first, _, rest = path.partition(".")
    if first and value != "":
        return _text(getattr(value, first), rest)
    return str(value // MIB) if isinstance(value, int) else str(value)
