"""Look: what only a comparison of nodes reads: adapters, NCCL's files, links, clocks, CPUs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from gpuwhy.facts.fact import Absent, Known, value_or
from gpuwhy.fleet.answer import Value
from gpuwhy.fleet.facts import NONE, told
from gpuwhy.machine.machine import Machine

IB, NET = "/sys/class/infiniband", "/sys/class/net"
DRIVER = "/proc/driver/nvidia/version"
CONFIG = "/etc/nccl.conf"
MOST = 64
_VIRTUAL = re.compile(
    r"lo$|docker|veth|br-|virbr|cni|flannel|cali|tun|tap|dummy|bonding_masters|ip6tnl|sit|gre"
    r"|erspan"
)
_PLUGIN = re.compile(r"libnccl-(?:net|tuner|profiler|env)[\w.-]*\.so")


def at_machine(machine: Machine) -> dict[str, Value]:
    """Everything of this kind; None where it could not be seen."""
    return {
        **_adapters(machine),
        **_interfaces(machine),
        **_nccl(machine),
        **_gpus(machine),
        **_cpus(machine),
        "limits.locked_memory": told(machine.limit("MEMLOCK"), int),
        "driver.flavour": told(machine.read(DRIVER), _flavour),
    }


def _flavour(text: str) -> Value:
    if "Kernel Module" not in text:
        return None
    return "open" if "Open Kernel Module" in text else "proprietary"


def _text(machine: Machine, path: str) -> str | None:
    said = machine.read(path)
    return said.value.strip() if isinstance(said, Known) else None


def _names(machine: Machine, folder: str) -> list[str]:
    return [one.name for one in value_or(machine.list(folder), ())][:MOST]


def _adapters(machine: Machine) -> dict[str, Value]:
    """InfiniBand and RoCE: devices, ports that are up, rate, firmware, their PCIe lanes."""
    there = machine.list(IB)
    if not isinstance(there, Known):
        return {"net.ib_devices": 0 if isinstance(there, Absent) else None}
    names = _names(machine, IB)
    ports = [f"{IB}/{n}/ports/{port}" for n in names for port in _names(machine, f"{IB}/{n}/ports")]
    active = [port for port in ports if "ACTIVE" in (_text(machine, f"{port}/state") or "")]

    def each(file: str) -> list[str | None]:
        return [_text(machine, f"{IB}/{name}/{file}") for name in names]

    return {
        "net.ib_devices": len(names),
        "net.ib_active": len(active),
        "net.ib_layer": _set(_text(machine, f"{port}/link_layer") for port in ports),
        "net.ib_rate": _least(_text(machine, f"{port}/rate") for port in active),
        "net.ib_firmware": _set(each("fw_ver")),
        "net.ib_pcie_width": _least(each("device/current_link_width")),
    }


def _set(values: Iterable[str | None]) -> Value:
    return ", ".join(sorted({value for value in values if value})) or None


def _least(values: Iterable[str | None]) -> Value:
    found = (re.match(r"\d{1,9}(?:\.\d{1,4})?", value) for value in values if value)
    return min((float(one[0]) for one in found if one), default=None)


def _interfaces(machine: Machine) -> dict[str, Value]:
    """The interfaces that a job could use, and how large a packet may be on them."""
    if not isinstance(machine.list(NET), Known):
        return {"net.interfaces": None}
    usable = [name for name in _names(machine, NET) if not _VIRTUAL.match(name)]
    up = [one for one in usable if _text(machine, f"{NET}/{one}/operstate") in ("up", "unknown")]
    return {
        "net.interfaces": ", ".join(sorted(up)) or NONE,
        "net.mtu": _set(_text(machine, f"{NET}/{name}/mtu") for name in up) or NONE,
    }


def _nccl(machine: Machine) -> dict[str, Value]:
    """Network plugins of NCCL that the loader's cache knows, and NCCL's configuration file."""
    cache = machine.ldcache()
    plugins = sorted({one.name for one in value_or(cache, ()) if _PLUGIN.fullmatch(one.name)})
    settings = machine.lines(CONFIG, "NCCL_")
    return {
        "nccl.plugins": (", ".join(plugins) or NONE) if isinstance(cache, Known) else None,
        "nccl.config": told(settings, lambda rows: "; ".join(sorted(map(str.strip, rows))) or NONE),
    }


def _gpus(machine: Machine) -> dict[str, Value]:
    """Links, clocks, power limits and ECC of the worst GPU, where NVML tells them."""
    said = machine.call("nvml", "all")
    if not isinstance(said, Known):
        said = machine.call("nvml")  # a recording of version 0 holds all answers there
    lines = [one for one in value_or(said, ()) if isinstance(one.get("gpu"), int)]
    if not lines:
        return {}
    rows = [_sum(one["rows"], "remapped") for one in lines if "rows" in one]
    return {
        "gpu.nvlink": min(_numbers(one.get("nvlink") for one in lines), default=None),
        "gpu.pcie_width": _lowest(lines, "pcie", "width"),
        "gpu.pcie_generation": _lowest(lines, "pcie", "max_generation"),
        "gpu.clock_max": _lowest(lines, "clocks", "max"),
        "gpu.clock_limit": _lowest(lines, "clocks", "limit"),
        "gpu.power_limit": _lowest(lines, "power", "limit"),
        "gpu.ecc_retired": sum(rows) if rows else None,
        "gpu.ecc_mode": _set(
            str(one["ecc_mode"]) for one in lines if _is_text(one.get("ecc_mode"))
        ),
    }


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _sum(answer: Any, field: str) -> int:
    number = answer.get(field) if isinstance(answer, dict) else 0
    return number if isinstance(number, int) else 0


def _numbers(values: Iterable[Any]) -> Iterator[int | float]:
    return (one for one in values if isinstance(one, (int, float)))


def _lowest(lines: Iterable[dict[str, Any]], query: str, field: str) -> Value:
    answers = [line[query] for line in lines if isinstance(line.get(query), dict)]
    return min(_numbers(one.get(field) for one in answers), default=None)


def _cpus(machine: Machine) -> dict[str, Value]:
    allowed = machine.lines("/proc/self/status", "Cpus_allowed_list:")
    second = machine.exists("/sys/fs/cgroup/cgroup.controllers")
    governor = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
    version: Callable[[bool], Value] = lambda there: "2" if there else "1"  # noqa: E731
    return {
        "host.cpus": told(allowed, _count),
        "host.governor": _text(machine, governor),
        "host.cgroup": told(second, version),
        "host.cpu_quota": _quota(_text(machine, "/sys/fs/cgroup/cpu.max")),
    }


def _count(lines: tuple[str, ...]) -> Value:
    """How many CPUs "0-31,64-95" names."""
    text = lines[0].partition(":")[2] if lines else ""
    spans = re.findall(r"(\d{1,6})(?:-(\d{1,6}))?", text)
    return sum(int(last or first) - int(first) + 1 for first, last in spans) or None


def _quota(text: str | None) -> Value:
    """CPUs by quota and period of cpu.max; -1 = no limit."""
    found = re.fullmatch(r"(max|\d{1,12}) (\d{1,12})", text or "")
    if not found:
        return None
    if found[1] == "max" or found[2] == "0":
        return -1
    return round(int(found[1]) / int(found[2]), 2)
