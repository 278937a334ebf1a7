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
from gpuwhy.fleet.answer import NONE, Value, expression
from gpuwhy.machine.machine import Machine

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


IB, NET = "/sys/class/infiniband", "/sys/class/net"
MOST = 64
_VIRTUAL = expression("virtual")
_PLUGIN = re.compile(r"libnccl-(?:net|tuner|profiler|env)[\w.-]*\.so")
_WORST = (
    ("gpu.pcie_width", "pcie", "width"),
    ("gpu.pcie_generation", "pcie", "max_generation"),
    ("gpu.clock_max", "clocks", "max"),
    ("gpu.clock_limit", "clocks", "limit"),
    ("gpu.power_limit", "power", "limit"),
)
"""Facts of the worst GPU: NVML's answer, and the field in it."""


def at_machine(machine: Machine) -> dict[str, Value]:
    """Everything of this kind; None where it could not be seen."""
    second = machine.exists("/sys/fs/cgroup/cgroup.controllers")
    return {
        **_adapters(machine),
        **_interfaces(machine),
        **_nccl(machine),
        **_gpus(machine),
        "host.cpus": told(machine.lines("/proc/self/status", "Cpus_allowed_list:"), _cpus),
        "host.governor": _text(machine, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "host.cgroup": told(second, lambda there: "2" if there else "1"),
        "host.cpu_quota": _quota(_text(machine, "/sys/fs/cgroup/cpu.max") or ""),
        "limits.locked_memory": told(machine.limit("MEMLOCK"), int),
        "driver.flavour": told(machine.read("/proc/driver/nvidia/version"), _flavour),
    }


def _flavour(text: str) -> Value:
    if "Kernel Module" not in text:
        return None
    return "open" if "Open Kernel Module" in text else "proprietary"


def _cpus(lines: tuple[str, ...]) -> Value:
    """How many CPUs "0-31,64-95" names."""
    text = lines[0].partition(":")[2] if lines else ""
    spans = re.findall(r"(\d{1,6})(?:-(\d{1,6}))?", text)
    return sum(int(last or first) - int(first) + 1 for first, last in spans) or None


def _quota(text: str) -> Value:
    """CPUs by quota and period of cpu.max; -1 = no limit."""
    found = re.fullmatch(r"(max|\d{1,12}) (\d{1,12})", text)
    if not found:
        return None
    if found[1] == "max" or found[2] == "0":
        return -1
    return round(int(found[1]) / int(found[2]), 2)


def _text(machine: Machine, path: str) -> str | None:
    said = machine.read(path)
    return said.value.strip() if isinstance(said, Known) else None


def _texts(machine: Machine, paths: Iterable[str]) -> list[str]:
    return [text for path in paths if (text := _text(machine, path))]


def _names(machine: Machine, folder: str) -> list[str]:
    return [one.name for one in value_or(machine.list(folder), ())][:MOST]


def _set(values: Iterable[str]) -> Value:
    return ", ".join(sorted(set(values))) or None


def _least(values: Iterable[str]) -> Value:
    found = (re.match(r"\d{1,9}(?:\.\d{1,4})?", value) for value in values)
    return min((float(one[0]) for one in found if one), default=None)


def _adapters(machine: Machine) -> dict[str, Value]:
    """InfiniBand and RoCE: devices, ports that are up, rate, firmware, their PCIe lanes."""
    there = machine.list(IB)
    if not isinstance(there, Known):
        return {"net.ib_devices": 0 if isinstance(there, Absent) else None}
    devices = [f"{IB}/{name}" for name in _names(machine, IB)]
    ports = [f"{one}/ports/{port}" for one in devices for port in _names(machine, f"{one}/ports")]
    active = [port for port in ports if "ACTIVE" in (_text(machine, f"{port}/state") or "")]
    lanes = _texts(machine, (f"{one}/device/current_link_width" for one in devices))
    return {
        "net.ib_devices": len(devices),
        "net.ib_active": len(active),
        "net.ib_layer": _set(_texts(machine, (f"{port}/link_layer" for port in ports))),
        "net.ib_rate": _least(_texts(machine, (f"{port}/rate" for port in active))),
        "net.ib_firmware": _set(_texts(machine, (f"{one}/fw_ver" for one in devices))),
        "net.ib_pcie_width": _least(lanes),
    }


def _interfaces(machine: Machine) -> dict[str, Value]:
    """The interfaces that a job could use, and how large a packet may be on them."""
    if not isinstance(machine.list(NET), Known):
        return {"net.interfaces": None}
    usable = [name for name in _names(machine, NET) if not _VIRTUAL.match(name)]
    up = [one for one in usable if _text(machine, f"{NET}/{one}/operstate") in ("up", "unknown")]
    return {
        "net.interfaces": _set(up) or NONE,
        "net.mtu": _set(_text(machine, f"{NET}/{name}/mtu") or NONE for name in up) or NONE,
    }


def _nccl(machine: Machine) -> dict[str, Value]:
    """Network plugins of NCCL that the loader's cache knows, and NCCL's configuration file."""
    cache, config = machine.ldcache(), machine.lines("/etc/nccl.conf", "NCCL_")
    plugins = (one.name for one in value_or(cache, ()) if _PLUGIN.fullmatch(one.name))
    return {
        "nccl.plugins": (_set(plugins) or NONE) if isinstance(cache, Known) else None,
        "nccl.config": told(config, lambda rows: "; ".join(sorted(map(str.strip, rows))) or NONE),
    }


def _gpus(machine: Machine) -> dict[str, Value]:
    """Links, clocks, power limits and ECC of the worst GPU, where NVML tells them."""
    said = machine.call("nvml", "all")
    if not isinstance(said, Known):
        said = machine.call("nvml")  # a recording of version 0 holds all answers there
    lines = [one for one in value_or(said, ()) if isinstance(one.get("gpu"), int)]
    if not lines:
        return {}
    rows = [one["rows"] for one in lines if "rows" in one]
    modes = (one.get("ecc_mode") for one in lines)
    worst = {
        fact: min(_numbers([line.get(query) for line in lines], field), default=None)
        for fact, query, field in _WORST
    }
    return {
        **worst,
        "gpu.nvlink": min(_numbers(lines, "nvlink"), default=None),
        "gpu.ecc_retired": sum(_numbers(rows, "remapped")) if rows else None,
        "gpu.ecc_mode": _set(mode for mode in modes if isinstance(mode, str)),
    }


def _numbers(answers: Iterable[Any], field: str) -> list[int | float]:
    values = (answer.get(field) for answer in answers if isinstance(answer, dict))
    return [value for value in values if isinstance(value, (int, float))]
