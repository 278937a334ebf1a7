"""Proposals as a user installs them: `plan --write`, uv, import, and gpuwhy's own word; gigabytes, one after another.

pytest -m real tests/plan/test_install.py -s --basetemp FOLDER     FOLDER on the disk of uv's cache: files are linked
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

UV = shutil.which("uv")
pytestmark = [pytest.mark.real, pytest.mark.skipif(not UV, reason="no uv")]

CASES = {
    "tensorflow": ("tensorflow --driver 580.95.05 --gpu H200", "tensorflow"),
    "tensorflow-2.15": ("tensorflow==2.15 --driver 535.183.01 --gpu A100", "tensorflow"),
    "torch": ("torch --driver 580.95.05 --gpu H200", "torch"),
    "torch-glibc-2.17": ("torch --driver 550.54.15 --gpu V100 --glibc 2.17", "torch"),
    "torch-old": ("torch==1.12.1 torchvision torchaudio --driver 470 --gpu V100", "torch torchvision torchaudio"),
    "jax-cuda12": ("jax --driver 550.54.15 --gpu A100", "jax jax_plugins.xla_cuda12"),
    "jax-cuda13": ("jax --driver 580.95.05 --gpu H200", "jax jax_plugins.xla_cuda13"),
    "onnxruntime": ("onnxruntime-gpu --driver 580.95.05 --gpu H200", "onnxruntime"),
    "cupy-onnxruntime": ("cupy onnxruntime-gpu --driver 580.95.05 --gpu H200", "cupy onnxruntime"),
}
"""The words of `gpuwhy plan`, and what is imported after the installation."""

DRIVER = {"libcuda.so.1", "libnvidia-ml.so.1"}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Removed at once: environments are large."""
    yield tmp_path
    shutil.rmtree(tmp_path, ignore_errors=True)


def gpuwhy(*words: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "gpuwhy", *words, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def interpreter(version: str) -> str:
    """A Python of that version: one of pyenv's, or on PATH."""
    root = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser()
    ours = sorted(root.glob(f"versions/{version}.*/bin/python"))
    found = str(ours[-1]) if ours else shutil.which(f"python{version}")
    return found or pytest.skip(f"no Python {version}")


def uv(folder: Path, *words: str) -> None:
    done = subprocess.run([str(UV), *words], cwd=folder, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("case", CASES)
def test_a_proposal_that_is_installed_loads(case: str, folder: Path):
    words, modules = CASES[case]
    made = gpuwhy("plan", *words.split(), "--write", str(folder))["proposal"]
    started = time.monotonic()
    uv(folder, "venv", "-q", "--no-project", "--python", interpreter(made["python"]), ".venv")
    files = ("-r", "requirements.txt", "-c", "constraints.txt")
    uv(folder, "pip", "install", "-q", "--python", ".venv/bin/python", *files)
    took = time.monotonic() - started
    environment = str(folder / ".venv")
    imported(environment, modules.split())
    causes = [c["id"] for c in gpuwhy("check", "--python", environment)["causes"]]
    assert [c for c in causes if not c.startswith(("driver.", "device.", "container."))] == []
    seen = gpuwhy("inspect", environment)
    missing = {m["name"] for m in seen["missing"]} - DRIVER
    if any(note for note in made["notes"] if "preload_dlls" in note):
        missing -= preloaded(environment)
    assert (missing, seen["unmet"], seen["unmet_versions"]) == (set(), [], [])
    named = ", ".join(c["requirement"] for c in made["choices"])
    print(f"\n{named} on Python {made['python']}: {len(seen['libraries'])} libraries, installed in {took:.0f} s")


def preloaded(environment: str) -> set[str]:
    """What ONNX Runtime itself loads when it is told to look into its environment."""
    code = "import onnxruntime; onnxruntime.preload_dlls(); print(open('/proc/self/maps').read())"
    return {line.rpartition("/")[2] for line in inside(environment, code).splitlines()}


def imported(environment: str, modules: list[str]) -> None:
    inside(environment, "; ".join(f"import {module}" for module in modules))


def inside(environment: str, code: str) -> str:
    """What a program prints in the interpreter that the set is for, away from the folder of this repository."""
    plain = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "LD_LIBRARY_PATH")}
    command = [f"{environment}/bin/python", "-c", code]
    done = subprocess.run(command, cwd=environment, env=plain, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
