"""Real CUDA libraries without a GPU, whole and broken.

GPUWHY_LAB=/folder of virtual environments and unpacked wheels.

A broken copy is a folder of links to the real files: $ORIGIN is the folder of the path used.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from gpuwhy.facts.probe import Stage
from gpuwhy.machine.live import LiveMachine
from gpuwhy.probe.libraries import Stack
from gpuwhy.probe.walk import walk as walked

FAMILIES = ("cudart", "cublas", "cublasLt", "cudnn", "nvrtc", "nccl")
pytestmark = pytest.mark.real
LAB = Path(os.environ.get("GPUWHY_LAB", "/nonexistent"))
STANDIN = os.environ.get("GPUWHY_STANDIN", "")
ENVIRONMENTS = sorted(
    {
        path.parents[2]
        for path in LAB.glob("*/lib/python*/site-packages/nvidia/cudnn/lib/libcudnn.so.*")
    }
)
CUDNN = {
    path.parents[3].name: path.parent for path in LAB.glob("cudnn*/nvidia/cudnn/lib/libcudnn.so.*")
}


def host(**environ: str) -> LiveMachine:
    return LiveMachine({"PATH": os.environ["PATH"], "HOME": "/nonexistent", **environ})


def walk(libraries: dict[str, str], **environ: str) -> dict[str, Stage]:
    done, _ = walked(host(**environ), Stack(libraries, ()), False, lambda _: None)
    return {stage.name: stage for stage in done}


def libraries_of(nvidia: Path) -> dict[str, str]:
    found = {family: sorted(nvidia.glob(f"*/lib/lib{family}.so.[0-9]*")) for family in FAMILIES}
    return {family: str(paths[0]) for family, paths in found.items() if paths}


@pytest.mark.parametrize("nvidia", ENVIRONMENTS, ids=lambda path: path.relative_to(LAB).parts[0])
def test_an_environment_without_a_gpu_goes_as_far_as_libraries_do(nvidia: Path):
    libraries = libraries_of(nvidia)
    walk(libraries)  # warm
    start = time.monotonic()
    stages = walk(libraries)
    assert time.monotonic() - start < 60
    assert stages["libcuda"].outcome == "failed"
    for name in {"nvrtc", "cudart", "cudnn"} & set(libraries):
        assert (stages[name].outcome, stages[name].why) == ("passed", "")
        assert stages[name].library == os.path.realpath(libraries[name])
    assert stages["cudart"].failing is None or stages["cudart"].failing.code == 35
    assert stages["cublas"].outcome == stages["nccl"].outcome == "skipped"


def linked(folder: Path, source: Path, without: str = "", instead: Path | None = None) -> Path:
    """A folder of links to a library's files; one left out, or taken from elsewhere."""
    for file in source.iterdir():
        if file.name != without:
            (folder / file.name).symlink_to(file)
        elif instead:
            (folder / file.name).symlink_to(instead / file.name)
    return folder


def cudnn_of(name: str) -> Path:
    return CUDNN[name] if name in CUDNN else environment(name) / "cudnn" / "lib"


@pytest.mark.parametrize(
    "source, without, instead, outcome, why",
    [
        (
            "tf",
            "libcudnn_graph.so.9",
            "",
            "crashed",
            "cudnnGetVersion: died by signal 6 (SIGABRT): ",
        ),
        (
            "tf",
            "libcudnn_cnn.so.9",
            "",
            "failed",
            "3009 CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE: ",
        ),
        (
            "tf",
            "libcudnn_graph.so.9",
            "cudnn912",
            "failed",
            "1002 CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH: ",
        ),
        (
            "tf",
            "libcudnn_cnn.so.9",
            "cudnn912",
            "failed",
            "cudnnCnnVersionCheck gave 3009 CUDNN_STATUS_",
        ),
        (
            "cudnn912",
            "libcudnn_cnn.so.9",
            "",
            "crashed",
            "Unable to load any of {libcudnn_cnn.so.9.12.0, libcudnn_cnn.",
        ),
        (
            "cudnn912",
            "libcudnn_graph.so.9",
            "cudnn-9.1.0.70",
            "crashed",
            "cudnnOpsVersionCheck: died by signal 6 ",
        ),
        (
            "cudnn-9.1.0.70",
            "libcudnn_adv.so.9",
            "",
            "crashed",
            "cudnnAdvVersionCheck: died by signal 6 (SIGABRT): ",
        ),
        (
            "cudnn-8.9.2.26",
            "libcudnn_cnn_infer.so.8",
            "",
            "crashed",
            "Could not load library libcudnn_cnn_infer.so.8",
        ),
        (
            "cudnn-8.9.2.26",
            "libcudnn_ops_infer.so.8",
            "cudnn-8.5.0.96",
            "crashed",
            "died by signal 6 (SIGABRT)",
        ),
        (
            "cudnn-8.5.0.96",
            "",
            "",
            "crashed",
            "Error: libcublas.so.11: cannot open shared object file",
        ),
    ],
)
def test_a_cudnn_in_pieces_is_named(
    tmp_path: Path, source: str, without: str, instead: str, outcome: str, why: str
):
    folder = linked(tmp_path, cudnn_of(source), without, cudnn_of(instead) if instead else None)
    name = next(file.name for file in folder.iterdir() if file.name.startswith("libcudnn.so."))
    stage = walk({"cudnn": str(folder / name)})["cudnn"]
    assert stage.outcome == outcome
    assert why in stage.why


@pytest.mark.parametrize("name", ["cudnn-8.9.2.26", "cudnn-9.1.0.70", "cudnn912"])
def test_a_whole_cudnn_passes(name: str):
    folder = cudnn_of(name)
    stage = walk({"cudnn": str(next(folder.glob("libcudnn.so.*")))})["cudnn"]
    assert (stage.outcome, stage.why) == ("passed", "")


def environment(name: str) -> Path:
    found = next((path for path in ENVIRONMENTS if path.relative_to(LAB).parts[0] == name), None)
    if found is None:
        pytest.skip(f"GPUWHY_LAB has no {name}")
    return found


def test_an_nvrtc_without_its_builtins_says_which_file_it_wants(tmp_path: Path):
    source = environment("tf") / "cuda_nvrtc" / "lib"
    linked(tmp_path, source, without="libnvrtc-builtins.so.12.9")
    stage = walk({"nvrtc": str(tmp_path / "libnvrtc.so.12")})["nvrtc"]
    assert stage.outcome == "failed"
    assert "failed to open libnvrtc-builtins.so.12.9" in stage.why


def test_a_truncated_library_is_a_crash_at_dlopen(tmp_path: Path):
    whole = environment("tf") / "nccl" / "lib" / "libnccl.so.2"
    with open(whole, "rb") as file:
        (tmp_path / "libcudart.so.12").write_bytes(file.read(1 << 20))
    stage = walk({"cudart": str(tmp_path / "libcudart.so.12")})["cudart"]
    assert (stage.outcome, stage.why) == (
        "crashed",
        "dlopen libcudart.so.12: died by signal 7 (SIGBUS)",
    )


@pytest.mark.skipif(not STANDIN, reason="no GPUWHY_STANDIN")
@pytest.mark.parametrize("code", [34, 46, 100, 304, 802, 803, 804, 999])
def test_the_real_runtime_gives_the_driver_s_code(code: int):
    cudart = libraries_of(environment("tf"))["cudart"]
    answers = f"cuInit={code};devices=0"
    stages = walk({"cudart": cudart}, LD_LIBRARY_PATH=STANDIN, FAKECUDA=answers)
    assert stages["init"].failing is not None
    assert stages["init"].failing.code == code
    assert stages["cudart"].failing is not None
    assert stages["cudart"].failing.code == code
