from __future__ import annotations

import os

import pytest

from gpuwhy.host.alias import Alias
from gpuwhy.host.root import RootHost
from gpuwhy.host.windows_root import WindowsRootHost, drives_of, root_of
from gpuwhy.model.fact import Absent, Known, Unknown
from tests.formats.made_hive import hive
from tests.formats.made_pe import pe


@pytest.fixture
def disk(tmp_path):
    root = tmp_path / "disk"
    (root / "Windows" / "System32").mkdir(parents=True)
    (root / "Windows" / "System32" / "nvcuda.dll").write_bytes(pe())
    (root / "Users" / "Anna Maria" / "env").mkdir(parents=True)
    (root / "Users" / "Anna Maria" / "env" / "pyvenv.cfg").write_text("home = C:\\Users\\Anna Maria\\Python38\r\n")
    (tmp_path / "secret").write_text("outside")
    return root


@pytest.mark.parametrize("layout", [".", "C", "c:", "drive_c"])
def test_where_a_windows_disk_lies(disk, tmp_path, layout):
    root = disk
    if layout != ".":
        root = tmp_path / "machine"
        root.mkdir()
        disk.rename(root / layout)
    host = root_of(str(root))
    assert isinstance(host, WindowsRootHost)
    assert isinstance(host.pe("C:/Windows/System32/nvcuda.dll"), Known)


def test_a_linux_root_stays_one(tmp_path):
    (tmp_path / "etc").mkdir()
    assert type(root_of(str(tmp_path))) is RootHost
    assert drives_of(str(tmp_path / "nowhere")) == {}


@pytest.mark.parametrize(
    "path",
    [
        "c:/WINDOWS/system32/NVCUDA.DLL",
        "C:\\Windows\\System32\\nvcuda.dll",
        "/windows/System32/nvcuda.dll",
        "C:/Windows/../Windows/./System32/nvcuda.dll",
    ],
)
def test_any_spelling_leads_to_the_spelling_on_disk(disk, path):
    host = root_of(str(disk))
    found = host.real(path)
    assert isinstance(found, Known)
    assert found.value == "C:/Windows/System32/nvcuda.dll"
    assert isinstance(host.stat(path), Known)


def test_what_is_not_there(disk):
    host = root_of(str(disk))
    assert isinstance(host.stat("C:/Windows/System32/nvml.dll"), Absent)
    assert isinstance(host.real("C:/nowhere/x"), Absent)
    assert isinstance(host.stat("D:/x"), Absent)
    assert isinstance(host.real("D:/x"), Absent)
    assert isinstance(host.registry("HKLM/SOFTWARE"), Unknown)
    assert isinstance(host.environ(), Unknown)


@pytest.mark.parametrize(
    "target",
    ["../secret", "../../../../../../secret", "{outside}/secret", "C:\\..\\..\\secret", "/??/C:/../secret"],
)
def test_no_link_leads_out(disk, tmp_path, target):
    (disk / "link").symlink_to(target.format(outside=tmp_path))
    host = root_of(str(disk))
    assert not isinstance(host.read("C:/link"), Known)
    assert not isinstance(host.read("C:/Windows/../../secret"), Known)


@pytest.mark.parametrize(
    "target",
    [
        "C:\\Windows\\System32",
        "/??/C:/Windows/System32",
        "{disk}/Windows/System32",
        "Windows\\System32",
        "/Windows/System32",
    ],
)
def test_junctions_lead_to_their_folder(disk, target):
    (disk / "junction").symlink_to(target.format(disk=disk))
    host = root_of(str(disk))
    found = host.real("C:/Junction/NVCUDA.dll")
    assert isinstance(found, Known)
    assert found.value == "C:/Windows/System32/nvcuda.dll"
    assert isinstance(host.link("C:/JUNCTION"), Known)


def test_a_loop_of_links_is_unknown(disk):
    os.symlink("b", disk / "a")
    os.symlink("a", disk / "b")
    assert isinstance(root_of(str(disk)).stat("C:/a"), Unknown)


def test_names_of_people_are_hidden_and_lead_back(disk):
    host = root_of(str(disk))
    (entry,) = host.list("C:/Users").need() or ()
    assert entry.name.startswith("user-")
    config = f"C:/Users/{entry.name}/env/pyvenv.cfg"
    text = host.read(config).need() or ""
    assert "Anna" not in text
    assert "Maria" not in text
    assert entry.name in text


def test_given_variables_are_found_in_any_case(disk):
    host = root_of(str(disk), {"Path": "C:\\x"}, Alias())
    assert host.environ().need() == {"PATH": "C:\\x"}


def test_the_registry_and_the_variables_come_from_the_hives_of_the_disk(disk):
    config = disk / "Windows" / "System32" / "config"
    config.mkdir()
    manager = {
        "Session Manager": {
            "Environment": {"Path": ("%SystemRoot%\\system32;%CUDA_PATH%\\bin",), "CUDA_PATH": "C:\\CUDA"}
        }
    }
    pci = {"PCI": {"VEN_10DE&DEV_2204&SUBSYS_0": {}}}
    tree = {"Select": {"Current": 2}, "ControlSet002": {"Control": manager, "Enum": pci}, "ControlSet001": {}}
    (config / "SYSTEM").write_bytes(hive(tree))
    (config / "SOFTWARE").write_bytes(
        hive({"Microsoft": {"Windows NT": {"CurrentVersion": {"CurrentBuild": "19045"}}}})
    )
    own = {"Environment": {"Path": "C:\\tools\\cuda\\bin;%CUDA_PATH%\\x", "CUDNN_PATH": "C:\\dnn"}}
    (disk / "Users" / "Anna Maria" / "NTUSER.DAT").write_bytes(hive(own))
    host = root_of(str(disk))
    variables = host.environ().need()
    assert (
        variables["PATH"] == "C:\\Windows\\system32;C:\\CUDA\\bin;C:\\tools\\cuda\\bin;%CUDA_PATH%\\x"
    )  # REG_SZ stays
    assert (variables["CUDA_PATH"], variables["CUDNN_PATH"]) == ("C:\\CUDA", "C:\\dnn")
    assert host.registry("HKLM/SYSTEM/CurrentControlSet/Enum/PCI").need().keys == ("VEN_10DE&DEV_2204&SUBSYS_0",)
    assert host.registry("HKLM/SOFTWARE/Microsoft/Windows NT/CurrentVersion").need().values["CurrentBuild"] == "19045"
    assert isinstance(host.registry("HKLM/SYSTEM/CurrentControlSet/Enum/USB"), Absent)
    assert isinstance(host.registry("HKLM/HARDWARE/DESCRIPTION"), Unknown)


def test_what_windows_sets_for_the_one_user_of_a_disk_is_known(disk):
    config = disk / "Windows" / "System32" / "config"
    config.mkdir()
    (config / "SYSTEM").write_bytes(
        hive({"ControlSet001": {"Control": {"Session Manager": {"Environment": {"Path": "C:\\a"}}}}})
    )
    own = {"Environment": {"Path": ("%USERPROFILE%\\cudnn\\bin;%LOCALAPPDATA%\\x",)}}
    (disk / "Users" / "Anna Maria" / "NTUSER.DAT").write_bytes(hive(own))
    host = root_of(str(disk))
    home = "C:\\Users\\" + host.list("C:/Users", "").need()[0].name
    assert host.environ().need()["PATH"] == f"C:\\a;{home}\\cudnn\\bin;{home}\\AppData\\Local\\x"


def test_without_hives_the_variables_stay_unknown(disk):
    assert isinstance(root_of(str(disk)).environ(), Unknown)
    config = disk / "Windows" / "System32" / "config"
    config.mkdir()
    (config / "SYSTEM").write_bytes(b"regf" + bytes(100))
    assert isinstance(root_of(str(disk)).environ(), Unknown)


def test_of_two_users_neither_is_taken(disk):
    config = disk / "Windows" / "System32" / "config"
    config.mkdir()
    (config / "SYSTEM").write_bytes(
        hive({"ControlSet001": {"Control": {"Session Manager": {"Environment": {"Path": "C:\\a"}}}}})
    )
    (disk / "Users" / "Bo").mkdir()
    for name in ("Anna Maria", "Bo"):
        (disk / "Users" / name / "NTUSER.DAT").write_bytes(hive({"Environment": {"Path": f"C:\\{name}"}}))
    assert root_of(str(disk)).environ().need()["PATH"] == "C:\\a"
