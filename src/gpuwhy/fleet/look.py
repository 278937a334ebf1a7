"""Look: what only a comparison of nodes reads: adapters, NCCL's files, links, clocks, CPUs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from gpuwhy.facts.fact import Absent, Known, value_or
from gpuwhy.fleet.answer import NONE, Value
from gpuwhy.fleet.facts import told
from gpuwhy.machine.machine import Machine

IB, NET = "/sys/class/infiniband", "/sys/class/net"
MOST = 64
_VIRTUAL = re.compile(
    r"lo$|docker|veth|br-|virbr|cni|flannel|cali|tun|tap|dummy|bonding_masters|ip6tnl|sit|gre"
    r"|erspan"
)
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
