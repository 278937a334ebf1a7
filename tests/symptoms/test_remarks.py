"""What a person writes beside a log decides among causes that end in the same message."""

from __future__ import annotations

import pytest

from gpuwhy.logs import explain_text
from gpuwhy.rooms.text.amounts import amounts

GB = float(1 << 30)
OOM = "RuntimeError: CUDA error: out of memory"
BESIDE = {
    "the pool has 21 GB reserved and 6 GB of it in use": "memory.fragmentation",
    "largest free block 200 MB, free 4 GB, requested 600 MB": "memory.fragmentation",
    "it works with torch.cuda.empty_cache() before each step: empty_cache helps": "memory.fragmentation",
    "another notebook is open and holds 10 of 12 GB": "memory.other_process",
    "a renderer is running in the background and takes 7 GB of the 8 GB": "memory.other_process",
    "nvidia-smi shows python, not mine, with 23 of 24 GB": "memory.other_process",
    "jax had preallocated 75% of the card before": "memory.preallocation",
    "keras took everything; with allow_growth it works": "memory.preallocation",
}
TEXTS = {
    "LightGBM fatal: gpu device id 3 exceeds the number of devices": "device.selection",
    "pmemd.cuda: the gpu is in exclusive mode and used by another job": "device.busy",
    "nvidia-smi mig -dgi: Unable to destroy GPU instance ID 1 from GPU 0: In use by another client": "device.busy",
    "hashcat: Device #1: Temperature limit reached, aborting...": "device.hardware",
    "libcublas.so.12: cannot open shared object file\nthe server has CUDA 11.8 installed": "cuda.version_mismatch",
    "libcudnn.so.8: cannot open shared object file\npip: nvidia-cudnn-cu12 9.3.0.75": "cudnn.version_mismatch",
    "RuntimeError: CUBLAS_STATUS_NOT_SUPPORTED\nconda's 11.1 shadows /usr/local/cuda-11.7": "cuda.mixed_libraries",
    "built with cuDNN v8401 but the loaded cuDNN is v8200\nCUDNN_STATUS_NOT_SUPPORTED": "cudnn.version_mismatch",
    "libcudnn_ops.so.9: libcublasLt.so.12: cannot open shared object file": "cudnn.dependency_missing",
    "libcudnn_ops.so.8 8.2.1 beside libcudnn_cnn.so.8 8.6.0: CUDNN_STATUS_VERSION_MISMATCH": "cudnn.mixed_libraries",
    "cuInit failed 999; /dev/nvidia-uvm is missing": "driver.permission",
    "only root can use the GPU, others get: no CUDA-capable device is detected": "driver.permission",
    "circleci: RuntimeError: No CUDA GPUs are available": "container.no_gpu",
    "dev container without runArgs: no CUDA-capable device is detected": "container.no_gpu",
    "cudnn_status: CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH": "cudnn.mixed_libraries",
    "worker exited with return code = -9\nRAM was at 128 of 128 GB": "memory.host",
}


@pytest.mark.parametrize("remark", BESIDE)
def test_a_remark_decides_among_the_causes_of_a_full_memory(remark: str) -> None:
    """The message alone says another cause for all but one of them."""
    assert explain_text(f"{OOM}\n{remark}").causes[0].id == BESIDE[remark]


@pytest.mark.parametrize("text", TEXTS)
def test_a_condition_is_known_in_any_programs_words(text: str) -> None:
    """The programs differ, what they say does not."""
    assert explain_text(text).causes[0].id == TEXTS[text]


def test_a_size_is_of_what_stands_beside_it() -> None:
    """Before the number, else after it; of several words the nearest."""
    told = amounts("Memory pool usage: 6 GiB (15 GiB reserved), 1.5 GiB requested on a 16 GB card")
    assert told == {"used": 6 * GB, "pool": 15 * GB, "wanted": 1.5 * GB, "total": 16 * GB}
    assert amounts("Limit: 7000000000 InUse: 3000000000 MaxInUse: 6900000000") == {"pool": 7e9, "used": 3e9}


def test_figures_of_a_message_stay_its_own() -> None:
    """PyTorch tells what is reserved apart from what is allocated: its own fields decide."""
    log = (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of"
        " 23.64 GiB of which 1.10 GiB is free. Including non-PyTorch memory, this process has 22.50 GiB memory in use."
        " Of the allocated memory 21.90 GiB is allocated by PyTorch,"
        " and 180.00 MiB is reserved by PyTorch but unallocated."
    )
    assert explain_text(log).causes[0].id == "memory.oom"


@pytest.mark.parametrize(("smi", "wsl"), [("515.65.01", True), ("516.94", False)])
def test_a_tool_of_another_release_than_the_driver_is_that_of_wsl(smi: str, wsl: bool) -> None:
    """There nvidia-smi is Linux' and the driver is Windows'."""
    text = "CUDA error 222: the provided PTX was compiled with an unsupported toolchain.\n"
    text += f"| NVIDIA-SMI {smi}       Driver Version: 516.94       CUDA Version: 11.7     |\n"
    assert any("WSL" in fix.text for fix in explain_text(text).causes[0].fixes) is wsl
