"""Facts of one machine as plain values that nodes are compared by; None is "not seen"."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from gpuwhy.facts.devices import Devices, Ecc, Fabric, Gpu, Mig
from gpuwhy.facts.driver import DeviceNode, Driver
from gpuwhy.facts.fact import Absent, Fact, Known, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.loads import DriverLibrary, Loads
from gpuwhy.facts.system import KernelLine, Memory, System
from gpuwhy.fleet.answer import Value
from gpuwhy.fleet.tables import expression

T = TypeVar("T")

NONE = "none"
"""Looked for, and not there."""
GIB, MIB = 1 << 30, 1 << 20
_PACKAGES = expression("packages")
_OWN = expression("own_variables")
"""Variables that are meant to differ from node to node, or that say nothing of the GPU."""
_UUID = re.compile(r"\b((?:MIG-)?(?:GPU-)?)[0-9a-f]{8}(?:-[0-9a-f]{4,12})*\b")
"""GPUs by their own names: each node has others."""
_STEM = re.compile(r"(?:lib)?([A-Za-z][A-Za-z_]*?)(?:64_\d+|\.so|[-_.\d].*|$)")
_SLOWED = {"hw_slowdown", "hw_thermal", "hw_power_brake", "sw_thermal"}
"""Reasons that are nobody's wish; a power cap under load is usual."""


def of_machine(facts: Facts) -> dict[str, Value]:
    """Everything of one machine that is compared."""
    return {
        **_system(facts.system),
        **_driver(facts.driver, facts.loads),
        **_devices(facts.devices, facts.system),
        **_libraries(facts.loads),
        **_environment(facts),
        **_variables(facts),
        "toolkit.cuda": _toolkit(facts),
    }


def families(facts: Facts) -> list[str]:
    """The families of facts that were seen whole: what is not among them is not there."""
    whole: dict[str, Fact[Any]] = {
        "env": facts.variables.variables,
        "package": facts.environment.packages,
        "framework": facts.frameworks.installed,
        "lib": facts.loads.trees,
        "missing": facts.loads.trees,
    }
    return sorted(name for name, fact in whole.items() if not isinstance(fact, Unknown))


def told(fact: Fact[T], show: Callable[[T], Value] = str) -> Value:
    """One fact as a value."""
    if isinstance(fact, Known):
        return show(fact.value)
    return NONE if isinstance(fact, Absent) else None


def _system(seen: System) -> dict[str, Value]:
    return {
        "host.system": told(seen.os),
        "host.distribution": told(seen.distro, lambda one: one.title),
        "host.kernel": told(seen.kernel),
        "host.machine": told(seen.machine),
        "host.libc": told(seen.libc, lambda one: f"{one.name} {one.version}".rstrip()),
        "host.container": told(seen.container),
        "host.shm": told(seen.shm, lambda one: one.total // MIB),
        "host.memory": told(seen.memory, lambda one: round(one.total / GIB, 1)),
        "host.memory_limit": told(seen.memory, _memory_limit),
        "limits.open_files": told(seen.open_files_limit, int),
        "limits.address_space": told(seen.address_space_limit, int),
        "limits.tasks": -1 if isinstance(seen.tasks, Absent) else told(seen.tasks, _tasks),
    }


def _tasks(tasks: Any) -> Value:
    limit: int = tasks.limit
    return limit


def _memory_limit(memory: Memory) -> Value:
    limit = memory.limit
    return -1 if isinstance(limit, Absent) else told(limit, lambda one: round(one / GIB, 1))


def _driver(driver: Driver, loads: Loads) -> dict[str, Value]:
    return {
        "driver.version": told(driver.module_version),
        "driver.cuda": told(driver.driver_cuda),
        "driver.peermem": told(driver.modules, _peermem),
        "driver.fabricmanager": told(
            driver.fabricmanager, lambda on: "running" if on else "stopped"
        ),
        "driver.refused": told(driver.nodes, lambda nodes: sum(map(_refused, nodes))),
        "driver.library": told(loads.libcuda, _first_library),
    }


def _peermem(modules: tuple[str, ...]) -> Value:
    return "loaded" if "nvidia_peermem" in modules else "not loaded"


def _refused(node: DeviceNode) -> bool:
    return node.required and (not node.present or told(node.opened) not in ("ok", None, NONE))


def _first_library(copies: tuple[DriverLibrary, ...]) -> Value:
    if not copies:
        return NONE
    version = told(copies[0].version)
    return f"{copies[0].kind} {version}" if version not in (None, NONE) else copies[0].kind


def _devices(devices: Devices, seen: System) -> dict[str, Value]:
    out: dict[str, Value] = {
        "gpu.count": told(devices.gpus, len),
        "gpu.names": told(devices.gpus, lambda all_: _counted(one.name for one in all_)),
        "gpu.lost": told(
            devices.gpus, lambda all_: sum(isinstance(one.error, Known) for one in all_)
        ),
        "gpu.xids": told(seen.kernel_log, _xids),
    }
    gpus = value_or(devices.gpus, ())
    return {**out, **_of_gpus(gpus)} if gpus else out


def _xids(lines: Iterable[KernelLine]) -> Value:
    return ", ".join(map(str, sorted({line.xid for line in lines if line.xid is not None}))) or NONE


def _of_gpus(gpus: tuple[Gpu, ...]) -> dict[str, Value]:
    return {
        "gpu.mig": _all(gpus, lambda gpu: told(gpu.mig, _mig)),
        "gpu.compute_mode": _all(gpus, lambda gpu: told(gpu.compute_mode)),
        "gpu.fabric": _all(gpus, lambda gpu: told(gpu.fabric, _fabric)),
        "gpu.throttle": _all(gpus, lambda gpu: told(gpu.throttle, _slowed)),
        "gpu.memory": _least(
            gpus, lambda gpu: told(gpu.memory_total, lambda size: round(size / GIB, 1))
        ),
        "gpu.ecc_uncorrected": _sum(gpus, lambda gpu: told(gpu.ecc, lambda ecc: ecc.uncorrected)),
        "gpu.reset_due": _sum(gpus, lambda gpu: told(gpu.ecc, _reset_due)),
        "gpu.held": _sum(gpus, _held),
    }


def _reset_due(ecc: Ecc) -> int:
    return int(ecc.pending or ecc.remap_failed)


def _mig(mig: Mig) -> str:
    return f"on, {len(mig.instances)} instances" if mig.current else "off"


def _fabric(fabric: Fabric) -> str:
    return f"{fabric.state}: {fabric.error}" if fabric.error else fabric.state


def _slowed(reasons: Iterable[str]) -> str:
    return ", ".join(sorted(_SLOWED.intersection(reasons))) or NONE


def _held(gpu: Gpu) -> Value:
    """1 where more than a tenth of a GPU's memory is taken."""
    if not (isinstance(gpu.memory_total, Known) and isinstance(gpu.memory_free, Known)):
        return None
    return int(gpu.memory_free.value < gpu.memory_total.value * 0.9)


def _all(gpus: tuple[Gpu, ...], of: Callable[[Gpu], Value]) -> Value:
    """The value of all GPUs, or how many have which."""
    values = [value for value in map(of, gpus) if value is not None]
    if not values:
        return None
    return values[0] if len(set(values)) == 1 else _counted(map(str, values))


def _counted(values: Iterable[str]) -> str:
    count = Counter(values)
    return ", ".join(f"{times} × {value}" for value, times in sorted(count.items())) or NONE


def _numbers(gpus: tuple[Gpu, ...], of: Callable[[Gpu], Value]) -> list[float | int]:
    return [value for value in map(of, gpus) if isinstance(value, (int, float))]


def _least(gpus: tuple[Gpu, ...], of: Callable[[Gpu], Value]) -> Value:
    return min(_numbers(gpus, of), default=None)


def _sum(gpus: tuple[Gpu, ...], of: Callable[[Gpu], Value]) -> Value:
    numbers = _numbers(gpus, of)
    return sum(numbers) if numbers else None


def _libraries(loads: Loads) -> dict[str, Value]:
    """What every framework would load, by library; and what it would not find."""
    out: dict[str, Value] = {}
    for tree in value_or(loads.trees, ()):
        for library in tree.libraries:
            version = told(library.version)
            name = f"lib.{_stem(library.name)}"
            if isinstance(version, str) and version != NONE:
                out[name] = _joined(out.get(name), version)
        for missing in tree.missing:
            out[f"missing.{missing.name}"] = "not found"
    return out


def _stem(name: str) -> str:
    found = _STEM.match(name)
    return found[1] if found else name


def _joined(before: Value, version: str) -> str:
    return ", ".join(sorted({*str(before).split(", "), version})) if before else version


def _environment(facts: Facts) -> dict[str, Value]:
    seen = facts.environment
    out: dict[str, Value] = {"python.version": told(seen.python, lambda one: one.version)}
    if isinstance(seen.packages, Known):
        packages = sorted(f"{one.name}=={one.version}" for one in seen.by_name.values())
        digest = hashlib.sha256("\n".join(packages).encode("utf-8", "replace")).hexdigest()[:8]
        out["python.packages"] = f"{len(packages)} packages ({digest})"
        for one in seen.by_name.values():
            if _PACKAGES.match(one.name):
                out[f"package.{one.name}"] = one.version
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
    toolkits = facts.libraries.toolkits
    for one in value_or(toolkits, ()):
        if on_path.value.startswith(one.path):
            return told(one.toolkit_cuda)
    return "elsewhere"
