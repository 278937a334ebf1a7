"""Windows' own ways: the system, the driver and its cards, toolkits, copies of CUDA's DLLs."""

from typing import Any

import pytest

from gpuwhy.facts.fact import Fact, Known, Source, Unknown
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.fact import Owner
from gpuwhy.look.look import Options, look
from gpuwhy.look.windows import _PCI as BUS
from gpuwhy.look.windows import dotted
from gpuwhy.machine.machine import Machine, RegistryKey, Uname
from gpuwhy.machine.recording import RecordingMachine
from tests.windows.trees import SYSTEM, TOOLKITS, Disk, cudnn7, driver_dll, made, python, windows

SUBJECTS = ("system", "environment", "libraries", "driver", "devices")


class Answering(Machine):
    """A machine in front of which some questions are answered."""

    home = "C:/Users/user"

    def __init__(self, inner: Machine, answers: dict[tuple[Any, ...], Any]) -> None:
        self._inner, self._answers = inner, answers

    def ask(self, question: str, *args: Any) -> Fact[Any]:
        if (question, *args) in self._answers:
            return Known(self._answers[(question, *args)], Source("call", question))
        return self._inner.ask(question, *args)


def facts_of(disk: Disk, answers: dict[tuple[Any, ...], Any] | None = None, **environ: str) -> Facts:
    machine = Answering(disk.machine(**environ), answers or {})
    return look(RecordingMachine(machine), Options(), SUBJECTS)


@pytest.mark.parametrize(
    ("file_version", "driver"),
    [
        ("31.0.15.3623", "536.23"), ("26.21.14.3160", "431.60"), ("27.21.14.5148", "451.48"),
        ("32.0.15.6094", "560.94"), ("21.21.13.7633", "376.33"), ("10.0.19041.1", ""), ("6.14.11", ""), ("", ""),
    ],
)  # fmt: skip
def test_the_version_in_the_files_version(file_version, driver):
    assert dotted(file_version) == driver


def test_the_driver_store_where_system32_has_none(tmp_path):
    disk = windows(tmp_path, "")
    store = f"{SYSTEM}/DriverStore/FileRepository/nv_dispi.inf_amd64_0a1b"
    disk.put(f"{store}/nvcuda64.dll", driver_dll("451.48"))
    assert facts_of(disk).driver.module_version.need() == "451.48"


@pytest.mark.parametrize("data", [b"", b"MZ", b"no library", made("")[:200]])
def test_a_broken_nvcuda_is_not_taken_for_no_driver(tmp_path, data):
    disk = windows(tmp_path, "")
    disk.put(f"{SYSTEM}/nvcuda.dll", data)
    assert isinstance(facts_of(disk).driver.module_version, Unknown)


def test_cards_that_windows_has_seen(tmp_path):
    keys = RegistryKey({}, ("VEN_8086&DEV_3E92", "VEN_10DE&DEV_2204&SUBSYS_0", "VEN_10DE&DEV_1AEF&SUBSYS_0"))
    found = facts_of(windows(tmp_path), answers={("registry", BUS): keys}).devices.pci.need()
    assert "2204" in [card.device_id for card in found]
    none = RegistryKey({}, ("VEN_8086&DEV_3E92",))
    assert facts_of(windows(tmp_path), answers={("registry", BUS): none}).devices.pci.need() == ()


EDITION = ("registry", "HKLM/SOFTWARE/Microsoft/Windows NT/CurrentVersion")


def test_the_registry_calls_windows_11_windows_10(tmp_path):
    values = {"ProductName": "Windows 10 Pro", "DisplayVersion": "23H2", "CurrentBuild": "22631"}
    answers = {EDITION: RegistryKey(values, ()), ("uname",): Uname("windows", "10.0.22631", "AMD64")}
    found = facts_of(windows(tmp_path), answers=answers).system
    assert found.distro.need().title == "Windows 11 Pro 23H2, build 22631"
    assert found.machine.need() == "x86_64"


@pytest.mark.parametrize(
    ("folder", "where", "environ"),
    [
        ("C:/somewhere/cudnn", "PATH", {"PATH": "C:\\Somewhere\\CuDNN"}),
        ("C:/Windows/System32", "default folder", {}),
        ("C:/cudnn-7.6/bin", "toolkit", {"CUDNN_PATH": "C:\\cudnn-7.6"}),
        ("C:/Program Files/NVIDIA/CUDNN/v9.1/bin/12.4", "toolkit", {}),
        ("C:/tools/cuda/bin", "toolkit", {}),
        (f"{TOOLKITS}/v10.1/bin", "toolkit", {}),
    ],
)
def test_where_a_copy_lies(disk, folder, where, environ):
    disk.put(f"{folder}/cudnn64_7.dll", cudnn7())
    disk.put(f"{folder}/nvcc.exe", made(""))
    found = facts_of(disk, **environ).libraries.copies.need()
    seen = [(one.path.lower(), one.where, one.version.need()) for one in found]
    assert seen == [(f"{folder}/cudnn64_7.dll".lower(), where, "7.6.5")]


def test_wheels_with_their_owner(disk):
    site = python(disk)
    disk.put(f"{site}/nvidia/cudnn/bin/cudnn64_8.dll", made("", (8, 9, 4, 25)))
    metadata = "Name: nvidia-cudnn-cu11\nVersion: 8.9.4.25\n"
    disk.put(f"{site}/nvidia_cudnn_cu11-8.9.4.25.dist-info/METADATA", metadata)
    (one,) = facts_of(disk).libraries.copies.need()
    assert (one.where, one.owner.need()) == ("wheel", Owner("nvidia-cudnn-cu11", "8.9.4.25", "pip"))
