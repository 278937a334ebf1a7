"""The DLL search judged by Wine: small programs built with mingw-w64 say which file is taken.

    WINEPREFIX=FOLDER pytest -m wine tests/windows

Each law is a layout of folders and a few calls; the model's answer must be Wine's.
"""

import os
import shutil
import subprocess
import uuid
from pathlib import Path

import msgspec
import pytest

from gpuwhy.machine.windows import WindowsDiskMachine, drives_of
from gpuwhy.loader.windows import ALTERED, LISTED, LISTED_OWN, PLAIN, WindowsWorld, split_path
from gpuwhy.loader.outcome import other
from gpuwhy.loader.windows import WindowsProcess

pytestmark = [
    pytest.mark.wine,
    pytest.mark.skipif(
        not (shutil.which("wine") and shutil.which("x86_64-w64-mingw32-gcc")), reason="needs wine and mingw-w64"
    ),
    pytest.mark.skipif("WINEPREFIX" not in os.environ, reason="needs WINEPREFIX, a Wine folder to work in"),
]
CALLS = {"plain": PLAIN, "altered": ALTERED, "listed": LISTED, "listed_own": LISTED_OWN}


class Place:
    """A folder on the C: drive of the Wine prefix, with the program in app/."""

    def __init__(self, kit: Path) -> None:
        self.kit, self.prefix = kit, Path(os.environ["WINEPREFIX"])
        self.name = f"gpuwhy-{uuid.uuid4().hex[:8]}"
        self.real = self.prefix / "drive_c" / self.name
        self.put("judge.exe", "app")

    def put(self, name: str, folder: str, source: str = "") -> None:
        (self.real / folder).mkdir(parents=True, exist_ok=True)
        shutil.copy(self.kit / (source or name), self.real / folder / name)

    def path(self, below: str) -> str:
        return f"C:/{self.name}/{below}"

    def wine(self, calls: list[tuple[str, str]], path: list[str], folder: str) -> list[str]:
        words = [word.replace("/", "\\") if "/" in word else word for call in calls for word in call]
        environ = {**os.environ, "WINEDEBUG": "-all", "WINEPATH": ";".join(map(self.path, path))}
        said = subprocess.run(
            ["wine", str(self.real / "app/judge.exe"), *words],
            env=environ, cwd=self.real / folder, capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        return [line.partition(" ")[2].replace("\\", "/").lower() for line in said.stdout.splitlines()]

    def model(self, calls: list[tuple[str, str]], path: list[str], folder: str) -> list[str]:
        host = WindowsDiskMachine(drives_of(str(self.prefix)))
        world = WindowsWorld(
            host, "x86_64", self.path("app"), tuple(map(self.path, path)), "C:/windows", self.path(folder)
        )
        process, out = WindowsProcess(world), []
        for how, name in calls:
            if how == "add":
                process.add_folder(name, other("added"))
            elif how == "folder":
                process.world = msgspec.structs.replace(process.world, folder=name)
            elif how == "where":
                found = process.get(name)
                out.append(f"ok {found.path}".lower() if found else "error 126")
            else:
                before = len(process.missing)
                found = process.load(name, CALLS[how])
                refused = process.missing[-1].refused if len(process.missing) > before else None
                why = str(refused.met) if refused else "not found"
                out.append(f"ok {found.path}".lower() if found else "error 126" if why == "not found" else "error 193")
        return out


@pytest.fixture
def place(kit):
    place = Place(kit)
    for folder in ("cwd", "one", "two", "extra", "lib"):
        (place.real / folder).mkdir()
    yield place
    shutil.rmtree(place.real)


EVERYWHERE = ["app", "cwd", "one", "two", "extra"]
LAWS = {
    "plain_takes_the_program_folder_first": (EVERYWHERE, [("plain", "gwa.dll")]),
    "plain_takes_the_current_folder_before_path": (["cwd", "one", "extra"], [("plain", "gwa.dll")]),
    "plain_takes_path_in_order": (["two", "one"], [("plain", "gwa.dll")]),
    "plain_does_not_look_in_added_folders": (["extra"], [("add", "{extra}"), ("plain", "gwa.dll")]),
    "altered_with_a_bare_name_is_plain": (["one"], [("altered", "gwa.dll")]),
    "altered_with_a_bare_name_takes_the_program_folder": (["app", "one"], [("altered", "gwa.dll")]),
    "plain_adds_dll_to_a_name": (["one"], [("plain", "gwa")]),
    "plain_upper_case": (["one"], [("plain", "GWA.DLL")]),
    "listed_sees_neither_path_nor_current_folder": (["cwd", "one"], [("listed", "gwa.dll")]),
    "listed_takes_added_folders": (["cwd", "one", "extra"], [("add", "{extra}"), ("listed", "gwa.dll")]),
    "listed_takes_program_folder_before_added": (["app", "extra"], [("add", "{extra}"), ("listed", "gwa.dll")]),
    "a_missing_file": ([], [("plain", "gwa.dll"), ("listed", "gwa.dll"), ("altered", "{lib}/gwa.dll")]),
    "a_loaded_name_is_not_searched_again": (["one", "cwd"], [("plain", "{one}/gwa.dll"), ("plain", "gwa.dll")]),
    "the_changed_current_folder_counts": (["one", "extra"], [("folder", "{extra}"), ("plain", "gwa.dll")]),
}
NEEDS = {
    "by_path_plain_does_not_look_beside_it": (["lib"], [("plain", "{lib}/gwb.dll")]),
    "by_path_plain_finds_its_need_on_path": (["lib", "one"], [("plain", "{lib}/gwb.dll"), ("where", "gwa.dll")]),
    "altered_looks_beside_it": (["lib", "one"], [("altered", "{lib}/gwb.dll"), ("where", "gwa.dll")]),
    "altered_leaves_out_the_program_folder": (["app"], [("altered", "{lib}/gwb.dll")]),
    "altered_finds_its_need_on_path": (["one"], [("altered", "{lib}/gwb.dll"), ("where", "gwa.dll")]),
    "listed_own_looks_beside_it_first": (["lib", "app"], [("listed_own", "{lib}/gwb.dll"), ("where", "gwa.dll")]),
    "listed_own_does_not_see_path": (["one", "cwd"], [("listed_own", "{lib}/gwb.dll")]),
    "listed_own_sees_added_folders": (
        ["one", "extra"],
        [("add", "{extra}"), ("listed_own", "{lib}/gwb.dll"), ("where", "gwa.dll")],
    ),
    "listed_does_not_look_beside_it": (["lib"], [("listed", "{lib}/gwb.dll")]),
    "a_loaded_need_is_taken": (
        ["one"],
        [("plain", "{one}/gwa.dll"), ("listed_own", "{lib}/gwb.dll"), ("where", "gwa.dll")],
    ),
    "a_failed_load_leaves_nothing": ([], [("plain", "{lib}/gwb.dll"), ("where", "gwb.dll")]),
}


def filled(place: Place, calls: list[tuple[str, str]]) -> list[tuple[str, str]]:
    names = {name: place.path(name) for name in ("lib", "one", "extra")}
    return [(how, name.format(**names)) for how, name in calls]


@pytest.mark.parametrize("law", LAWS)
def test_a_name(place, law):
    folders, calls = LAWS[law]
    for folder in folders:
        place.put("gwa.dll", folder)
    asked = filled(place, calls)
    assert place.model(asked, ["one", "two"], "cwd") == place.wine(asked, ["one", "two"], "cwd")


@pytest.mark.parametrize("law", NEEDS)
def test_what_a_library_needs(place, law):
    folders, calls = NEEDS[law]
    place.put("gwb.dll", "lib")
    for folder in folders:
        place.put("gwa.dll", folder)
    asked = filled(place, calls)
    assert place.model(asked, ["one", "two"], "cwd") == place.wine(asked, ["one", "two"], "cwd")


@pytest.mark.parametrize("damage", ["text", "empty", "half", "folder", "arm64", "i386"])
def test_a_damaged_file_before_a_good_one(place, damage):
    place.put("gwa.dll", "two")
    bad = place.real / "one" / "gwa.dll"
    if damage == "folder":
        bad.mkdir()
    elif damage in ("arm64", "i386"):
        place.put("gwa.dll", "one", f"{damage}.dll")
    else:
        whole = (place.kit / "gwa.dll").read_bytes()
        bad.write_bytes({"text": b"not a library\n", "empty": b"", "half": whole[: len(whole) // 2]}[damage])
    asked = [("plain", "gwa.dll")]
    model, wine = place.model(asked, ["one", "two"], "cwd"), place.wine(asked, ["one", "two"], "cwd")
    assert model == [line if line.startswith("ok") else "error 193" for line in wine], wine


def test_a_library_whose_start_fails_gives_1114(place):
    place.put("gwno.dll", "one")
    assert place.wine([("plain", "gwno.dll")], ["one"], "cwd") == ["error 1114"]


@pytest.mark.parametrize("first", [True, False], ids=["before the cut", "behind it"])
def test_path_is_cut_at_its_longest(place, first):
    """Wine hands a program 32767 characters of PATH and no more, as Microsoft's documents say of Windows."""
    place.put("gwa.dll", "one")
    pads = [f"C:\\pad\\{'x' * 240}{n:04d}" for n in range(130)]
    own = place.path("one").replace("/", "\\")
    text = ";".join([own, *pads] if first else [*pads, own])
    environ = {**os.environ, "WINEDEBUG": "-all", "WINEPATH": text}
    said = subprocess.run(
        ["wine", str(place.real / "app/judge.exe"), "plain", "gwa.dll"],
        env=environ, cwd=place.real / "cwd", capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert (" ok " in said.stdout) == first
    assert (place.path("one") in split_path(text)) == first


def test_app_paths_are_not_for_a_program_that_is_started_by_its_path(place):
    key = r"HKLM\Software\Microsoft\Windows\CurrentVersion\App Paths\judge.exe"
    run = {"env": {**os.environ, "WINEDEBUG": "-all"}, "check": True, "capture_output": True, "timeout": 60}
    place.put("gwa.dll", "one")
    folder = place.path("one").replace("/", "\\")
    subprocess.run(["wine", "reg", "add", key, "/v", "Path", "/t", "REG_SZ", "/d", folder, "/f"], **run)
    try:
        assert place.wine([("plain", "gwa.dll")], [], "cwd") == ["error 126"]
    finally:
        subprocess.run(["wine", "reg", "delete", key, "/f"], **run)
