"""gpuwhy itself, run by a Windows Python under Wine.

    WINEPREFIX=FOLDER GPUWHY_WINDOWS_PYTHON=C:/Python311/python.exe pytest -m wine tests/windows/test_native.py

That Python needs msgspec for Windows in its site-packages; gpuwhy is taken from this tree.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

PYTHON = os.environ.get("GPUWHY_WINDOWS_PYTHON", "")
pytestmark = [
    pytest.mark.wine,
    pytest.mark.skipif(not (shutil.which("wine") and PYTHON), reason="needs wine and GPUWHY_WINDOWS_PYTHON"),
]
SOURCE = "Z:" + str(Path(__file__).parents[2] / "src")


def run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    start = f"import sys; sys.path.insert(0, {SOURCE!r}); {code}"
    return subprocess.run(
        ["wine", PYTHON, "-c", start, *arguments],
        env={**os.environ, "WINEDEBUG": "-all"},
        cwd=Path(os.environ["WINEPREFIX"]) / "drive_c",
        capture_output=True, text=True, encoding="utf-8", timeout=120, check=False,
    )  # fmt: skip


def gpuwhy(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run("from gpuwhy.__main__ import main; sys.exit(main())", *arguments)


def test_check_runs_and_says_what_it_does_not_know():
    done = gpuwhy("check", "--json")
    assert done.returncode in (0, 1), done.stderr
    report = json.loads(done.stdout)
    assert report["schema"] == "gpuwhy.report/1"
    assert "please report it" not in done.stdout


def test_a_recording_names_nobody():
    done = gpuwhy("record")
    answers = json.loads(done.stdout)["answers"]
    assert answers["uname"]["value"]["system"] == "windows"
    user = os.environ.get("USER", "")
    assert not user or f"Users\\\\{user}" not in done.stdout


def test_the_commands_that_need_no_machine():
    assert "CUDA_ERROR_NO_DEVICE" in gpuwhy("code", "100").stdout
    assert "Linux" in gpuwhy("run", "cmd", "/c", "echo").stderr


ASKED = """
from gpuwhy.host.live import LiveHost
host = LiveHost()
root = "HKLM/SOFTWARE/Microsoft/Windows NT/CurrentVersion"
print(host.registry(root).need().values["CurrentVersion"])
print(host.registry("HKLM/SOFTWARE/No Such Key"))
print(host.real("c:/WINDOWS/system32/KERNEL32.dll").need())
print(host.pe("C:/windows/system32/kernel32.dll").need().machine)
print(host.read("/proc/version"))
print(host.disk("C:/").need().total > 0)
print(host.run("cmd", "/c", "echo hello").need().out.strip())
print(type(host.limit("NOFILE")).__name__)
"""


def test_the_questions_of_windows():
    done = run(f"exec({ASKED!r})")
    lines = done.stdout.splitlines()
    assert len(lines) == 8, done.stderr
    assert lines[0][0].isdigit()
    assert lines[1].startswith("Absent")
    assert lines[2].lower() == "c:/windows/system32/kernel32.dll"
    assert lines[3] == "x86_64"
    assert lines[4].startswith("Absent"), "a path of Linux is not read from the current drive"
    assert lines[5:] == ["True", "hello", "Unknown"]


CTYPES = """
import ctypes, os
def tried(name, **more):
    try:
        return "ok" if ctypes.CDLL(name, **more) else ""
    except OSError as error:
        return type(error).__name__
here = sys.argv[1]
os.environ["PATH"] = here + ";" + os.environ["PATH"]
print(tried("gwa.dll"), tried(here + "\\\\gwb.dll"), tried("gwb.dll"))
added = os.add_dll_directory(here)
print(tried("gwb.dll"))
"""


def test_ctypes_of_a_modern_python_does_not_search_path(kit):
    """What loader/windows_frameworks.py takes ctypes and add_dll_directory for."""
    folder = Path(os.environ["WINEPREFIX"]) / "drive_c" / "gpuwhy-ctypes"
    folder.mkdir()
    try:
        for name in ("gwa.dll", "gwb.dll"):
            shutil.copy(kit / name, folder / name)
        done = run(f"exec({CTYPES!r})", "C:\\gpuwhy-ctypes")
    finally:
        shutil.rmtree(folder)
    assert done.stdout.splitlines() == ["FileNotFoundError ok ok", "ok"], done.stderr
