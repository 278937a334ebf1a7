"""Pythons of a Windows machine: python.org, venv, conda, the Store, embedded; found by variables, PATH or place."""

from __future__ import annotations

import pytest

from gpuwhy.model.fact import Absent, Unknown
from tests.observe.windows.seen import facts_of
from tests.windows.trees import Disk, made, python, windows

VENV = "C:/work/env"


@pytest.fixture
def disk(tmp_path) -> Disk:
    return windows(tmp_path)


def venv(disk: Disk, system_too: str = "false") -> str:
    home = python(disk).removesuffix("/Lib/site-packages")
    text = f"home = C:\\Python38\r\ninclude-system-site-packages = {system_too}\r\nversion = 3.8.10\r\n"
    disk.put(f"{VENV}/pyvenv.cfg", text)
    disk.put(f"{VENV}/Scripts/python.exe", made("Python"))
    disk.at(f"{VENV}/Lib/site-packages").mkdir(parents=True)
    return home


def test_the_active_environment_wins_over_path(disk):
    home = venv(disk)
    found = facts_of(disk, VIRTUAL_ENV=VENV.replace("/", "\\"), PATH=home.replace("/", "\\"))
    one = found.target.interpreter.need()
    assert (one.path, one.version, one.kind, one.chosen_by) == (
        f"{VENV}/Scripts/python.exe", "3.8.10", "venv", "VIRTUAL_ENV",
    )  # fmt: skip
    assert found.target.site_packages.need() == (f"{VENV}/Lib/site-packages",)


def test_system_packages_come_after_those_of_the_environment(disk):
    venv(disk, "true")
    sites = facts_of(disk, python=VENV, PATH="").target.site_packages.need()
    assert sites == (f"{VENV}/Lib/site-packages", "C:/Python38/Lib/site-packages")


def test_python_is_given_as_a_program_or_as_a_folder(disk):
    venv(disk)
    for given in (VENV, f"{VENV}/Scripts/python.exe", VENV.replace("/", "\\") + "\\"):
        assert facts_of(disk, python=given).target.interpreter.need().prefix == VENV


def test_python_org_tells_its_version_by_its_files(disk):
    python(disk, "3.11.9", "C:/Program Files/Python311")
    one = facts_of(disk).target.interpreter.need()
    assert (one.version, one.kind, one.chosen_by, one.machine) == ("3.11.9", "system", "usual place", "x86_64")


def test_file_versions_count_the_micro_release_in_thousands(disk):
    disk.put("C:/py/python.exe", made("Python", (3, 12, 4150, 1013)))
    assert facts_of(disk, python="C:/py").target.interpreter.need().version == "3.12.4"


def test_the_alias_of_the_store_is_no_python(disk):
    disk.put("C:/stubs/python.exe", b"")
    python(disk)
    found = facts_of(disk, PATH=r"C:\stubs;C:\Python38").target.interpreter.need()
    assert found.path == "C:/Python38/python.exe"


def test_the_store_keeps_packages_in_a_folder_of_its_own(disk):
    folder = "C:/Program Files/WindowsApps/PythonSoftwareFoundation.Python.3.11_3.11.2544.0_x64__qbz5n2kfra8p0"
    python(disk, "3.11.9", folder)
    own = "PythonSoftwareFoundation.Python.3.11_qbz5n2kfra8p0/LocalCache/local-packages/Python311/site-packages"
    disk.at(f"~/AppData/Local/Packages/{own}").mkdir(parents=True)
    found = facts_of(disk, PATH=folder).target
    assert found.interpreter.need().kind == "store"
    assert found.site_packages.need()[0] == f"~/AppData/Local/Packages/{own}"


def test_an_embedded_python(disk):
    python(disk, "3.11.9", "C:/embedded")
    disk.put("C:/embedded/python311._pth", "python311.zip\n.\n")
    assert facts_of(disk, python="C:/embedded").target.interpreter.need().kind == "embedded"


def test_conda_by_its_package_list(disk):
    python(disk, "3.10.4", "C:/miniconda3")
    disk.put("C:/miniconda3/conda-meta/python-3.10.4-hbb2ffb3_0.json", "{}")
    disk.put("C:/miniconda3/conda-meta/cudatoolkit-11.2.2-h7d7167e_11.json", "{}")
    found = facts_of(disk, CONDA_PREFIX="C:\\miniconda3")
    assert (found.target.interpreter.need().kind, found.target.interpreter.need().version) == ("conda", "3.10.4")
    assert [(t.kind, t.toolkit_cuda.need()) for t in found.toolkits.toolkits.need()] == [("conda", "11.2")]


def test_none_at_all(disk):
    assert isinstance(facts_of(disk).target.interpreter, Unknown)
    assert isinstance(facts_of(disk, PATH="C:\\Windows").target.interpreter, Absent)


@pytest.mark.parametrize("given", ["C:/nowhere", "C:/Windows", "relative/python", "..\\..\\python.exe", "C:"])
def test_a_python_that_is_none_is_said_so(disk, given):
    assert isinstance(facts_of(disk, python=given).target.interpreter, Unknown)
