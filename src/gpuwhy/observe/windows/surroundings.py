"""Surroundings on Windows: edition and build, processor, virtual machine; what Windows does not have is Absent."""

from __future__ import annotations

import re
from typing import Any

from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown, known, or_unknown
from gpuwhy.model.facts import Space
from gpuwhy.observe.scene import Scene
from gpuwhy.observe.windows.paths import system_folder

_EDITION = "HKLM/SOFTWARE/Microsoft/Windows NT/CurrentVersion"
_BIOS = "HKLM/HARDWARE/DESCRIPTION/System/BIOS"
_ELEVEN = 22000  # builds from here on are Windows 11, whatever the registry's product name says
_FILES = ("kernel32.dll", "ntoskrnl.exe", "ntdll.dll")
_EVENTS = "Get-WinEvent -FilterHashtable @{LogName='System'; ProviderName='nvlddmkm'} -MaxEvents 20"
_VIRTUAL = (("vmware", "vmware"), ("virtualbox", "virtualbox"), ("virtual machine", "hyperv"), ("qemu", "kvm"),
            ("kvm", "kvm"), ("xen", "xen"), ("amazon ec2", "amazon"), ("google compute", "google"))  # fmt: skip


def none_here(scene: Scene) -> Fact[Any]:
    """Something that Linux has and Windows has not."""
    return Absent(Source("none", "Windows has no such thing"))


def distribution(scene: Scene) -> Fact[str]:
    """Windows 10 Pro 22H2, build 19045: by the registry, of a disk by the version of its files."""
    key = scene.host.registry(_EDITION)
    if isinstance(key, Known):
        said = key.value.values
        build = said.get("CurrentBuild", "")
        edition = re.sub(r"^Windows 10", _title(build), said.get("ProductName", _title(build)))
        return Known(f"{edition} {said.get('DisplayVersion', '')}, build {build}".replace(" ,", ","), key.source)
    version = kernel(scene)
    if not isinstance(version, Known):
        return version
    major, minor, build = version.value.split(".")[:3]
    title = _title(build) if major == "10" else f"Windows {major}.{minor}"
    return Known(f"{title}, build {build}", version.source)


def _title(build: str) -> str:
    return "Windows 11" if build.isdecimal() and int(build) >= _ELEVEN else "Windows 10"


def kernel(scene: Scene) -> Fact[str]:
    """10.0.19045: by the running system, of a disk by the version of its files."""
    said = scene.host.uname()
    if isinstance(said, Known):
        return Known(said.value.release, said.source)
    for name in _FILES:
        path = f"{system_folder(scene.host)}/{name}"
        pe = scene.host.pe(path)
        if isinstance(pe, Known) and pe.value.version.count(".") == 3:
            return known(".".join(pe.value.version.split(".")[:3]), "file", path, "its version resource")
    return Unknown("no file of Windows tells its version")


def machine(scene: Scene) -> Fact[str]:
    """The processor by the running system, of a disk by what its system files are compiled for."""
    said = scene.host.uname()
    if isinstance(said, Known):
        return Known({"AMD64": "x86_64", "ARM64": "aarch64"}.get(said.value.machine, said.value.machine), said.source)
    for name in _FILES:
        pe = scene.host.pe(f"{system_folder(scene.host)}/{name}")
        if isinstance(pe, Known):
            return Known(pe.value.machine, pe.source)
    return said


def vm(scene: Scene) -> Fact[str]:
    """The virtual machine's platform by what the firmware says; Absent on the metal."""
    key = scene.host.registry(_BIOS)
    if not isinstance(key, Known):
        return or_unknown(key, f"{_BIOS} is not there")
    text = " ".join(key.value.values.get(name, "") for name in ("SystemManufacturer", "SystemProductName"))
    if not text.strip():
        return Unknown(f"{_BIOS} does not name the machine")
    found = next((name for mark, name in _VIRTUAL if mark in text.lower()), "")
    source = Source("call", "registry", f"{_BIOS}: {text.strip()[:80]}")
    return Known(found, source) if found else Absent(source)


def memory(scene: Scene) -> Fact[Any]:
    """Not asked: no file of Windows tells it."""
    return Unknown("host memory is not read on Windows", "Task Manager, Performance")


def kernel_log(scene: Scene) -> Fact[Any]:
    """Not read: Windows keeps it as events."""
    return Unknown("the event log of Windows is not read", _EVENTS)


def disks(scene: Scene) -> Fact[tuple[Space, ...]]:
    """The drives that CUDA's cache and Windows' temporary files lie on."""
    kept: list[Space] = []
    for path in ("~", "C:/"):
        disk = scene.host.disk(path)
        if isinstance(disk, Known) and all(one.total != disk.value.total for one in kept):
            kept.append(Space(path, disk.value.total, disk.value.free))
    if not kept:
        return Unknown("the size of the drives was not seen")
    return known(tuple(kept), "call", "GetDiskFreeSpaceEx", ", ".join(one.path for one in kept))
