"""Real CUDA libraries without a GPU, whole and broken: GPUWHY_LAB=/folder of virtual environments.

A broken copy is a folder of links to the real files: $ORIGIN is the folder of the path used.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gpuwhy.facts.probe import Stage
from gpuwhy.machine.live import LiveMachine
from gpuwhy.probe.stages import Stack
from gpuwhy.probe.walk import walk as walked

pytestmark = pytest.mark.real
FAMILIES = ("cudart", "cublas", "cublasLt", "cudnn", "nvrtc", "nccl")
LAB = Path(os.environ.get("GPUWHY_LAB", "/nonexistent"))
ENVIRONMENTS = sorted(
    path.parents[2] for path in LAB.glob("*/lib/python*/site-packages/nvidia/cudnn/lib/libcudnn.so.9")
)


def walk(libraries: dict[str, str]) -> dict[str, Stage]:
    host = LiveMachine({"PATH": os.environ["PATH"], "HOME": "/nonexistent"})
    done, _ = walked(host, Stack(libraries, ()), False, lambda _: None)
    return {stage.name: stage for stage in done}


@pytest.fixture(params=ENVIRONMENTS, ids=lambda path: path.relative_to(LAB).parts[0])
def nvidia(request):
    return request.param


def test_an_environment_without_a_gpu_goes_as_far_as_libraries_do(nvidia: Path):
    found = {family: sorted(nvidia.glob(f"*/lib/lib{family}.so.[0-9]*")) for family in FAMILIES}
    libraries = {family: str(paths[0]) for family, paths in found.items() if paths}
    stages = walk(libraries)
    assert stages["libcuda"].outcome == "failed"
    for name in {"nvrtc", "cudart", "cudnn"} & set(libraries):
        assert (stages[name].outcome, stages[name].why) == ("passed", "")
        assert stages[name].library == os.path.realpath(libraries[name])
    assert stages["cudart"].failing is None or stages["cudart"].failing.code == 35
    assert stages["cublas"].outcome == stages["nccl"].outcome == "skipped"


@pytest.mark.parametrize("part", ["graph", "ops", "cnn"])
def test_a_cudnn_in_pieces_is_named(tmp_path: Path, nvidia: Path, part: str):
    for file in (nvidia / "cudnn" / "lib").iterdir():
        if file.name != f"libcudnn_{part}.so.9":
            (tmp_path / file.name).symlink_to(file)
    stage = walk({"cudnn": str(tmp_path / "libcudnn.so.9")})["cudnn"]
    assert stage.outcome in ("failed", "crashed")
    assert f"cudnn_{part}" in stage.why or "SUBLIBRARY" in stage.why or "Invalid handle" in stage.why


def test_a_truncated_library_is_a_crash_at_dlopen(tmp_path: Path, nvidia: Path):
    with open(nvidia / "nccl" / "lib" / "libnccl.so.2", "rb") as file:
        (tmp_path / "libcudart.so.12").write_bytes(file.read(1 << 20))
    stage = walk({"cudart": str(tmp_path / "libcudart.so.12")})["cudart"]
    why = "dlopen libcudart.so.12: died by signal 7 (SIGBUS)"
    assert (stage.outcome, stage.why) == ("crashed", why)
