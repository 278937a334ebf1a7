"""Look: what only a comparison of nodes needs to know: adapters, links, interfaces, NCCL's files, clocks, CPUs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from gpuwhy.fleet.facts import NONE, told
from gpuwhy.host.base import Host
from gpuwhy.model.fact import Absent, Fact, Known, value_or
from gpuwhy.model.fleet import Value

IB, NET, PCI = "/sys/class/infiniband", "/sys/class/net", "/sys/bus/pci/devices"
_VIRTUAL = re.compile(r"lo$|docker|veth|br-|virbr|cni|flannel|cali|tun|tap|dummy|bonding_masters|ip6tnl|sit|gre|erspan")
_PLUGIN = re.compile(r"libnccl-(?:net|tuner|profiler|env)[\w.-]*\.so")
_CONFIG = "/etc/nccl.conf"
_MOST = 64


def at_host(host: Host) -> dict[str, Value]:
    """Everything of this kind; None where it could not be seen."""
    return {**_adapters(host), **_interfaces(host), **_nccl(host), **_clocks(host), **_cpus(host)}


def _text(host: Host, path: str) -> str | None:
    said = host.read(path)
    return said.value.strip() if isinstance(said, Known) else None


def _names(host: Host, folder: str, match: str = "") -> Fact[list[str]]:
    found = host.list(folder, match)
    return Known([one.name for one in found.value][:_MOST], found.source) if isinstance(found, Known) else found


def _adapters(host: Host) -> dict[str, Value]:
    """InfiniBand and RoCE: devices, ports that are up, rate, firmware, and the PCIe lanes below them."""
    names = _names(host, IB)
    if isinstance(names, Absent):
        return {"net.ib_devices": 0}
    if not isinstance(names, Known):
        return {"net.ib_devices": None}
    ports = [f"{IB}/{name}/ports/{port}" for name in names.value for port in _listed(host, f"{IB}/{name}/ports")]
    active = [port for port in ports if "ACTIVE" in (_text(host, f"{port}/state") or "")]
    each: Callable[[str], list[str | None]] = lambda file: [_text(host, f"{IB}/{n}/{file}") for n in names.value]  # noqa: E731
    return {
        "net.ib_devices": len(names.value),
        "net.ib_active": len(active),
        "net.ib_layer": _set(_text(host, f"{port}/link_layer") for port in ports),
        "net.ib_rate": _least(_text(host, f"{port}/rate") for port in active),
        "net.ib_firmware": _set(each("fw_ver")),
        "net.ib_pcie_width": _least(each("device/current_link_width")),
    }


def _listed(host: Host, folder: str) -> list[str]:
    names = _names(host, folder)
    return value_or(names, [])


def _set(values: Iterable[str | None]) -> Value:
    known = sorted({value for value in values if value})
    return ", ".join(known) or None


def _least(values: Iterable[str | None]) -> Value:
    numbers = [float(found[0]) for value in values if value and (found := re.match(r"\d{1,9}(?:\.\d{1,4})?", value))]
    return min(numbers, default=None)


def _interfaces(host: Host) -> dict[str, Value]:
    """The interfaces that a job could use, and how large a packet may be on them."""
    names = _names(host, NET)
    if not isinstance(names, Known):
        return {"net.interfaces": None}
    usable = [name for name in names.value if not _VIRTUAL.match(name)]
    up = [name for name in usable if _text(host, f"{NET}/{name}/operstate") in ("up", "unknown")]
    return {
        "net.interfaces": ", ".join(sorted(up)) or NONE,
        "net.mtu": _set(_text(host, f"{NET}/{name}/mtu") for name in up) or NONE,
    }


def _nccl(host: Host) -> dict[str, Value]:
    """Network plugins of NCCL that the loader's cache knows, and NCCL's own configuration file."""
    cache = host.ldcache()
    plugins = (
        sorted({one.name for one in cache.value if _PLUGIN.fullmatch(one.name)}) if isinstance(cache, Known) else []
    )
    settings = host.lines(_CONFIG, "NCCL_")
    return {
        "nccl.plugins": (", ".join(plugins) or NONE) if isinstance(cache, Known) else None,
        "nccl.config": told(settings, lambda lines: "; ".join(sorted(line.strip() for line in lines)) or NONE),
    }


def _clocks(host: Host) -> dict[str, Value]:
    """Clocks, power limits and ECC mode, where NVML tells them."""
    said = host.call("nvml")
    lines = [line for line in said.value if isinstance(line.get("gpu"), int)] if isinstance(said, Known) else []
    if not lines:
        return {}
    return {
        "gpu.clock_max": _lowest(lines, "clocks", "max"),
        "gpu.clock_limit": _lowest(lines, "clocks", "limit"),
        "gpu.power_limit": _lowest(lines, "power", "limit"),
        "gpu.ecc_mode": _set(str(line["ecc_mode"]) for line in lines if isinstance(line.get("ecc_mode"), str)),
    }


def _lowest(lines: Iterable[dict[str, Any]], query: str, field: str) -> Value:
    answers = [line[query] for line in lines if isinstance(line.get(query), dict)]
    return min((one[field] for one in answers if isinstance(one.get(field), (int, float))), default=None)


def _cpus(host: Host) -> dict[str, Value]:
    allowed = host.lines("/proc/self/status", "Cpus_allowed_list:")
    second = host.exists("/sys/fs/cgroup/cgroup.controllers")
    return {
        "host.cpus": told(allowed, _count),
        "host.governor": _text(host, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "host.cgroup": told(second, lambda there: "2" if there else "1"),
        "host.cpu_quota": _quota(_text(host, "/sys/fs/cgroup/cpu.max")),
    }


def _count(lines: tuple[str, ...]) -> Value:
    """How many CPUs "0-31,64-95" names."""
    spans = re.findall(r"(\d{1,6})(?:-(\d{1,6}))?", lines[0].partition(":")[2]) if lines else []
    return sum(int(last or first) - int(first) + 1 for first, last in spans) or None


def _quota(text: str | None) -> Value:
    """CPUs by quota and period of cpu.max; -1 = no limit."""
    found = re.fullmatch(r"(max|\d{1,12}) (\d{1,12})", text or "")
    if not found:
        return None
    return -1 if found[1] == "max" or found[2] == "0" else round(int(found[1]) / int(found[2]), 2)
