"""A Windows disk under a folder: any spelling, no way out, registry and variables by hives."""

import pytest

from gpuwhy.facts.fact import Absent, Known, Unknown
from gpuwhy.machine.windows import WindowsDiskMachine, folder_machine
from tests.formats.made_hive import hive
from tests.formats.made_pe import pe


@pytest.fixture
def disk(tmp_path):
    root = tmp_path / "disk"
    (root / "Windows" / "System32").mkdir(parents=True)
    (root / "Windows" / "System32" / "nvcuda.dll").write_bytes(pe())
    (root / "Users" / "Anna Maria" / "env").mkdir(parents=True)
    settings = "home = C:\\Users\\Anna Maria\\Python38\r\n"
    (root / "Users" / "Anna Maria" / "env" / "pyvenv.cfg").write_text(settings)
    (tmp_path / "secret").write_text("outside")
    return root


@pytest.mark.parametrize("layout", [".", "C", "c:", "drive_c"])
def test_where_a_windows_disk_lies(disk, tmp_path, layout):
    root = disk
    if layout != ".":
        root = tmp_path / "machine"
        root.mkdir()
        disk.rename(root / layout)
    host = folder_machine(str(root))
    assert isinstance(host, WindowsDiskMachine)
    assert isinstance(host.pe("C:/Windows/System32/nvcuda.dll"), Known)


SPELLED = ["c:/WINDOWS/system32/NVCUDA.DLL", "C:\\Windows\\System32\\nvcuda.dll"]


@pytest.mark.parametrize("path", [*SPELLED, "C:/x/../Windows/./System32/nvcuda.dll"])
def test_any_spelling_leads_to_the_spelling_on_disk(disk, path):
    host = folder_machine(str(disk))
    assert host.real(path).need() == "C:/Windows/System32/nvcuda.dll"
    assert isinstance(host.stat(path), Known)


OUT = ["../secret", "../../../../secret", "{outside}/secret", "C:\\..\\secret", "/??/C:/../secret"]


@pytest.mark.parametrize("target", OUT)
def test_no_link_leads_out(disk, tmp_path, target):
    (disk / "link").symlink_to(target.format(outside=tmp_path))
    host = folder_machine(str(disk))
    assert not isinstance(host.read("C:/link"), Known)
    assert not isinstance(host.read("C:/Windows/../../secret"), Known)


JUNCTIONS = ["C:\\Windows\\System32", "/??/C:/Windows/System32", "{disk}/Windows/System32"]


@pytest.mark.parametrize("target", [*JUNCTIONS, "Windows\\System32", "/Windows/System32"])
def test_junctions_lead_to_their_folder(disk, target):
    (disk / "junction").symlink_to(target.format(disk=disk))
    host = folder_machine(str(disk))
    assert host.real("C:/Junction/NVCUDA.dll").need() == "C:/Windows/System32/nvcuda.dll"
    assert isinstance(host.link("C:/JUNCTION"), Known)


def config(disk, **variables):
    """The disk's hives, with variables of the system."""
    folder = disk / "Windows" / "System32" / "config"
    folder.mkdir()
    manager = {"Session Manager": {"Environment": variables}}
    pci = {"PCI": {"VEN_10DE&DEV_2204&SUBSYS_0": {}}}
    control = {"Control": manager, "Enum": pci}
    tree = {"Select": {"Current": 2}, "ControlSet002": control, "ControlSet001": {}}
    (folder / "SYSTEM").write_bytes(hive(tree))
    current = {"CurrentVersion": {"CurrentBuild": "19045"}}
    (folder / "SOFTWARE").write_bytes(hive({"Microsoft": {"Windows NT": current}}))


def test_the_registry_and_the_variables_come_from_the_hives_of_the_disk(disk):
    path = ("%SystemRoot%\\system32;%CUDA_PATH%\\bin",)
    config(disk, Path=path, CUDA_PATH="C:\\CUDA", CUDNN_PATH="%CUDA_PATH%\\x", API_TOKEN="x")
    machine = folder_machine(str(disk))
    variables = machine.environ().need()
    assert variables["PATH"] == "C:\\Windows\\system32;C:\\CUDA\\bin"
    assert variables["CUDNN_PATH"] == "%CUDA_PATH%\\x"  # REG_SZ stays
    assert "API_TOKEN" not in variables
    control = "HKLM/SYSTEM/CurrentControlSet"
    pci = machine.registry(f"{control}/Enum/PCI").need()
    assert pci.keys == ("VEN_10DE&DEV_2204&SUBSYS_0",)
    current = machine.registry("HKLM/SOFTWARE/Microsoft/Windows NT/CurrentVersion").need()
    assert current.values["CurrentBuild"] == "19045"
    assert isinstance(machine.registry(f"{control}/Enum/USB"), Absent)
    assert isinstance(machine.registry("HKLM/HARDWARE/DESCRIPTION"), Unknown)


def test_without_hives_the_variables_stay_unknown(disk):
    assert isinstance(folder_machine(str(disk)).environ(), Unknown)
    assert folder_machine(str(disk), {"Path": "C:\\x"}).environ().need() == {"PATH": "C:\\x"}
    folder = disk / "Windows" / "System32" / "config"
    folder.mkdir()
    (folder / "SYSTEM").write_bytes(b"regf" + bytes(100))
    assert isinstance(folder_machine(str(disk)).environ(), Unknown)
