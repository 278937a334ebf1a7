"""The driver on Windows: version by NVML, by nvcuda.dll, in the driver store, in the registry; the cards."""

from __future__ import annotations

import pytest

from gpuwhy.host.base import RegistryKey
from gpuwhy.model.fact import Absent, Unknown
from gpuwhy.observe.windows.driver import BUS, CLASS, SERVICES, dotted
from tests.observe.windows.seen import facts_of
from tests.windows.trees import SYSTEM, driver_dll, made, windows

CARD = r"PCI\VEN_10DE&DEV_2204&SUBSYS_38801462&REV_A1\4&1c3d25bb&0&0019"


@pytest.mark.parametrize(
    ("file_version", "driver"),
    [
        ("31.0.15.3623", "536.23"), ("26.21.14.3160", "431.60"), ("27.21.14.5148", "451.48"),
        ("32.0.15.6094", "560.94"), ("21.21.13.7633", "376.33"), ("10.0.19041.1", ""), ("6.14.11", ""), ("", ""),
    ],
)  # fmt: skip
def test_the_version_in_the_files_version(file_version, driver):
    assert dotted(file_version) == driver


def test_nvcuda_tells(tmp_path):
    found = facts_of(windows(tmp_path, "451.48")).driver
    assert (found.module_version.need(), found.driver_cuda.need()) == ("451.48", "11.0")


def test_nvml_is_asked_first(tmp_path):
    said = ({"init": {"code": 0}}, {"driver": "536.23"}, {"count": 0}, {"cuda": 12020})
    found = facts_of(windows(tmp_path, "451.48"), answers={("call", "nvml"): said}).driver
    assert (found.module_version.need(), found.driver_cuda.need()) == ("536.23", "12.2")


def test_the_driver_store_where_system32_has_none(tmp_path):
    disk = windows(tmp_path, "")
    disk.put(f"{SYSTEM}/DriverStore/FileRepository/nv_dispi.inf_amd64_0a1b/nvcuda64.dll", driver_dll("536.23"))
    assert facts_of(disk).driver.module_version.need() == "536.23"


def test_the_registry_where_no_file_tells(tmp_path):
    answers = {
        ("registry", CLASS): RegistryKey({}, ("0000", "0001", "Configuration")),
        ("registry", f"{CLASS}/0000"): RegistryKey({"ProviderName": "Intel", "DriverVersion": "27.20.100.8681"}, ()),
        ("registry", f"{CLASS}/0001"): RegistryKey({"ProviderName": "NVIDIA", "DriverVersion": "31.0.15.3623"}, ()),
    }
    assert facts_of(windows(tmp_path, ""), answers=answers).driver.module_version.need() == "536.23"


def test_no_driver_is_known_to_be_absent(tmp_path):
    assert isinstance(facts_of(windows(tmp_path, "")).driver.module_version, Absent)


@pytest.mark.parametrize("data", [b"", b"MZ", b"no library", made("")[:200]])
def test_a_broken_nvcuda_is_not_taken_for_no_driver(tmp_path, data):
    disk = windows(tmp_path, "")
    disk.put(f"{SYSTEM}/nvcuda.dll", data)
    assert isinstance(facts_of(disk).driver.module_version, Unknown)


def test_a_card_by_the_driver_that_holds_it(tmp_path):
    for service, driver in (("nvlddmkm", "nvidia"), ("BasicDisplay", "BasicDisplay")):
        answers = {("registry", f"{SERVICES}/{service}/Enum"): RegistryKey({"0": CARD, "Count": "1"}, ())}
        (card,) = facts_of(windows(tmp_path), answers=answers).devices.pci.need()
        assert (card.device_id, card.capability.need(), card.driver.need()) == ("2204", "8.6", driver)


def test_cards_that_windows_has_seen(tmp_path):
    keys = RegistryKey({}, ("VEN_8086&DEV_3E92", "VEN_10DE&DEV_2204&SUBSYS_0", "VEN_10DE&DEV_1AEF&SUBSYS_0"))
    found = facts_of(windows(tmp_path), answers={("registry", BUS): keys}).devices.pci.need()
    assert "2204" in [card.device_id for card in found]
    none = RegistryKey({}, ("VEN_8086&DEV_3E92",))
    assert facts_of(windows(tmp_path), answers={("registry", BUS): none}).devices.pci.need() == ()


def test_a_disk_does_not_tell_of_cards(tmp_path):
    assert isinstance(facts_of(windows(tmp_path)).devices.pci, Unknown)


def test_wddm_or_tcc(tmp_path):
    gpu = {"gpu": 0, "name": "NVIDIA RTX A6000", "driver_model": "TCC", "fabric": {"error": "x"}}
    said = ({"init": {"code": 0}}, {"driver": "536.23"}, {"count": 1}, gpu)
    (card,) = facts_of(windows(tmp_path), answers={("call", "nvml"): said}).devices.devices.need()
    assert card.driver_model.need() == "TCC"
