"""What a text names, its first fix names too: GPU, driver, package, folder, figures."""

from __future__ import annotations

import pytest

from gpuwhy.logs import explain_text
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.exactly import for_any_gpu, for_driver, for_gpu

OWN = "/home/u/env/lib/python3.10/site-packages"
CASES = {
    "old GPU": (
        "Ignoring visible gpu device (name: Tesla M40, compute capability: 5.2) with Cuda compute capability "
        "5.2. The minimum required Cuda capability is 6.0. tensorflow\n",
        "framework.gpu_unsupported", '"tensorflow[and-cuda]==2.1'),
    "old ptxas": (
        "W external/xla/xla/asm_compiler.cc:232] Falling back to the CUDA driver for PTX compilation; ptxas does not "
        "support CC 9.0\n",
        "framework.gpu_unsupported", "nvidia/label/cuda-11.8.0"),
    "two TensorFlows": (
        "tensorflow-gpu 2.4.0 requires numpy~=1.19.2, but you have numpy 1.26.0 which is incompatible.\n"
        "tensorflow 2.5.0 requires numpy~=1.19.2, but you have numpy 1.26.0 which is incompatible.\n",
        "install.inconsistent", "pip uninstall -y tensorflow-gpu tensorflow"),
    "torch itself": (
        f"ImportError: {OWN}/torch/lib/libtorch_python.so: undefined symbol: _ZN2at4_ops5zeros4callEN3c10\n",
        "framework.extension_abi", "pip uninstall -y torch"),
    "package of a module": (
        f"ImportError: {OWN}/flash_attn_2_cuda.cpython-310-x86_64.so: undefined symbol: _ZN3c104cuda9SetD\n",
        "framework.extension_abi", "--no-deps flash-attn"),
    "conda's file": (
        "OSError: /opt/conda/envs/x/lib/python3/site-packages/torch/lib/../../../../libmkl_rt.so: invalid ELF header\n",
        "install.corrupted", "mkl"),
    "left over": (
        "E cuda_diagnostics.cc:303] kernel version 535.54.3 does not match DSO version 525.60.13 -- cannot find\n",
        "driver.library_mismatch", "ldconfig -p"),
    "container's own": (
        "I cuda_diagnostics.cc:176] hostname: f7b7a8f85319\n"
        "E cuda_diagnostics.cc:303] kernel version 535.54.3 does not match DSO version 525.60.13 -- cannot find\n",
        "driver.library_mismatch", "docker run"),
    "figures": (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 8.00 GiB. GPU 0 has a total capacity of 8.00 "
        "GiB of which 1.00 GiB is free. Of the allocated memory 6.00 GiB is allocated by PyTorch, and 100.00 MiB is "
        "reserved by PyTorch but unallocated.\n",
        "memory.oom", "(loss / 2).backward()"),
    "Ray": (
        "(train pid=77) E cuda_driver.cc:300] failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device\n",
        "device.selection", "num_gpus=1"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_first_fix_names_it(name):
    text, cause, word = CASES[name]
    shown = next(one for one in explain_text(text).causes if one.id == cause)
    assert any(word in fix.command for fix in shown.fixes[:2]), shown.fixes[:2]


@pytest.mark.parametrize("framework", ["torch", "tensorflow", "jax", "onnxruntime"])
def test_every_generation_since_maxwell_has_a_release(framework):
    for capability in ("5.2", "6.1", "7.0", "7.5", "8.6", "8.9", "9.0", "12.0"):
        assert [fix.command for fix in for_gpu(Asked(framework=framework), capability)], capability


def test_where_the_gpu_is_not_told_both_ends_are_offered():
    new, old = for_any_gpu(Asked(framework="onnxruntime"))
    assert "--upgrade" in new.command
    assert "==" in old.command


def test_an_old_driver_gets_the_last_build_for_its_cuda():
    assert "1.8.1+cu101" in getattr(for_driver(Asked(framework="torch"), "10.1"), "command", "")
    assert for_driver(Asked(framework="torch"), "12.2") is None
