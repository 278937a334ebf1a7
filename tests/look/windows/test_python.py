"""Pythons of a Windows machine: python.org, venv, conda, the Store, embedded."""

from gpuwhy.facts.fact import Absent, Unknown
from gpuwhy.facts.facts import Facts
from tests.look.windows.seen import facts_of
from tests.windows.trees import Disk, made, python

VENV = "C:/job/env"


def venv(disk: Disk, system_too: str = "false") -> str:
    home = python(disk).removesuffix("/Lib/site-packages")
    rows = ("home = C:\\Python38", f"include-system-site-packages = {system_too}", "version = 3.8.10")
    text = "".join(f"{row}\r\n" for row in rows)
    disk.put(f"{VENV}/pyvenv.cfg", text)
    disk.put(f"{VENV}/Scripts/python.exe", made("Python"))
    disk.at(f"{VENV}/Lib/site-packages").mkdir(parents=True)
    return home


def paths(facts: Facts) -> list[str]:
    return [site.path for site in facts.environment.sites.need()]


def test_the_active_environment_wins_over_path(disk):
    home = venv(disk)
    found = facts_of(disk, VIRTUAL_ENV=VENV.replace("/", "\\"), PATH=home.replace("/", "\\"))
    one = found.environment.python.need()
    assert (one.path, one.version) == (f"{VENV}/Scripts/python.exe", "3.8.10")
    assert (one.kind, one.chosen_by) == ("venv", "VIRTUAL_ENV")
    assert paths(found) == [f"{VENV}/Lib/site-packages"]


def test_system_packages_come_after_those_of_the_environment(disk):
    venv(disk, "true")
    found = facts_of(disk, python=VENV, PATH="")
    assert paths(found) == [f"{VENV}/Lib/site-packages", "C:/Python38/Lib/site-packages"]


def test_the_alias_of_the_store_is_no_python(disk):
    disk.put("C:/stubs/python.exe", b"")
    python(disk)
    found = facts_of(disk, PATH=r"C:\stubs;C:\Python38").environment.python.need()
    assert found.path == "C:/Python38/python.exe"


def test_the_store_keeps_packages_in_a_folder_of_its_own(disk):
    name = "PythonSoftwareFoundation.Python.3.11"
    folder = f"C:/Program Files/WindowsApps/{name}_3.11.2544.0_x64__qbz5n2kfra8p0"
    python(disk, "3.11.9", folder)
    own = f"{name}_qbz5n2kfra8p0/LocalCache/local-packages/Python311/site-packages"
    disk.at(f"C:/Users/ann/AppData/Local/Packages/{own}").mkdir(parents=True)
    found = facts_of(disk, PATH=folder)
    assert found.environment.python.need().kind == "store"
    assert f"C:/Users/ann/AppData/Local/Packages/{own}" in paths(found)


def test_none_at_all(disk):
    assert isinstance(facts_of(disk).environment.python, Unknown)
    assert isinstance(facts_of(disk, PATH="C:\\Windows").environment.python, Absent)
    for given in ("C:/nowhere", "C:/Windows", "relative/python", "..\\..\\python.exe", "C:"):
        assert isinstance(facts_of(disk, python=given).environment.python, Unknown), given
