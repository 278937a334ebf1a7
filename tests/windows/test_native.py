"""gpuwhy itself, run by a Windows Python under Wine.

    WINEPREFIX=FOLDER GPUWHY_WINDOWS_PYTHON=C:/Python311/python.exe pytest -m wine tests/windows/test_native.py

That Python needs msgspec for Windows in its site-packages; gpuwhy is taken from this tree.
"""

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


def run(code: str, *arguments: str, encoding: str = "utf-8") -> subprocess.CompletedProcess[str]:
    start = f"import sys; sys.path.insert(0, {SOURCE!r}); {code}"
    return subprocess.run(
        ["wine", PYTHON, "-c", start, *arguments],
        env={**os.environ, "WINEDEBUG": "-all"},
        cwd=Path(os.environ["WINEPREFIX"]) / "drive_c",
        capture_output=True, text=True, encoding=encoding, timeout=120, check=False,
    )  # fmt: skip


def gpuwhy(*arguments: str, encoding: str = "utf-8") -> subprocess.CompletedProcess[str]:
    return run("from gpuwhy.__main__ import main; sys.exit(main())", *arguments, encoding=encoding)


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


COMMANDS = {
    "code": (["code", "100"], 0, "CUDA_ERROR_NO_DEVICE"),
    "cause": (["cause", "cudnn.missing"], 0, "# cudnn.missing"),
    "releases": (["releases", "tensorflow-gpu", "--platform", "windows-x86_64"], 0, "2.10.1"),
    "explain": (["explain", "log.txt", "--log-only"], 1, "cudnn.missing"),
    "explain here": (["explain", "log.txt"], 1, "cudnn"),
    "inspect": (["inspect", "C:/windows/system32/msvcp140.dll"], 0, "a shared library"),
    "nothing to explain": (["explain", "none.txt"], 2, "cannot read none.txt"),
    "no such Python": (["check", "--python", "C:/nowhere"], 2, "no such file or folder"),
    "run": (["run", "--", "cmd", "/c", "echo"], 2, "gpuwhy run works on Linux"),
    "disk": (["check", "--root", "C:/"], 0, "as far as files tell"),
}


@pytest.fixture
def log():
    """A log in the folder that commands are started in."""
    file = Path(os.environ["WINEPREFIX"]) / "drive_c" / "log.txt"
    file.write_text("Could not load dynamic library 'cudnn64_7.dll'; dlerror: cudnn64_7.dll not found\n")
    yield
    file.unlink()


@pytest.mark.parametrize("encoding", ["cp1252", "cp437", "utf-8"])
@pytest.mark.parametrize("name", COMMANDS)
def test_commands(log, monkeypatch, name, encoding):
    argv, code, words = COMMANDS[name]
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    done = gpuwhy(*argv, encoding=encoding)
    assert done.returncode == code, done.stderr
    assert words in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert "\ufffd" not in done.stdout


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
