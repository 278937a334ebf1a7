"""Recorded answers of the probe's children: real libraries on machines without a GPU."""

from pathlib import Path

import pytest

from gpuwhy.facts.probe import Stage
from gpuwhy.machine.recording import SCHEMA, Recording, read_recording, recorded_machine
from gpuwhy.probe.stages import Stack
from gpuwhy.probe.walk import walk
from tests.probe.machines import outcomes, silent


def replayed(name: str) -> dict[str, Stage]:
    data = (Path(__file__).parent / "recorded" / f"{name}.json").read_bytes()
    nvidia = "/home/user/venv/lib/python3.12/site-packages/nvidia"
    paths = {
        "cudart": f"{nvidia}/cuda_runtime/lib/libcudart.so.12",
        "cublas": f"{nvidia}/cublas/lib/libcublas.so.12",
        "cublasLt": f"{nvidia}/cublas/lib/libcublasLt.so.12",
        "cudnn": f"{nvidia}/cudnn/lib/libcudnn.so.9",
        "nvrtc": f"{nvidia}/cuda_nvrtc/lib/libnvrtc.so.12",
        "nccl": f"{nvidia}/nccl/lib/libnccl.so.2",
    }
    host = recorded_machine(read_recording(data, name))
    done = walk(host, Stack(paths, tuple(paths.values())), False, silent)
    return {stage.name: stage for stage in done}


WHYS = {
    "no-driver": {"libcuda": "libcuda.so.1 cannot be loaded: cannot open shared"},
    "no-module-and-no-builtins": {
        "init": "cuInit gave 100 CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected",
        "nvrtc": "nvrtcCompileProgram gave 7 NVRTC_ERROR_BUILTIN_OPERATION_FAILURE for sm_121: ",
    },
    "cudnn-part-missing": {
        "libcuda": "",
        "cudnn": "gave 3009 CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE: Invalid handle.",
    },
    "cudnn-graph-missing": {
        "libcuda": "",
        "cudnn": "cudnnGetVersion: died by signal 6 (SIGABRT): Invalid handle. Cannot load symbol",
    },
    "cudnn-parts-mixed": {"libcuda": "", "cudnn": "1002 CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH"},
}


@pytest.mark.parametrize("name", WHYS)
def test_recorded_machines_with_real_libraries_replay(name: str):
    stages = replayed(name)
    assert set(outcomes(stages, "failed", "crashed", "hung")) == set(WHYS[name])
    assert all(why in stages[stage].why for stage, why in WHYS[name].items())
    assert stages["cudnn"].library.endswith("/site-packages/nvidia/cudnn/lib/libcudnn.so.9")


def test_a_machine_that_was_never_probed_says_so():
    host = recorded_machine(Recording(SCHEMA, "0", {}, {}))
    done = walk(host, Stack({"cudnn": "/x/libcudnn.so.9"}, ()), False, silent)
    assert {stage.outcome for stage in done} == {"skipped"}
    assert done[0].why == "not in the recording: call probe driver"
