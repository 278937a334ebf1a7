"""Windows itself: edition, build, processor, virtual machine."""

from __future__ import annotations

import pytest

from gpuwhy.host.base import RegistryKey, Uname
from gpuwhy.model.fact import Absent, Unknown
from tests.observe.windows.seen import facts_of
from tests.windows.trees import SYSTEM, made, windows

EDITION = ("registry", "HKLM/SOFTWARE/Microsoft/Windows NT/CurrentVersion")
BIOS = ("registry", "HKLM/HARDWARE/DESCRIPTION/System/BIOS")


def test_the_registry_calls_windows_11_windows_10(tmp_path):
    values = {"ProductName": "Windows 10 Pro", "DisplayVersion": "23H2", "CurrentBuild": "22631"}
    answers = {EDITION: RegistryKey(values, ()), ("uname",): Uname("windows", "10.0.22631", "AMD64")}
    found = facts_of(windows(tmp_path), answers=answers).surroundings
    assert found.distribution.need() == "Windows 11 Pro 23H2, build 22631"
    assert found.machine.need() == "x86_64"


@pytest.mark.parametrize(
    ("version", "title"),
    [((10, 0, 19041, 1), "Windows 10, build 19041"), ((10, 0, 22621, 1), "Windows 11, build 22621"),
     ((6, 1, 7601, 1), "Windows 6.1, build 7601")],
)  # fmt: skip
def test_a_disk_by_the_version_of_its_files(tmp_path, version, title):
    disk = windows(tmp_path)
    disk.put(f"{SYSTEM}/kernel32.dll", made("Windows NT BASE API Client DLL", version))
    found = facts_of(disk).surroundings
    assert (found.system.need(), found.distribution.need(), found.machine.need()) == ("windows", title, "x86_64")


@pytest.mark.parametrize(
    ("maker", "product", "vm"),
    [("VMware, Inc.", "VMware7,1", "vmware"), ("Microsoft Corporation", "Virtual Machine", "hyperv"),
     ("LENOVO", "20QV", None)],
)  # fmt: skip
def test_virtual_machines(tmp_path, maker, product, vm):
    key = RegistryKey({"SystemManufacturer": maker, "SystemProductName": product}, ())
    assert facts_of(windows(tmp_path), answers={BIOS: key}).surroundings.vm.need() == vm


def test_what_is_not_known_of_a_disk(tmp_path):
    found = facts_of(windows(tmp_path)).surroundings
    assert isinstance(found.vm, Unknown)
    assert isinstance(found.disks, Unknown)
    assert isinstance(found.memory, Unknown)
    assert isinstance(found.wsl, Absent)
