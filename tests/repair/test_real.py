"""Proposals really installed and broken environments really repaired; gigabytes, so `pytest -m real tests/repair`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gpuwhy.app import Options, Run, live_host
from gpuwhy.choose import Choice, choose
from gpuwhy.model.facts import Facts
from gpuwhy.plan.describe import described
from gpuwhy.plan.requirements import from_words

from . import wheels

pytestmark = [pytest.mark.real, pytest.mark.skipif(not wheels.UV, reason="no uv")]

PROPOSALS = [
    ("tensorflow", "580.95.05", "H200", "3.12", "tensorflow"),
    ("tensorflow==2.15.*", "535.183.01", "A100", "3.11", "tensorflow"),
    ("tensorflow==2.10.*", "535.183.01", "Tesla V100", "3.10", "tensorflow"),
    ("torch==2.5.1", "550.54.15", "A100", "3.11", "torch"),
    ("jax", "550.54.15", "A100", "3.12", "jax"),
    ("onnxruntime-gpu", "580.95.05", "H200", "3.11", "onnxruntime"),
]
"""A wish, the machine it is for, and what is imported then."""


@pytest.fixture
def env(tmp_path):
    """A folder for environments, removed at once: they are large."""
    yield tmp_path
    shutil.rmtree(tmp_path, ignore_errors=True)


def interpreter(version: str) -> str:
    """A Python of that version: on PATH, or one of pyenv's."""
    root = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser()
    ours = sorted(root.glob(f"versions/{version}.*/bin/python"))
    found = str(ours[-1]) if ours else shutil.which(f"python{version}")
    return found or pytest.skip(f"no Python {version}")


def install(folder: Path, python: str, *wanted: str) -> Path:
    call = {"check": True, "capture_output": True, "text": True, "timeout": 1800}
    subprocess.run([wheels.UV, "venv", "--no-project", "--python", interpreter(python), str(folder)], **call)
    for words in (w.split() for w in wanted):
        subprocess.run([wheels.UV, "pip", "install", "--python", f"{folder}/bin/python", *words], **call)
    return folder


def imports(folder: Path, module: str) -> str:
    code = f"import {module}; print({module}.__version__)"
    environ = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        [f"{folder}/bin/python", "-c", code], capture_output=True, text=True, timeout=600, env=environ
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.split()[-1]


def facts_of(folder: Path) -> Facts:
    return Run(live_host(), Options(python=str(folder))).facts


def unfound(facts: Facts, framework: str) -> list[str]:
    """Libraries of the framework that the loader would not find; ONNX Runtime looks for its own after a call only."""
    needs = [n for n in facts.loads.needs.need() or () if n.framework == framework and not n.optional]
    return [n.name for n in needs if n.found.need() is None]


def proposal(wish: str, driver: str, gpu: str, python: str) -> Choice:
    found = choose(described(tuple(from_words([wish])), driver, (gpu,), python))
    assert found.fits
    return found


@pytest.mark.parametrize("wish, driver, gpu, python, module", PROPOSALS, ids=[row[0] for row in PROPOSALS])
def test_a_proposal_installs_loads_and_imports(env, wish, driver, gpu, python, module):
    found = proposal(wish, driver, gpu, python)
    wanted = [*(c.requirement for c in found.picks), *(cap.requirement for cap in found.bounds)]
    made = install(env / "env", found.python, " ".join(wanted))
    facts = facts_of(made)
    installed = {d.name: d.version for d in facts.target.distributions.need() or ()}
    for one in (*found.picks, *found.libraries):
        assert installed[one.package] == one.version or one in found.libraries, one
    assert imports(made, module).partition("+")[0] == next(c.version for c in found.picks if c.asked)
    (framework,) = [f for f in facts.target.frameworks.need() or () if f.name == module]
    assert framework.gpu_build.need() is True
    missing = unfound(facts, module)
    if found.needs:
        assert missing, "what the system has to bring is not in the wheels"
    elif module != "onnxruntime":
        assert missing == []
    assert not Run(live_host(), Options(python=str(made))).report().causes


def fix(*argv: str) -> dict:
    command = [sys.executable, "-m", "gpuwhy", "fix", *argv, "--apply", "--yes", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr[-3000:] + done.stdout[-2000:]
    applied: dict = json.loads(done.stdout)["applied"]
    return applied


def test_a_truncated_cudnn_is_written_anew_in_place(env):
    made = install(env / "env", "3.11", "torch==2.5.1 numpy")
    wheels.damage(made, "nvidia/cudnn/lib/libcudnn_graph.so.9")
    applied = fix("--python", str(made), "--in-place")
    assert applied["before"]["causes"] == ["install.corrupted"]
    assert applied["after"]["causes"] == []
    assert imports(made, "torch") == "2.5.1+cu124"
    assert not unfound(facts_of(made), "torch")


def test_a_cpu_flavour_over_tensorflow_is_taken_out_in_a_copy(env):
    made = install(env / "env", "3.12", "tensorflow[and-cuda]==2.20.0", "tensorflow-cpu==2.20.0 --no-deps")
    applied = fix("install.conflict", "--python", str(made))
    assert applied["environment"] == f"{made}-gpuwhy"
    assert applied["changed"] == ["tensorflow-cpu 2.20.0 → –"]
    facts = facts_of(Path(applied["environment"]))
    (framework,) = [f for f in facts.target.frameworks.need() or () if f.name == "tensorflow"]
    assert framework.gpu_build.need() is True
    assert not unfound(facts, "tensorflow")
    assert imports(Path(applied["environment"]), "tensorflow") == "2.20.0"
    assert "tensorflow_cpu-2.20.0" in wheels.releases(made), "the old one is as it was"


def test_onnxruntime_over_its_gpu_build_is_taken_out_in_place(env):
    made = install(env / "env", "3.11", "onnxruntime-gpu[cuda,cudnn]==1.31.1", "onnxruntime==1.31.1 --no-deps")
    applied = fix("install.conflict", "--python", str(made), "--in-place")
    assert applied["after"]["causes"] == []
    code = "import onnxruntime as o; print('CUDAExecutionProvider' in o.get_available_providers())"
    done = subprocess.run([f"{made}/bin/python", "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.split()[-1] == "True", done.stderr


def test_the_folder_that_tensorflow_lost_is_found_after_activation(env):
    """The cause needs a GPU to be shown; the action alone is carried out here, and the loader asked again."""
    from gpuwhy.model.repair import Action
    from gpuwhy.repair.apply import in_place
    from gpuwhy.repair.installer import Installer
    from gpuwhy.repair.patient import patient

    made = install(env / "env", "3.12", "tensorflow[and-cuda]==2.21.0")
    host = live_host()
    facts = Run(host, Options(python=str(made))).facts
    assert unfound(facts, "tensorflow") == ["libcusolver.so.11"]
    folder = str(wheels.site(made) / "nvidia/cusolver/lib")
    installer = Installer(dict(os.environ), 60, lambda _: None)
    in_place(patient(host, facts, True), [Action(folders=(folder,))], installer)
    script = f"source {made}/bin/activate; {sys.executable} -m gpuwhy check --json"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=120)
    needs = json.loads(done.stdout)["facts"]["loads"]["needs"]["value"]
    found = {need["name"]: need["found"].get("value") for need in needs if need["framework"] == "tensorflow"}
    assert found["libcusolver.so.11"] == f"{folder}/libcusolver.so.11"


def test_a_cpu_build_of_torch_gives_way_to_the_build_with_cuda(env):
    """The decision needs a GPU and is tested on recorded facts; the action replaces a stand-in for the CPU build."""
    from gpuwhy.model.repair import Action
    from gpuwhy.repair.apply import into_copy
    from gpuwhy.repair.installer import Installer
    from gpuwhy.repair.patient import patient

    wheels.wheel(env, "torch", "2.5.1+cpu", {"torch/version.py": b"__version__ = '2.5.1+cpu'\ncuda = None\n"})
    cpu = next(env.glob("torch-*.whl"))
    made = install(env / "env", "3.11", f"{cpu} numpy pillow", "torchvision==0.20.1 --no-deps")
    host = live_host()
    one = patient(host, Run(host, Options(python=str(made))).facts, False)
    installer = Installer(dict(os.environ), 1800, lambda _: None)
    left = into_copy(one, [Action(("torch==2.5.1",), ("torch",))], installer, f"{made}-gpuwhy")
    facts = facts_of(Path(left.environment))
    (framework,) = [f for f in facts.target.frameworks.need() or () if f.name == "torch"]
    assert framework.gpu_build.need() is True
    assert not unfound(facts, "torch")
    assert imports(Path(left.environment), "torchvision").startswith("0.20.1")
    assert "torch-2.5.1+cpu" in wheels.releases(made), "the old one is as it was"
