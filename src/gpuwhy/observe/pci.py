"""The NVIDIA GPUs on the PCI bus, seen without any driver."""

from __future__ import annotations

import re

from gpuwhy.knowledge import gpus
from gpuwhy.model.fact import Absent, Fact, Known, Source, Undetermined, Unknown, known
from gpuwhy.model.facts import PciDevice
from gpuwhy.observe.scene import Scene

BUS = "/sys/bus/pci/devices"
NVIDIA = "0x10de"
DISPLAY = ("0x0300", "0x0302")  # VGA controller, 3D controller


def pci(scene: Scene) -> Fact[tuple[PciDevice, ...]]:
    """Every NVIDIA display or 3D controller; Unknown where there is no bus to look at (WSL, some sandboxes)."""
    names = scene.host.list(BUS, _where(scene))
    if isinstance(names, Unknown):
        return names
    if isinstance(names, Absent):
        return Unknown(f"there is no {BUS} to look at", "lspci -d 10de:")
    try:
        found = tuple(_device(scene, entry.name) for entry in names.value)
    except Undetermined as unread:
        return unread.unknown
    return Known(tuple(device for device in found if device), Source("folder", BUS))


def _where(scene: Scene) -> str:
    """A pattern for the addresses worth reading: /proc/bus/pci/devices names the vendors of all in one question."""
    lines = scene.host.lines("/proc/bus/pci/devices", "\t10de")
    if not isinstance(lines, Known):
        return ""
    places = []
    for line in lines.value:
        match = re.match(r"([0-9a-f]{2})([0-9a-f]{2})\t10de[0-9a-f]{4}\t", line)
        if match:
            slot = int(match.group(2), 16)
            places.append(rf"{match.group(1)}:{slot >> 3:02x}\.{slot & 7}")
    return rf"[0-9a-f]+:({'|'.join(sorted(set(places)))})$" if places else "none$"


def _device(scene: Scene, address: str) -> PciDevice | None:
    vendor, kind = _text(scene, address, "vendor"), _text(scene, address, "class")
    if vendor != NVIDIA or not kind.startswith(DISPLAY):
        return None
    device_id = _text(scene, address, "device").removeprefix("0x")
    bound = scene.host.link(f"{BUS}/{address}/driver")
    driver = Known(bound.value.rpartition("/")[2], bound.source) if isinstance(bound, Known) else bound
    row = gpus.by_pci(device_id)
    unlisted = Unknown(f"PCI device id {device_id} is not in gpuwhy's table", f"lspci -s {address}")
    return PciDevice(
        address=address,
        device_id=device_id,
        name=Known(row.name, row.source) if row else unlisted,
        capability=Known(row.capability, row.source) if row and row.capability else unlisted,
        driver=driver,
    )


def _text(scene: Scene, address: str, name: str) -> str:
    return (scene.host.read(f"{BUS}/{address}/{name}").need() or "").strip()


def gpu_minors(scene: Scene) -> Fact[tuple[int, ...]]:
    """The N of each /dev/nvidiaN that the kernel module drives, from its own list, else as many as the bus has."""
    folder = "/proc/driver/nvidia/gpus"
    driven = scene.host.list(folder, r"[0-9a-f:.]+$")
    if isinstance(driven, Known):
        minors = [_minor(scene, f"{folder}/{entry.name}/information") for entry in driven.value]
        return known(tuple(sorted(m for m in minors if m is not None)), "folder", folder)
    bus = pci(scene)
    if isinstance(bus, Known):
        return Known(tuple(range(len(bus.value))), bus.source)
    return bus


def _minor(scene: Scene, path: str) -> int | None:
    lines = scene.host.lines(path, "Device Minor:")
    text = " ".join(lines.value) if isinstance(lines, Known) else ""
    match = re.search(r"Device Minor:\s*(\d{1,6})\b", text)
    return int(match.group(1)) if match else None
