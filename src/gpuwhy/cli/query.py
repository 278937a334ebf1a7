"""`gpuwhy check --query NAMES`: plain values for scripts, a line each in the order asked.

An empty line: looked, and not there. A question mark: could not be found out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gpuwhy.api.machine import Seen
from gpuwhy.cli import UsageError
from gpuwhy.facts.devices import Gpu
from gpuwhy.facts.fact import Fact, Known, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.version import numbers

MIB = 1 << 20


def _plain(fact: Fact[str]) -> str:
    return fact.value if isinstance(fact, Known) else "?" if isinstance(fact, Unknown) else ""


def _of_gpus(value: Callable[[Gpu], str]) -> Callable[[Facts], str]:
    """A value of every GPU, with commas between."""

    def of(facts: Facts) -> str:
        gpus: tuple[Gpu, ...] = value_or(facts.devices.gpus, ())
        unknown = isinstance(facts.devices.gpus, Unknown)
        return "?" if unknown else ",".join(map(value, gpus))

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
        if isinstance(copies, Unknown):
            return "?"
        found = [_plain(one.version) for one in value_or(copies, ()) if one.family == family]
        return max(found, key=numbers, default="")

    return of


def _python(facts: Facts) -> str:
    python = value_or(facts.environment.python, None)
    return python.version if python else ""


NAMES: dict[str, Callable[[Facts], str]] = {
    "driver": lambda facts: _plain(facts.driver.module_version),
    "driver_cuda": lambda facts: _plain(facts.driver.driver_cuda),
    "gpus": _count,
    "gpu": _of_gpus(lambda gpu: gpu.name),
    "capability": _of_gpus(lambda gpu: _plain(gpu.capability)),
    "memory": _of_gpus(lambda gpu: _memory(gpu.memory_total)),
    "memory_free": _of_gpus(lambda gpu: _memory(gpu.memory_free)),
    "cuda": _library("cudart"),
    "cudnn": _library("cudnn"),
    "python": _python,
}
FRAMEWORKS = ("tensorflow", "torch", "jax", "onnxruntime", "cupy")


def queried(seen: Seen, names: Sequence[str]) -> str:
    """The lines; raises UsageError for a name that nobody knows."""
    return "".join(f"{_value(seen, name.strip())}\n" for name in names)


def _value(seen: Seen, name: str) -> str:
    facts, (framework, _, part) = seen.facts, name.partition(".")
    if name in ("status", "cause"):
        first = seen.report.causes[0].id if seen.report.causes else ""
        return seen.report.status if name == "status" else first
    if name in NAMES:
        return NAMES[name](facts)
    installed = facts.frameworks.installed
    found = next((one for one in value_or(installed, ()) if one.name == framework), None)
    if part not in ("", "cuda", "cudnn") or not (found or framework in FRAMEWORKS):
        known = ", ".join((*NAMES, "status", "cause", *FRAMEWORKS, "torch.cuda", "torch.cudnn"))
        raise UsageError(f"--query {name}: the names are {known}")
    if found is None:
        return "?" if isinstance(installed, Unknown) else ""
    built = {"cuda": found.built_for_cuda, "cudnn": found.built_for_cudnn}
    return _plain(built[part]) if part else found.version
