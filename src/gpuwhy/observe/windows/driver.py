"""The NVIDIA driver on Windows: its version by NVML, by the version of nvcuda.dll, or by the registry."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.host.base import Host
from gpuwhy.knowledge import gpus
from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown, known, or_unknown
from gpuwhy.model.facts import PciDevice
from gpuwhy.observe import nvml
from gpuwhy.observe.scene import Scene
from gpuwhy.observe.windows.paths import folders, system_folder

CLASS = "HKLM/SYSTEM/CurrentControlSet/Control/Class/{4d36e968-e325-11ce-bfc1-08002be10318}"
SERVICES = "HKLM/SYSTEM/CurrentControlSet/Services"
BUS = "HKLM/SYSTEM/CurrentControlSet/Enum/PCI"
_CARD = re.compile(r"(?:PCI\\)?VEN_10DE&DEV_([0-9A-F]{4})", re.IGNORECASE)
_FILE_VERSION = re.compile(r"\d+\.\d+\.1(\d)\.(\d{1,4})")
_STORE = r"(?i)nv\w*\.inf_"  # nv_dispi.inf_amd64_…


def dotted(file_version: str) -> str:
    """The driver's version in that of its files, the last five digits: 31.0.15.3623 → 536.23; "" where it has none."""
    found = _FILE_VERSION.fullmatch(file_version)
    digits = f"{found[1]}{found[2].zfill(4)}" if found else ""
    return f"{digits[:3]}.{digits[3:]}" if digits and digits[0] != "0" else ""


def driver_version(scene: Scene) -> Fact[str]:
    """The driver in use by NVML; else that of nvcuda.dll in System32, which the installer put there."""
    said = nvml.said(scene)
    told = said.value.system.get("driver") if isinstance(said, Known) else None
    if isinstance(told, str) and re.fullmatch(r"\d+(\.\d+)+", told):
        return known(told, "call", "nvmlSystemGetDriverVersion")
    for path in _copies(scene.host):
        version = _of_file(scene.host, path)
        if isinstance(version, Known):
            return version
    return _by_registry(scene.host)


def _copies(host: Host) -> Iterator[str]:
    """nvcuda.dll where programs find it, then nvml.dll beside it, then what the driver's package left."""
    system = system_folder(host)
    for name in ("nvcuda.dll", "nvml.dll"):
        yield f"{system}/{name}"
    store = f"{system}/DriverStore/FileRepository"
    for folder in folders(host, store, _STORE)[::-1]:
        for name in ("nvcuda64.dll", "nvcuda.dll", "nvml.dll"):
            yield f"{folder}/{name}"


def _of_file(host: Host, path: str) -> Fact[str]:
    pe = host.pe(path)
    if not isinstance(pe, Known):
        return pe
    version = dotted(pe.value.version)
    if version:
        return known(version, "file", path, f"file version {pe.value.version}")
    return Unknown(f"{path} is not a driver's: its file version is {pe.value.version or 'not given'}")


def _by_registry(host: Host) -> Fact[str]:
    """What Windows lists among its display adapters; Absent when no file and no entry is there."""
    key = host.registry(CLASS)
    for name in key.value.keys if isinstance(key, Known) else ():
        adapter = host.registry(f"{CLASS}/{name}") if re.fullmatch(r"\d{4}", name) else None
        values = adapter.value.values if isinstance(adapter, Known) else {}
        if "nvidia" in values.get("ProviderName", "").lower() and (found := dotted(values.get("DriverVersion", ""))):
            return known(found, "call", "registry", f"{CLASS}/{name}")
    there = host.stat(f"{system_folder(host)}/nvcuda.dll")
    if isinstance(there, Known):
        return Unknown(f"{there.source.where} is there, but does not tell its version", "nvidia-smi")
    if isinstance(there, Absent) and isinstance(host.stat(system_folder(host)), Absent):
        return Unknown("System32 is not among these files")
    return there


def cards(scene: Scene) -> Fact[tuple[PciDevice, ...]]:
    """The NVIDIA cards that a display driver of Windows holds; else those that Windows has ever seen."""
    for service in ("nvlddmkm", "BasicDisplay"):
        held = _held(scene.host, service)
        if held:
            return known(tuple(held), "call", "registry", f"{SERVICES}/{service}/Enum")
    listed = scene.host.registry(BUS)
    if not isinstance(listed, Known):
        return or_unknown(listed, f"{BUS} is not there")
    ids = dict.fromkeys(found[1].lower() for name in listed.value.keys if (found := _CARD.match(name)))
    seen = [_card(name, Absent(Source("call", "registry", SERVICES))) for name in ids]
    return known(tuple(one for one in seen if isinstance(one.name, Known)), "call", "registry", BUS)


def _held(host: Host, service: str) -> list[PciDevice]:
    key = host.registry(f"{SERVICES}/{service}/Enum")
    values = key.value.values if isinstance(key, Known) else {}
    found = [_CARD.match(text) for name, text in sorted(values.items()) if name.isdecimal()]
    driver = known("nvidia" if service == "nvlddmkm" else service, "call", "registry", service)
    return [_card(match[1].lower(), driver) for match in found if match]


def _card(device_id: str, driver: Fact[str]) -> PciDevice:
    row = gpus.by_pci(device_id)
    unlisted = Unknown(f"PCI device id {device_id} is not in gpuwhy's table", "Device Manager, Display adapters")
    return PciDevice(
        address=f"PCI id 10de:{device_id}",  # the registry gives no bus address that others use
        device_id=device_id,
        name=Known(row.name, row.source) if row else unlisted,
        capability=Known(row.capability, row.source) if row and row.capability else unlisted,
        driver=driver,
    )
