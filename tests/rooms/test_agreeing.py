"""Agreeing: the CUDA that a remedy brings is the one that the text asks for."""

import pytest

from gpuwhy.model.cause import Fix
from gpuwhy.rooms.text.agreeing import disagrees
from gpuwhy.rooms.text.asked import asked
from gpuwhy.rooms.text.premises import grounded
from gpuwhy.symptoms.reader import read_text

TEN = "ImportError: Could not find 'cudart64_100.dll'.\n"
OF_LINUX = (
    "Could not load dynamic library 'libcudart.so.10.1'; dlerror: libcudart.so.10.1: cannot open shared object file\n"
)
ELEVEN = "Could not load dynamic library 'cudart64_110.dll'; dlerror: cudart64_110.dll not found\n"
EXTENSION = "torch.__version__  = 2.3.1+cu118\nBuilding wheel for flash_attn (setup.py) ... error\n"


@pytest.mark.parametrize(
    ("said", "text", "wrong"),
    [
        ("Install CUDA 10.1 and cuDNN 7.6\n", TEN, True),
        ("Install CUDA 10.0 and cuDNN 7.6\n", TEN, False),
        ("By conda\nconda install cudatoolkit=10.1 cudnn=7.6", TEN, True),
        ("By conda\nconda install cudatoolkit=10.0 cudnn=7.6", TEN, False),
        ("Install CUDA 10.2\n", OF_LINUX, True),
        ("Install CUDA 11.2\n", ELEVEN, False),
        ("Install CUDA 11.2 with a newer one\npip install tensorflow==2.10.0", TEN, False),
        ("Put the folder of CUDA 10.1 away\n", TEN, False),
        ("Install CUDA 12.4\nwinget install --exact --id Nvidia.CUDA --version 12.4", EXTENSION, True),
        ("Install CUDA 11.8\nwinget install --exact --id Nvidia.CUDA --version 11.8", EXTENSION, False),
        ("Install CUDA 12.4, and the build of PyTorch for it\n", EXTENSION, False),
        ("Install CUDA 12.4\n", "torch.__version__  = 2.3.1+cu118\nRuntimeError\n", False),
        ("Install CUDA 12.4\n", "Building wheel for llama-cpp-python (pyproject.toml) ... error\n", False),
    ],
)  # fmt: skip
def test_another_cuda_is_known(said, text, wrong):
    assert disagrees(said, asked((), read_text(text))) is wrong


EAGER = (
    "~/envs/tf/lib/python3.9/site-packages/tensorflow/python/eager/execute.py\nInternalError: Blas GEMM launch failed\n"
)
SESSIONS = "tensorflow 1.15.0\nwith tf.Session() as s:\nInternalError: Blas GEMM launch failed\n"
FIRST = Fix("A program for TensorFlow 1: let each session take memory only as it needs it", "config = x")
GROWTH = Fix("Let memory grow", "export TF_FORCE_GPU_ALLOW_GROWTH=true")


@pytest.mark.parametrize(("text", "kept"), [(EAGER, [GROWTH]), (SESSIONS, [FIRST, GROWTH])])
def test_the_generation_of_a_program_is_its_own(text, kept):
    assert grounded((FIRST, GROWTH), asked((), read_text(text))) == kept


@pytest.mark.parametrize(
    ("command", "kept"), [("ps -p 1\nkill 1", False), ("ps -p 17\nkill 17", True), ("kill 1234", True)]
)
def test_nobody_ends_the_first_process(command, kept):
    end = Fix("End the process that holds it", command)
    assert (end in grounded((end, GROWTH), asked((), read_text("CUDA out of memory. Process 1 has 22 GiB\n")))) is kept
