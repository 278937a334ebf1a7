"""An environment of traps: everything in it that could run leaves a mark, and none does."""

import os
import stat
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from gpuwhy.facts.fact import Known, Unknown
from gpuwhy.look.look import LOOKS, Options, look
from gpuwhy.machine.live import LiveMachine
from gpuwhy.machine.recording import RecordingMachine

pytestmark = pytest.mark.skipif(os.name == "nt", reason="shell scripts as traps")


def trap(marks: Path, name: str) -> str:
    return f"open({str(marks / name)!r}, 'w').close()\n"


@pytest.fixture
def trapped(tmp_path: Path) -> tuple[Path, Path]:
    """An environment, and the folder where its marks would be."""
    marks, folder = tmp_path / "marks", tmp_path / "env"
    marks.mkdir()
    venv.create(folder, with_pip=False, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    for name in ("torch", "tensorflow", "numpy", "keras", "jax"):
        package = site / name
        package.mkdir()
        for file in ("__init__.py", "version.py", "_version.py"):
            (package / file).write_text(trap(marks, f"{name}-{file}") + "cuda = '12.4'\n")
        info = site / f"{name}-2.6.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Name: {name}\nVersion: 2.6.0\nRequires-Dist: gone\n")
        (info / "RECORD").write_text(f"{name}/__init__.py,sha256=x,1\n{name}/version.py,,\n")
    (site / "a.pth").write_text(f"import os; {trap(marks, 'pth')}")
    (site / "sitecustomize.py").write_text(trap(marks, "sitecustomize"))
    (site / "usercustomize.py").write_text(trap(marks, "usercustomize"))
    shell = f"#!/bin/sh\ntouch {marks}/NAME\nexit 1\n"
    for name in ("python", "python3", "activate", "torchrun", "nvidia-smi", "nvcc", "gcc", "conda"):
        place = folder / "bin" / name
        place.unlink(missing_ok=True)
        place.write_text(shell.replace("NAME", name))
        place.chmod(0o755)
    return folder, marks


def test_the_traps_work(trapped: tuple[Path, Path]) -> None:
    """Else the next test proves nothing."""
    folder, marks = trapped
    (site,) = folder.glob("lib/python*/site-packages")
    run = "import site, sys; site.addsitedir(sys.argv[1])"
    subprocess.run([sys.executable, "-I", "-S", "-c", run, str(site)], check=False)
    subprocess.run([folder / "bin/python"], check=False)
    assert {one.name for one in marks.iterdir()} >= {"pth", "python"}


@pytest.mark.parametrize("files", ["some", "all"])
def test_nothing_of_the_environment_is_executed(
    trapped: tuple[Path, Path], files: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, marks = trapped
    (site,) = folder.glob("lib/python*/site-packages")
    before = tree(folder)
    variables = {
        "VIRTUAL_ENV": str(folder),
        "PATH": f"{folder}/bin:/usr/bin:/bin",
        "PYTHONPATH": str(site),
        "HOME": str(folder.parent),
        "CC": f"{folder}/bin/gcc",
        "TORCH_LOGS": "nonsense",
        "KERAS_BACKEND": "nonsense",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    machine = RecordingMachine(LiveMachine({**os.environ, **variables}))
    facts = look(machine, Options(folder=str(folder), files=files))  # type: ignore[arg-type]
    python = facts.environment.python
    assert isinstance(python, Known)
    assert python.value.path == f"{folder}/bin/python"
    assert isinstance(facts.environment.packages, Known)
    for step in LOOKS:
        record = getattr(facts, step.place.partition(".")[0])
        facts_of = [getattr(record, name) for name in record.__struct_fields__]
        failed = [f.reason for f in facts_of if isinstance(f, Unknown) and "failed" in f.reason]
        assert failed == []
    assert list(marks.iterdir()) == []
    assert tree(folder) == before


def tree(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file with its size and mode: nothing is written either."""
    found = {}
    for path in folder.rglob("*"):
        status = path.lstat()
        found[str(path)] = (status.st_size if path.is_file() else 0, stat.S_IFMT(status.st_mode))
    return found
