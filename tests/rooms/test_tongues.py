"""A program of another language, or one whole in itself, gets its own remedies and none of Python's packages."""

from __future__ import annotations

import re

import pytest

from gpuwhy.knowledge.extensions import BUILT_BY, package_of
from gpuwhy.knowledge.programs import PROGRAMS
from gpuwhy.model.cause import Fix
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.choose import remedies
from gpuwhy.rooms.text.told_names import with_told_names
from gpuwhy.symptoms.reader import read_text

PYTHONS = re.compile(r"(?:^|&& )(?:pip|conda) install")
CASES = {
    "julia": ("driver.too_old", "julia> CUDA.rand(3)\nERROR: CUDA error: the provided PTX was compiled with an unsupported toolchain. (code 222, ERROR_UNSUPPORTED_PTX_VERSION)\nNVIDIA driver 535.183.1\n~/.julia/packages/CUDA/2kjXI/lib/cudadrv/libcuda.jl:30", 'set_runtime_version!(v"12.2")'),
    "rust": ("driver.too_old", 'thread \'main\' panicked at src/main.rs:3:1: DriverError(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "x")\nDriver Version: 535.129.03   CUDA Version: 12.2', "cargo build"),
    "r": ("cuda.missing_library", "> library(torch)\nliblantern.so - libcudart.so.11.0: cannot open shared object file: No such file or directory", "Rscript"),
    "java": ("cuda.missing_library", "ai.onnxruntime.OrtException: libcublasLt.so.12: cannot open shared object file: No such file or directory\n\tat ai.onnxruntime.OrtSession.java:9)", "java -jar"),
    "own": ("framework.gpu_unsupported", "LAMMPS (2 Aug 2023)\nKOKKOS mode is enabled\ncudaErrorNoKernelImageForDevice: no kernel image is available for execution on the device\nNVIDIA GeForce RTX 4090", "Kokkos_ARCH_ADA89"),
}  # fmt: skip


@pytest.mark.parametrize("tongue", CASES)
def test_its_own_way_and_none_of_pythons(tongue):
    cause, text, own = CASES[tongue]
    reading = read_text(text)
    commands = [fix.command for fix in remedies(cause, reading.symptoms, reading)]
    assert any(own in one for one in commands[:2]), commands
    assert not any(map(PYTHONS.search, commands)), commands


KNOWN = {"arch", "cap", "cuda", "kokkos", "vram", "dashed", "major", "needs", "image", "half", "runs", "cu", "rapids"}  # fmt: skip


def test_nothing_of_a_way_stays_open():
    """Every name in braces of the table is one that is always filled."""
    for one in PROGRAMS:
        ways = [
            getattr(one, name)
            for name in one.__struct_fields__
            if name not in ("name", "title", "spoken", "tongue", "less")
        ]
        for text, command in (*ways, *one.less):
            assert set(re.findall(r"\{([a-z]+)\}", text + command)) <= KNOWN, one.name


@pytest.mark.parametrize(
    "module, package",
    [("amp_C", "apex"), ("flash_attn_2_cuda", "flash_attn"), ("selective_scan_cuda", "mamba_ssm"), ("my_thing_cuda", ""), ("detectron2", "detectron2")],
)  # fmt: skip
def test_a_compiled_module_has_its_packages_name(module, package):
    assert package_of(module) == package
    assert not package or package in BUILT_BY


@pytest.mark.parametrize(
    "text, written, filled",
    [
        ("docker run --gpus all acme/train:2.1 python x.py", "docker run --gpus all --ipc=host IMAGE", "docker run --ipc=host --gpus all acme/train:2.1 python x.py"),
        ("$ python3 train.py --lr 1", "CUDA_LAUNCH_BLOCKING=1 python PROGRAM", "CUDA_LAUNCH_BLOCKING=1 python train.py"),
        ("./llama-cli -m q.gguf -ngl 99", "llama-server -m MODEL.gguf -ngl 20", "llama-server -m q.gguf -ngl 20"),
        ("ls /usr/local: cuda-12.4", "export CUDA_HOME=/usr/local/cuda", "export CUDA_HOME=/usr/local/cuda-12.4"),
        ("/usr/local/cuda-12.4/x /usr/local/cuda-11.8/y", "export CUDA_HOME=/usr/local/cuda", "export CUDA_HOME=/usr/local/cuda"),
        ("torch 2.3.0+cu121", "conda install -c nvidia cuda-toolkit", "conda install -c nvidia/label/cuda-12.1.0 cuda-toolkit"),
        ("/scratch/ab has 2 TB", "export TMPDIR=/BIG/tmp", "export TMPDIR=/scratch/ab/tmp"),
        ("nothing told", "python PROGRAM", "python PROGRAM"),
        ("docker run --gpus all 'evil;x':1", "docker run IMAGE", "docker run IMAGE"),
    ],
)  # fmt: skip
def test_open_places_are_filled_with_what_the_text_names(text, written, filled):
    case = Asked(reading=read_text(text))
    assert [fix.command for fix in with_told_names((Fix("", written),), case)] == [filled]
