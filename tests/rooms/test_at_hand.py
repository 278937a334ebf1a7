"""What a text shows to be done, set, installed or missing decides which remedies are told, and in which words."""

from __future__ import annotations

import re

import pytest

from gpuwhy.logs import explain_text
from gpuwhy.rooms.text.shown import commands, set_by_program, variables


def first_two(text: str) -> str:
    """Sentences and commands of the first cause's first two fixes."""
    causes = explain_text(text).causes
    return "\n".join(f"{fix.text}\n{fix.command}" for fix in causes[0].fixes[:2]) if causes else ""


OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.25 GiB. GPU 0 has a total capacity of 23.64 GiB of which 1.31 GiB is free. Including non-PyTorch memory, this process has 22.30 GiB memory in use. Of the allocated memory 18.10 GiB is allocated by PyTorch, and 3.61 GiB is reserved by PyTorch but unallocated.\n"
UNSEEN = "RuntimeError: No CUDA GPUs are available\n"

CASES = {
    "refused": (
        "$ nvidia-smi\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n$ sudo modprobe nvidia\nmodprobe: ERROR: could not insert 'nvidia': Key was rejected by service\n",
        "MOK", r"(?m)^sudo modprobe nvidia$"),
    "set": (f"$ export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n$ python train.py\n{OOM}", "batch|max_split", "expandable_segments"),
    "not set": (f"$ python train.py\n{OOM}", "expandable_segments", "nothing of it"),
    "by the program": (f'$ grep -n CUDA_VISIBLE train.py\n12:os.environ["CUDA_VISIBLE_DEVICES"] = "-1"\n$ python train.py\n{UNSEEN}', "train.py, line 12", "(?m)^unset"),
    "second copy": (
        '(nlp) u@ws:~$ python x.py\n  File "/home/u/.local/lib/python3.10/site-packages/torch/cuda/__init__.py", line 239, in _lazy_init\nAssertionError: Torch not compiled with CUDA enabled\n',
        "PYTHONNOUSERSITE", "pip install"),
    "of conda": (
        "$ conda list jaxlib\njaxlib                    0.4.31          cpu_py312h1234_0    conda-forge\n$ python -c 'import jax; jax.devices()'\nWARNING: An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed. Falling back to cpu.\n",
        r"CONDA_OVERRIDE_CUDA=\S+ conda install -c conda-forge \"jaxlib=0.4.31=\*cuda\*\"", "pip install"),
    "module gone": (
        "[u@login2 ~]$ module avail cuda\ncuda/11.8  cuda/12.1\n[u@login2 ~]$ module load gromacs/2020\n[u@login2 ~]$ gmx mdrun\ngmx: error while loading shared libraries: libcublas.so.10: cannot open shared object file: No such file or directory\n",
        "gromacs/2020", "module load cuda/10"),
    "inside": (
        "app@3f2a9c1d0b7e:/app$ nvidia-smi\nFailed to initialize NVML: Insufficient Permissions\napp@3f2a9c1d0b7e:/app$ ls -l /dev/nvidia0\ncrw-rw---- 1 root 44 195, 0 May 1 10:00 /dev/nvidia0\n",
        "--group-add 44", "usermod"),
    "advised": ("NotImplementedError: Using RTX 4000 series doesn't support faster communication broadband via P2P or IB. Please set `NCCL_P2P_DISABLE=\"1\"` and `NCCL_IB_DISABLE=\"1\" or use `accelerate launch` which will do this automatically.\n",
                "(?s)NCCL_P2P_DISABLE=1.*NCCL_IB_DISABLE=1", "nothing of it"),
    "in pieces": (
        "W tensorflow/core/common_runtime/bfc_allocator.cc:479] Allocator (GPU_0_bfc) ran out of memory trying to allocate 3.00GiB (rounded to 3221225472)requested by op g\nI tensorflow/core/common_runtime/bfc_allocator.cc:1101] Stats:\nLimit:                     10000000000\nInUse:                      5200000000\nMaxInUse:                   5400000000\nResourceExhaustedError: OOM when allocating tensor with shape[16,512,512,192]\n",
        "cuda_malloc_async", "nothing of it"),
    "by its listing": (
        "C:\\> dir /b \"C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA\"\nv11.0\n>>> cupy.arange(3) + 1\ncupy.cuda.compiler.CompileException: nvrtc: error: failed to open nvrtc-builtins64_110.dll.\n",
        r"CUDA\\v11\.0", r"v12\."),
    "of its JetPack": (
        "nvidia@nano:~$ python3 -c 'import torch'\nImportError: libcublas.so.10.0: cannot open shared object file: No such file or directory\nnvidia@nano:~$ cat /etc/nv_tegra_release\n# R32 (release), REVISION: 7.1, BOARD: t210ref\n",
        r"JetPack 4\.6 with CUDA 10\.2", "nothing of it"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_text_decides(name):
    text, wanted, never = CASES[name]
    told = first_two(text)
    assert re.search(wanted, told)
    assert not re.search(never, told)


def test_commands_are_read_with_their_outcome():
    text = "(env) u@h:~/x$ sudo modprobe nvidia\nmodprobe: ERROR: no\nPS C:\\x> pip list\ntorch 2.1\n"
    assert [(one.command, one.refused) for one in commands(text)] == [
        ("sudo modprobe nvidia", True),
        ("pip list", False),
    ]


def test_advice_is_not_a_setting():
    assert not variables("Please set NCCL_P2P_DISABLE=1 and try again")
    text = "$ A_B=1 python x.py\n$ echo $LD_LIBRARY_PATH\n/opt/lib\nCUDA_VISIBLE_DEVICES: 2,3\n$ export C_D=x\n"
    assert variables(text) == {"A_B": "1", "LD_LIBRARY_PATH": "/opt/lib", "CUDA_VISIBLE_DEVICES": "2,3", "C_D": "x"}


def test_a_programs_own_setting_has_its_place():
    (own,) = set_by_program("$ grep -n ENV run.py\n85:    os.environ['CUDA_VISIBLE_DEVICES'] = '0'\n")
    assert (own.file, own.line, own.value) == ("run.py", "85", "0")
