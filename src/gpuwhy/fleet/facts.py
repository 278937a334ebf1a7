"""Facts of one machine as plain values that nodes are compared by; None is "not seen"."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any

from gpuwhy.facts.driver import DeviceNode
from gpuwhy.facts.fact import Absent, Fact, Known, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.loads import DriverLibrary
from gpuwhy.facts.system import Memory
from gpuwhy.fleet.answer import NONE, Value
from gpuwhy.fleet.kinds import expression

GIB, MIB = 1 << 30, 1 << 20
_PACKAGES = expression("packages")
_OWN = expression("own_variables")
"""Variables that are meant to differ from node to node, or that say nothing of the GPU."""
_UUID = re.compile(r"\b((?:MIG-)?(?:GPU-)?)[0-9a-f]{8}(?:-[0-9a-f]{4,12})*\b")
"""GPUs by their own names: each node has others."""
_STEM = re.compile(r"(?:lib)?([A-Za-z][A-Za-z_]*?)(?:64_\d+|\.so|[-_.\d].*|$)")
_SLOWED = {"hw_slowdown", "hw_thermal", "hw_power_brake", "sw_thermal"}
"""Reasons that are nobody's wish; a power cap under load is usual."""
_FAMILIES = {
    "env": "variables.variables",
    "package": "environment.packages",
    "framework": "frameworks.installed",
    "lib": "loads.trees",
    "missing": "loads.trees",
}

Show = Callable[[Any], Value]


def of_machine(facts: Facts) -> dict[str, Value]:
    """Everything of one machine that is compared."""
    alone = {name: told(attrgetter(path)(facts), show) for name, path, show in _FACTS}
    if isinstance(facts.system.tasks, Absent):
        alone["limits.tasks"] = -1
    return {
        **alone,
        **_of_gpus(facts),
        **_libraries(facts),
        **_environment(facts),
        **_variables(facts),
        "toolkit.cuda": _toolkit(facts),
    }


def families(facts: Facts) -> list[str]:
    """The families of facts that were seen whole: what is not among them is not there."""
    seen = ((name, attrgetter(path)(facts)) for name, path in _FAMILIES.items())
    return sorted(name for name, fact in seen if not isinstance(fact, Unknown))


def told(fact: Fact[Any], show: Show = str) -> Value:
    """One fact as a value."""
    if isinstance(fact, Known):
        return show(fact.value)
    return NONE if isinstance(fact, Absent) else None


def _gib(count: int) -> Value:
    return round(count / GIB, 1)


def _listed(values: Iterable[Any]) -> str:
    return ", ".join(map(str, sorted(set(values)))) or NONE


def _counted(values: Iterable[str]) -> str:
    count = sorted(Counter(values).items())
    return ", ".join(f"{times} × {value}" for value, times in count) or NONE


def _memory_limit(memory: Memory) -> Value:
    return -1 if isinstance(memory.limit, Absent) else told(memory.limit, _gib)


def _refused(nodes: tuple[DeviceNode, ...]) -> Value:
    required = (node for node in nodes if node.required)
    return sum(not one.present or told(one.opened) not in ("ok", None, NONE) for one in required)


def _peermem(modules: tuple[str, ...]) -> Value:
    return "loaded" if "nvidia_peermem" in modules else "not loaded"


def _first_library(copies: tuple[DriverLibrary, ...]) -> Value:
    if not copies:
        return NONE
    return f"{copies[0].kind} {value_or(copies[0].version, '')}".rstrip()


_FACTS: tuple[tuple[str, str, Show], ...] = (
    ("host.system", "system.os", str),
    ("host.distribution", "system.distro", attrgetter("title")),
    ("host.kernel", "system.kernel", str),
    ("host.machine", "system.machine", str),
    ("host.libc", "system.libc", lambda libc: f"{libc.name} {libc.version}".rstrip()),
    ("host.container", "system.container", str),
    ("host.shm", "system.shm", lambda space: space.total // MIB),
    ("host.memory", "system.memory", lambda memory: _gib(memory.total)),
    ("host.memory_limit", "system.memory", _memory_limit),
    ("limits.open_files", "system.open_files_limit", int),
    ("limits.address_space", "system.address_space_limit", int),
    ("limits.tasks", "system.tasks", attrgetter("limit")),
    ("driver.version", "driver.module_version", str),
    ("driver.cuda", "driver.driver_cuda", str),
    ("driver.peermem", "driver.modules", _peermem),
    ("driver.fabricmanager", "driver.fabricmanager", lambda on: "running" if on else "stopped"),
    ("driver.refused", "driver.nodes", _refused),
    ("driver.library", "loads.libcuda", _first_library),
    ("gpu.count", "devices.gpus", len),
    ("gpu.xids", "system.kernel_log", lambda log: _listed(o.xid for o in log if o.xid is not None)),
    ("python.version", "environment.python", attrgetter("version")),
)
"""A fact's name, where it stands in the facts of the machine, and its value."""


# GPUs


def _all(values: list[Any]) -> Value:
    """The value of all GPUs, or how many have which."""
    return values[0] if len(set(values)) == 1 else _counted(map(str, values))


_OF_GPUS: tuple[tuple[str, str, Show, Callable[[list[Any]], Value]], ...] = (
    ("gpu.mig", "mig", lambda o: f"on, {len(o.instances)} instances" if o.current else "off", _all),
    ("gpu.compute_mode", "compute_mode", str, _all),
    ("gpu.fabric", "fabric", lambda o: f"{o.state}: {o.error}" if o.error else o.state, _all),
    ("gpu.throttle", "throttle", lambda reasons: _listed(_SLOWED.intersection(reasons)), _all),
    ("gpu.memory", "memory_total", _gib, min),
    ("gpu.ecc_uncorrected", "ecc", attrgetter("uncorrected"), sum),
    ("gpu.reset_due", "ecc", lambda ecc: int(ecc.pending or ecc.remap_failed), sum),
)
"""A fact's name, its field, its value of one GPU, and what counts of several."""


def _of_gpus(facts: Facts) -> dict[str, Value]:
    gpus = value_or(facts.devices.gpus, None)
    if gpus is None:
        missing = told(facts.devices.gpus)
        return {"gpu.names": missing, "gpu.lost": missing}
    out: dict[str, Value] = {
        "gpu.names": _counted(gpu.name for gpu in gpus),
        "gpu.lost": sum(isinstance(gpu.error, Known) for gpu in gpus),
    }
    for name, field, show, of_all in _OF_GPUS if gpus else ():
        values = [told(getattr(gpu, field), show) for gpu in gpus]
        numeric = of_all is not _all
        seen = [v for v in values if v is not None and not (numeric and isinstance(v, str))]
        out[name] = of_all(seen) if seen else None
    sizes = [(value_or(one.memory_free, None), value_or(one.memory_total, None)) for one in gpus]
    held = [free < total * 0.9 for free, total in sizes if free is not None and total is not None]
    return {**out, "gpu.held": sum(held)} if held else out


# Software


def _libraries(facts: Facts) -> dict[str, Value]:
    """What every framework would load, by library; and what it would not find."""
    versions: dict[str, set[str]] = {}
    missing: dict[str, Value] = {}
    for tree in value_or(facts.loads.trees, ()):
        for library in tree.libraries:
            if isinstance(library.version, Known):
                found = _STEM.match(library.name)
                name = f"lib.{found[1] if found else library.name}"
                versions.setdefault(name, set()).add(library.version.value)
        missing.update({f"missing.{one.name}": "not found" for one in tree.missing})
    return {**{name: ", ".join(sorted(some)) for name, some in versions.items()}, **missing}


def _environment(facts: Facts) -> dict[str, Value]:
    out: dict[str, Value] = {}
    if isinstance(facts.environment.packages, Known):
        installed = {one.name: one.version for one in facts.environment.by_name.values()}
        rows = "\n".join(sorted(f"{name}=={version}" for name, version in installed.items()))
        digest = hashlib.sha256(rows.encode("utf-8", "replace")).hexdigest()[:8]
        out["python.packages"] = f"{len(installed)} packages ({digest})"
        out |= {f"package.{name}": v for name, v in installed.items() if _PACKAGES.match(name)}
    for framework in value_or(facts.frameworks.installed, ()):
        cuda = told(framework.built_for_cuda)
        built = "" if cuda is None else " without CUDA" if cuda == NONE else f" for CUDA {cuda}"
        out[f"framework.{framework.name}"] = f"{framework.version}{built}"
    return out


def _variables(facts: Facts) -> dict[str, Value]:
    return {
        f"env.{one.name}": _UUID.sub(r"\1…", one.value)
        for one in value_or(facts.variables.variables, ())
        if not _OWN.fullmatch(one.name)
    }


def _toolkit(facts: Facts) -> Value:
    """The release of the toolkit whose nvcc is found first."""
    on_path = facts.libraries.nvcc_on_path
    if not isinstance(on_path, Known):
        return told(on_path)
    for one in value_or(facts.libraries.toolkits, ()):
        if on_path.value.startswith(one.path):
            return told(one.toolkit_cuda)
    return "elsewhere"
