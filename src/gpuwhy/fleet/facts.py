"""Facts of one machine as plain values that nodes can be compared by; what was not seen is None, never a value."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from gpuwhy.model.fact import Absent, Fact, Known, Unknown, value_or
from gpuwhy.model.facts import Device, Devices, Driver, Facts, Loads, Surroundings, Target
from gpuwhy.model.fleet import Value

NONE = "none"
"""Looked for, and not there."""
GIB, MIB = 1 << 30, 1 << 20
_PACKAGES = re.compile(
    r"(nvidia-|torch|tensorflow|jax|cupy|onnxruntime|triton|deepspeed|accelerate|transformers?|transformer-engine"
    r"|flash-attn|xformers|bitsandbytes|apex|megatron|lightning|pytorch-|ray|vllm|numpy|horovod|mpi4py)"
)
_OWN = re.compile(
    r"(.*_)?(RANK|PROCID|LOCALID|NODEID|NODENAME|HOSTNAME|TASK_PID|LOCAL_RANK|NODE_RANK|JOBID|JOB_ID|STEPID|PORT|GTIDS)"
    r"|NCCL_HOSTID|PMI_FD|OMPI_.*|PMIX_.*|PATH"
)
"""Variables that are meant to differ from node to node, or that say nothing of the GPU."""
_UUID = re.compile(r"\b((?:MIG-)?(?:GPU-)?)[0-9a-f]{8}(?:-[0-9a-f]{4,12})*\b")
"""GPUs by their own names: each node has others."""
_STEM = re.compile(r"(?:lib)?([A-Za-z][A-Za-z_]*?)(?:64_\d+|\.so|[-_.\d].*|$)")
_SLOWED = {"hw_slowdown", "hw_thermal", "hw_power_brake", "sw_thermal"}
"""Reasons that are nobody's wish; a power cap under load is usual."""


def of_machine(facts: Facts) -> dict[str, Value]:
    """Everything of one machine that is compared."""
    return {
        **_surroundings(facts.surroundings),
        **_driver(facts.driver, facts.loads),
        **_devices(facts.devices, facts.surroundings),
        **_libraries(facts.loads),
        **_target(facts.target),
        **_variables(facts),
        "toolkit.cuda": _toolkit(facts),
    }


def families(facts: Facts) -> list[str]:
    """The kinds of facts with names of their own that were seen whole: what is not among them is not there."""
    whole = {
        "env": facts.environment.variables,
        "package": facts.target.distributions,
        "framework": facts.target.frameworks,
        "lib": facts.loads.trees,
        "missing": facts.loads.trees,
    }
    return sorted(name for name, fact in whole.items() if not isinstance(fact, Unknown))


def told(fact: Fact[Any], show: Callable[[Any], Value] = str) -> Value:
    """One fact as a value."""
    if isinstance(fact, Known):
        return show(fact.value)
    return NONE if isinstance(fact, Absent) else None


def _surroundings(seen: Surroundings) -> dict[str, Value]:
    return {
        "host.system": told(seen.system),
        "host.distribution": told(seen.distribution),
        "host.kernel": told(seen.kernel),
        "host.machine": told(seen.machine),
        "host.libc": told(seen.libc),
        "host.container": told(seen.container),
        "host.shm": told(seen.shm, lambda one: one.total // MIB),
        "host.memory": told(seen.memory, lambda one: round(one.total / GIB, 1)),
        "host.memory_limit": told(seen.memory, _memory_limit),
        "limits.open_files": told(seen.open_files_limit, int),
        "limits.locked_memory": told(seen.locked_memory_limit, int),
        "limits.address_space": told(seen.address_space_limit, int),
        "limits.tasks": -1 if isinstance(seen.tasks, Absent) else told(seen.tasks, lambda one: one.limit),
    }


def _memory_limit(memory: Any) -> Value:
    limit = memory.limit
    return -1 if isinstance(limit, Absent) else told(limit, lambda one: round(one / GIB, 1))


def _driver(driver: Driver, loads: Loads) -> dict[str, Value]:
    return {
        "driver.version": told(driver.module_version),
        "driver.flavour": told(driver.module_flavour),
        "driver.cuda": told(driver.driver_cuda),
        "driver.peermem": told(driver.modules, lambda all_: "loaded" if "nvidia_peermem" in all_ else "not loaded"),
        "driver.fabricmanager": told(driver.fabricmanager),
        "driver.persistenced": told(driver.persistenced),
        "driver.refused": told(driver.nodes, lambda nodes: sum(map(_refused, nodes))),
        "driver.library": told(loads.libcuda, _first_library),
    }


def _refused(node: Any) -> bool:
    return bool(node.required) and (not node.present or told(node.opened) not in ("ok", None, NONE))


def _first_library(copies: tuple[Any, ...]) -> Value:
    if not copies:
        return NONE
    version = told(copies[0].version)
    return f"{copies[0].kind} {version}" if version not in (None, NONE) else copies[0].kind


def _devices(devices: Devices, seen: Surroundings) -> dict[str, Value]:
    out: dict[str, Value] = {
        "gpu.count": told(devices.devices, len),
        "gpu.names": told(devices.devices, lambda all_: _counted(one.name for one in all_)),
        "gpu.lost": told(devices.devices, lambda all_: sum(isinstance(one.error, Known) for one in all_)),
        "gpu.xids": told(seen.kernel_log, _xids),
    }
    if isinstance(devices.devices, Known) and devices.devices.value:
        out.update(_of_gpus(devices.devices.value))
    return out


def _xids(lines: Iterable[Any]) -> Value:
    return ", ".join(map(str, sorted({line.xid for line in lines if line.xid is not None}))) or NONE


def _of_gpus(gpus: tuple[Device, ...]) -> dict[str, Value]:
    return {
        "gpu.mig": _all(gpus, lambda gpu: told(gpu.mig, _mig)),
        "gpu.compute_mode": _all(gpus, lambda gpu: told(gpu.compute_mode)),
        "gpu.fabric": _all(gpus, lambda gpu: told(gpu.fabric)),
        "gpu.throttle": _all(gpus, lambda gpu: told(gpu.throttle, _slowed)),
        "gpu.nvlink": _least(gpus, lambda gpu: told(gpu.nvlink, int)),
        "gpu.pcie_width": _least(gpus, lambda gpu: told(gpu.pcie, lambda link: link.width)),
        "gpu.pcie_generation": _least(gpus, lambda gpu: told(gpu.pcie, lambda link: link.max_generation)),
        "gpu.memory": _least(gpus, lambda gpu: told(gpu.memory_total, lambda size: round(size / GIB, 1))),
        "gpu.ecc_uncorrected": _sum(gpus, lambda gpu: told(gpu.ecc, lambda ecc: ecc.uncorrected)),
        "gpu.ecc_retired": _sum(gpus, lambda gpu: told(gpu.ecc, lambda ecc: ecc.retired)),
        "gpu.reset_due": _sum(gpus, lambda gpu: told(gpu.ecc, lambda ecc: int(ecc.pending or ecc.remap_failed))),
        "gpu.held": _sum(gpus, _held),
    }


def _mig(mig: Any) -> str:
    return f"on, {len(mig.instances)} instances" if mig.current else "off"


def _slowed(reasons: Iterable[str]) -> str:
    return ", ".join(sorted(_SLOWED.intersection(reasons))) or NONE


def _held(gpu: Device) -> Value:
    """1 where more than a tenth of a GPU's memory is taken."""
    if not (isinstance(gpu.memory_total, Known) and isinstance(gpu.memory_free, Known)):
        return None
    return int(gpu.memory_free.value < gpu.memory_total.value * 0.9)


def _all(gpus: tuple[Device, ...], of: Callable[[Device], Value]) -> Value:
    """The value of all GPUs, or how many have which."""
    values = [value for value in map(of, gpus) if value is not None]
    if not values:
        return None
    return values[0] if len(set(values)) == 1 else _counted(map(str, values))


def _counted(values: Iterable[str]) -> str:
    count = Counter(values)
    return ", ".join(f"{times} × {value}" for value, times in sorted(count.items())) or NONE


def _numbers(gpus: tuple[Device, ...], of: Callable[[Device], Value]) -> list[float | int]:
    return [value for value in map(of, gpus) if isinstance(value, (int, float))]


def _least(gpus: tuple[Device, ...], of: Callable[[Device], Value]) -> Value:
    return min(_numbers(gpus, of), default=None)


def _sum(gpus: tuple[Device, ...], of: Callable[[Device], Value]) -> Value:
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


def _target(target: Target) -> dict[str, Value]:
    out: dict[str, Value] = {"python.version": told(target.interpreter, lambda one: one.version)}
    if isinstance(target.distributions, Known):
        packages = sorted({f"{one.name}=={one.version}" for one in target.distributions.value})
        digest = hashlib.sha256("\n".join(packages).encode("utf-8", "replace")).hexdigest()[:8]
        out["python.packages"] = f"{len(packages)} packages ({digest})"
        for one in target.distributions.value:
            if _PACKAGES.match(one.name):
                out[f"package.{one.name}"] = one.version
    for framework in value_or(target.frameworks, ()):
        cuda = told(framework.built_for_cuda)
        built = f" for CUDA {cuda}" if cuda not in (None, NONE) else " without CUDA" if cuda == NONE else ""
        out[f"framework.{framework.name}"] = f"{framework.version}{built}"
    return out


def _variables(facts: Facts) -> dict[str, Value]:
    variables = facts.environment.variables
    seen = value_or(variables, ())
    return {f"env.{one.name}": _UUID.sub(r"\1…", one.value) for one in seen if not _OWN.fullmatch(one.name)}


def _toolkit(facts: Facts) -> Value:
    """The release of the toolkit whose nvcc is found first."""
    on_path = facts.toolkits.nvcc_on_path
    if not isinstance(on_path, Known):
        return told(on_path)
    toolkits = facts.toolkits.toolkits
    for one in value_or(toolkits, ()):
        if on_path.value.startswith(one.path):
            return told(one.toolkit_cuda)
    return "elsewhere"
