"""Facts of one machine as plain values that nodes are compared by; None is "not seen"."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any

from gpuwhy.facts.fact import Absent, Fact, Known, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.fleet.answer import NONE, Value, expression, table
from gpuwhy.machine.machine import Machine

GIB, MIB = 1 << 30, 1 << 20
IB, NET = "/sys/class/infiniband", "/sys/class/net"
MOST = 64
_UUID = re.compile(r"\b((?:MIG-)?(?:GPU-)?)[0-9a-f]{8}(?:-[0-9a-f]{4,12})*\b")
"""GPUs by their own names: each node has others."""
_STEM = re.compile(r"(?:lib)?([A-Za-z][A-Za-z_]*?)(?:64_\d+|\.so|[-_.\d].*|$)")
_PLUGIN = re.compile(r"libnccl-(?:net|tuner|profiler|env)[\w.-]*\.so")
_SLOWED = {"hw_slowdown", "hw_thermal", "hw_power_brake", "sw_thermal"}
"""Reasons that are nobody's wish; a power cap under load is usual."""
Show = Callable[[Any], Value]


def compared(machine: Machine, facts: Facts) -> dict[str, Value]:
    """Everything of one machine that is compared."""
    alone = {name: told(attrgetter(path)(facts), show) for name, path, show in _FACTS}
    if isinstance(facts.system.tasks, Absent):
        alone["limits.tasks"] = -1
    return {
        **alone,
        **_of_gpus(facts),
        **_software(facts),
        **_network(machine),
        **_worst_gpu(machine),
        "limits.locked_memory": told(machine.limit("MEMLOCK"), int),
    }


def families(facts: Facts) -> list[str]:
    """The families of facts that were seen whole: what is not among them is not there."""
    seen = ((name, attrgetter(path)(facts)) for name, path in table("families").items())
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


def _counted(values: Iterable[object]) -> str:
    count = sorted(Counter(map(str, values)).items())
    return ", ".join(f"{times} × {value}" for value, times in count) or NONE


def _refused(nodes: Any) -> Value:
    required = (node for node in nodes if node.required)
    return sum(not one.present or told(one.opened) not in ("ok", None, NONE) for one in required)


def _peermem(modules: Any) -> Value:
    return "loaded" if "nvidia_peermem" in modules else "not loaded"


def _limit(memory: Any) -> Value:
    return -1 if isinstance(memory.limit, Absent) else told(memory.limit, _gib)


def _first_library(copies: Any) -> Value:
    return f"{copies[0].kind} {value_or(copies[0].version, '')}".rstrip() if copies else NONE


_FACTS: tuple[tuple[str, str, Show], ...] = (
    ("host.system", "system.os", str),
    ("host.distribution", "system.distro", attrgetter("title")),
    ("host.kernel", "system.kernel", str),
    ("host.machine", "system.machine", str),
    ("host.libc", "system.libc", lambda libc: f"{libc.name} {libc.version}".rstrip()),
    ("host.container", "system.container", str),
    ("host.shm", "system.shm", lambda space: space.total // MIB),
    ("host.memory", "system.memory", lambda memory: _gib(memory.total)),
    ("host.memory_limit", "system.memory", _limit),
    ("limits.open_files", "system.open_files_limit", int),
    ("limits.address_space", "system.address_space_limit", int),
    ("limits.tasks", "system.tasks", int),
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
    return values[0] if len(set(values)) == 1 else _counted(values)


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


def _worst_gpu(machine: Machine) -> dict[str, Value]:
    """Links, clocks, power limits and ECC of the worst GPU, where NVML tells them."""
    said = machine.call("nvml", "all")
    if not isinstance(said, Known):
        said = machine.call("nvml")  # a recording of version 0 holds all answers there
    lines = [one for one in value_or(said, ()) if isinstance(one.get("gpu"), int)]
    if not lines:
        return {}
    modes = [mode for one in lines if isinstance(mode := one.get("ecc_mode"), str)]
    out = {"gpu.nvlink": _worst(lines, "nvlink"), "gpu.ecc_mode": _listed(modes) if modes else None}
    for fact, (query, field) in table("worst").items():
        out[fact] = _worst([line.get(query) for line in lines], field)
    return out


def _worst(answers: Iterable[Any], field: str) -> Value:
    values = (answer.get(field) for answer in answers if isinstance(answer, dict))
    return min((value for value in values if isinstance(value, (int, float))), default=None)


# Software


def _software(facts: Facts) -> dict[str, Value]:
    """Libraries that would be loaded and those not found, packages, frameworks, variables."""
    out: dict[str, Value] = {}
    versions: dict[str, set[str]] = {}
    for tree in value_or(facts.loads.trees, ()):
        for library in tree.libraries:
            if isinstance(library.version, Known):
                found = _STEM.match(library.name)
                name = f"lib.{found[1] if found else library.name}"
                versions.setdefault(name, set()).add(library.version.value)
        out |= {f"missing.{one.name}": "not found" for one in tree.missing}
    out |= {name: _listed(some) for name, some in versions.items()}
    if isinstance(facts.environment.packages, Known):
        installed = {one.name: one.version for one in facts.environment.by_name.values()}
        rows = "\n".join(sorted(f"{name}=={version}" for name, version in installed.items()))
        digest = hashlib.sha256(rows.encode("utf-8", "replace")).hexdigest()[:8]
        out["python.packages"] = f"{len(installed)} packages ({digest})"
        kept = expression("packages")
        out |= {f"package.{name}": v for name, v in installed.items() if kept.match(name)}
    for framework in value_or(facts.frameworks.installed, ()):
        cuda = told(framework.built_for_cuda)
        built = "" if cuda is None else " without CUDA" if cuda == NONE else f" for CUDA {cuda}"
        out[f"framework.{framework.name}"] = f"{framework.version}{built}"
    for variable in value_or(facts.variables.variables, ()):
        if not expression("own_variables").fullmatch(variable.name):
            out[f"env.{variable.name}"] = _UUID.sub(r"\1…", variable.value)
    return out


# Network


def _network(machine: Machine) -> dict[str, Value]:
    """InfiniBand and RoCE ports, the interfaces that a job could use, what NCCL would load."""

    def text(path: str) -> str:
        return value_or(machine.read(path), "").strip()

    def names(folder: str) -> list[str]:
        return [one.name for one in value_or(machine.list(folder), ())][:MOST]

    devices, interfaces = machine.list(IB), machine.list(NET)
    out: dict[str, Value] = {"net.ib_devices": 0 if isinstance(devices, Absent) else None}
    if isinstance(devices, Known):
        folders = [f"{IB}/{name}/ports" for name in names(IB)]
        ports = [f"{folder}/{port}" for folder in folders for port in names(folder)]
        active = [port for port in ports if "ACTIVE" in text(f"{port}/state")]
        rates = (re.match(r"\d{1,9}(?:\.\d{1,4})?", text(f"{port}/rate")) for port in active)
        layers = filter(None, (text(f"{port}/link_layer") for port in ports))
        out = {
            "net.ib_devices": len(folders),
            "net.ib_active": len(active),
            "net.ib_layer": ", ".join(sorted(set(layers))) or None,
            "net.ib_rate": min((float(rate[0]) for rate in rates if rate), default=None),
        }
    usable = [name for name in names(NET) if not expression("virtual").match(name)]
    up = [one for one in usable if text(f"{NET}/{one}/operstate") in ("up", "unknown")]
    mtus = [text(f"{NET}/{name}/mtu") or NONE for name in up]
    seen = isinstance(interfaces, Known)
    plugins = (one.name for one in value_or(machine.ldcache(), ()) if _PLUGIN.fullmatch(one.name))
    config = machine.lines("/etc/nccl.conf", "NCCL_")
    return {
        **out,
        "net.interfaces": _listed(up) if seen else None,
        **({"net.mtu": _listed(mtus)} if seen else {}),
        "nccl.plugins": _listed(plugins) if isinstance(machine.ldcache(), Known) else None,
        "nccl.config": told(config, lambda rows: "; ".join(sorted(map(str.strip, rows))) or NONE),
    }
