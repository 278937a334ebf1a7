"""What only looks runs nothing of the environment and writes nothing: whatever of it could be run is a trap."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the traps are scripts of a shell")

SHORT = f"python{sys.version_info[0]}.{sys.version_info[1]}"
NOT_TRIED_LINE = "Not tried  importing the frameworks: gpuwhy check --import"
NOT_TRIED = "not tried: importing the packages (gpuwhy check --import)"


class Traps(NamedTuple):
    """An environment full of traps, a home folder and a working folder, and where a trap leaves its mark."""

    env: Path
    home: Path
    here: Path
    marks: Path

    def set_off(self) -> set[str]:
        """The traps that something ran into."""
        return {one.name for one in self.marks.iterdir()}

    def state(self) -> dict[str, tuple[int, int, int]]:
        """Every file and folder, with the time of its last change, its size and its mode."""
        every = [path for top in (self.env, self.home, self.here) for path in (top, *top.rglob("*"))]
        return {str(path): (path.lstat().st_mtime_ns, path.lstat().st_size, path.lstat().st_mode) for path in every}

    def gpuwhy(self, *argv: str, stdin: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
        """What `gpuwhy` said, started in the working folder."""
        environ = {"PATH": f"{self.env}/bin:/usr/bin:/bin", "HOME": str(self.home), "COLUMNS": "100", **variables}
        call = [sys.executable, "-I", "-B", "-m", "gpuwhy", *argv]
        return subprocess.run(
            call, env=environ, cwd=self.here, input=stdin, capture_output=True, text=True, timeout=200
        )


def write(path: Path, text: str, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


def package(site: Path, name: str, version: str, marks: Path, files: dict[str, str]) -> None:
    """An installed package whose import is a trap, with a command."""
    files = {f"{name}/__init__.py": f"open({str(marks / f'import-{name}')!r}, 'w')\n", **files}
    info = f"{name}-{version}.dist-info"
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    files[f"{info}/entry_points.txt"] = f"[console_scripts]\n{name}-tool = {name}:main\n"
    for inside, text in files.items():
        write(site / inside, text)
    write(site / info / "RECORD", "".join(f"{one},,\n" for one in (*files, f"{info}/RECORD")))


@pytest.fixture(params=["venv", "bare", "script"])
def traps(request: pytest.FixtureRequest, tmp_path: Path) -> Traps:
    """Of three kinds: a virtual environment, one without its pyvenv.cfg, and one whose Python is a shell script."""
    env, home, here, marks = (tmp_path / name for name in ("env", "home", "here", "marks"))
    for folder in (home, here, marks):
        folder.mkdir()
    site = env / "lib" / SHORT / "site-packages"
    torch = {"torch/version.py": f"__version__ = '2.6.0'\ncuda = None\nopen({str(marks / 'version')!r}, 'w')\n"}
    package(site, "torch", "2.6.0", marks, torch)
    package(site, "trap", "1.0", marks, {})
    write(site / "trap.pth", f"import os; open({str(marks / 'pth')!r}, 'w')\n")
    for place in (site, home / ".local" / "lib" / SHORT / "site-packages", here):
        for name in ("sitecustomize", "usercustomize"):
            write(place / f"{name}.py", f"open({str(marks / f'{name}-{place.parent.name}')!r}, 'w')\n")
    touch = f": > {marks}/"
    for name in ("activate", "trap-tool", "torch-tool", "pip", "uv", "conda", "nvidia-smi", "modinfo", "dmesg"):
        write(env / "bin" / name, f"#!/bin/sh\nexport TRAPPED=1\n{touch}bin-{name}\n", 0o755)
    write(env / "etc" / "conda" / "activate.d" / "more.sh", f"export MORE=1\n{touch}activate.d\n")
    real = os.path.realpath(sys.executable)
    if request.param == "script":
        write(env / "bin" / "python", f'#!/bin/sh\n{touch}interpreter\nPYTHONPATH={site} exec {real} "$@"\n', 0o755)
    else:
        (env / "bin" / "python").symlink_to(real)
    (env / "bin" / "python3").symlink_to("python")
    if request.param != "bare":
        release = ".".join(map(str, sys.version_info[:3]))
        write(env / "pyvenv.cfg", f"home = {os.path.dirname(real)}\nversion = {release}\n")
    (here / ".venv").symlink_to(env)
    return Traps(env, home, here, marks)


LOG = "RuntimeError: CUDA error: no kernel image is available for execution on the device\n"
LOOKS = {
    "check": ["check", "--python", "ENV"],
    "check the executable": ["check", "--python", "ENV/bin/python"],
    "check a command": ["check", "--python", "ENV/bin/trap-tool"],
    "check what the shell has": ["check"],
    "no command": [],
    "no import": ["check", "--no-import", "-v"],
    "json": ["check", "--json", "--python", "ENV"],
    "verify": ["check", "--verify", "--python", "ENV"],
    "node": ["check", "--jsonl"],
    "health": ["check", "--health", "nhc"],
    "as if": ["check", "--gpu", "A100", "--driver", "550"],
    "fix": ["fix", "--python", "ENV"],
    "explain": ["explain", "--python", "ENV", "-"],
    "inspect": ["inspect", "ENV"],
    "plan": ["plan", "torch"],
    "record": ["record", "--python", "ENV", "-"],
    "report": ["report", "--markdown", "--python", "ENV"],
}


@pytest.mark.parametrize("name", LOOKS)
def test_nothing_of_the_environment_is_run_and_nothing_is_written(traps: Traps, name: str) -> None:
    argv = [word.replace("ENV", str(traps.env)) for word in LOOKS[name]]
    before = traps.state()
    done = traps.gpuwhy(*argv, stdin=LOG, VIRTUAL_ENV=str(traps.env))
    assert done.returncode in (0, 1, 2, 4), done.stderr
    assert traps.set_off() == set()
    assert traps.state() == before


def test_the_python_functions_run_nothing_either(traps: Traps) -> None:
    code = f"import gpuwhy; print(gpuwhy.check({str(traps.env)!r}).not_tried); gpuwhy.explain({LOG!r})"
    environ = {"PATH": f"{traps.env}/bin:/usr/bin:/bin", "HOME": str(traps.home), "VIRTUAL_ENV": str(traps.env)}
    before = traps.state()
    call = [sys.executable, "-I", "-B", "-c", code]
    done = subprocess.run(call, env=environ, cwd=traps.here, capture_output=True, text=True, timeout=100)
    assert "gpuwhy check --import" in done.stdout, done.stderr
    assert traps.set_off() == set()
    assert traps.state() == before


def test_the_last_line_says_what_was_not_tried(traps: Traps) -> None:
    said = traps.gpuwhy("check", "--python", str(traps.env))
    assert said.stdout.splitlines()[-1].split() == NOT_TRIED_LINE.split()
    told = json.loads(traps.gpuwhy("check", "--json", "--python", str(traps.env)).stdout)
    assert told["not_tried"] == [{"text": "importing the frameworks", "command": "gpuwhy check --import"}]


def test_the_traps_are_real(traps: Traps) -> None:
    """Whoever starts the environment's Python and imports its packages, sets them off."""
    code = f"import sys; sys.path.insert(0, {str(traps.env / 'lib' / SHORT / 'site-packages')!r}); import torch"
    subprocess.run([traps.env / "bin" / "python", "-c", code], capture_output=True, timeout=100)
    assert "import-torch" in traps.set_off()


@pytest.mark.parametrize("option", ["--import", "--deep"])
def test_imports_happen_in_a_sandbox(traps: Traps, option: str) -> None:
    """Asked for by name: the answer no longer names them as not tried, and nothing is written outside."""
    before = traps.state()
    said = traps.gpuwhy("check", option, "--python", str(traps.env))
    assert "Not tried" not in said.stdout
    told = json.loads(traps.gpuwhy("check", option, "--json", "--python", str(traps.env)).stdout)
    isolation = told["facts"]["imports"]["isolation"]
    if isolation.get("value", {}).get("writes") == "held":
        assert traps.set_off() == set()
        assert traps.state() == before
