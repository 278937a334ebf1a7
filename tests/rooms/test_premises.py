"""A remedy whose premise a text contradicts is left out; a package and a variable go to the place that the program is started from."""

from __future__ import annotations

import re

import pytest

from gpuwhy.logs import explain_text


def first(text: str, count: int = 2) -> str:
    told = explain_text(text).causes[0]
    return "\n".join(f"{fix.text}\n{fix.command}" for fix in told.fixes[:count])


OF_TENSORFLOW = """(tf) ned@ubuntu-wsl:~$ uname -r
5.15.153.1-microsoft-standard-WSL2
2025-01-10 19:19:21.339011: W external/local_xla/xla/tsl/framework/bfc_allocator.cc:497] Allocator (GPU_0_bfc) ran out of memory trying to allocate 4.50GiB (rounded to 4831838208)requested by op
tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor with shape[64,512,512] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc
"""
OF_A_MAC = """ann@MacBook-Air api % docker compose up
Error response from daemon: could not select device driver "nvidia" with capabilities: [[gpu]]
"""
OF_AN_IMAGE = """kim@box:~$ docker run --rm --gpus all --entrypoint nvidia-smi example.org/tools/video:2.0
Failed to initialize NVML: Driver/library version mismatch
NVML library version: 570.86
kim@box:~$ nvidia-smi --query-gpu=driver_version --format=csv,noheader
550.54.15
"""
OF_PODMAN = """[kim@box ~]$ podman run -it --rm --device=/dev/kfd --device=/dev/dri docker.io/rocm/pytorch:latest
root@8a3c6b0f7b51:/# rocminfo
Unable to open /dev/kfd read-write: Permission denied
root@8a3c6b0f7b51:/# python3 -c "import torch; torch.zeros(1).cuda()"
RuntimeError: No HIP GPUs are available
"""
OF_OPENSHIFT = """$ oc logs serve-0
PermissionError: [Errno 13] Permission denied: '/.triton'
torch._inductor.exc.InductorError: PermissionError: [Errno 13] Permission denied: '/.triton'
$ oc exec serve-0 -- id
uid=1000800000(1000800000) gid=0(root) groups=0(root),1000800000
"""
OF_WINDOWS = r"""C:\Users\ann>pip install llama_cpp_python-0.3.16-cu128-cp311-cp311-win_amd64.whl
C:\Users\ann>python a.py
FileNotFoundError: Could not find module 'C:\Users\ann\Python311\Lib\site-packages\llama_cpp\lib\ggml.dll' (or one of its dependencies). Try using the full path with constructor syntax.
C:\Users\ann>where nvcc cudart64_12.dll
INFO: Could not find files for the given pattern(s).
"""


OF_WSL = """kay@pc-a:~$ ls /mnt/c/Users/kay
kay@pc-a:~$ torchrun --nnodes 2 --node_rank 0 --master_addr 192.168.1.20 --master_port 29500 ddp.py
torch.distributed.DistNetworkError: The client socket has timed out after 300s while trying to connect to (192.168.1.20, 29500).
"""
OF_A_BRIDGE = """gpu-a:412:412 [0] NCCL INFO NET/Socket : Using [0]eth0:172.17.0.2<0>
gpu-b:377:455 [0] misc/socket.cc:456 NCCL WARN socketStartConnect: Connect to 172.17.0.2<43919> failed : Connection refused
torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1275, unhandled system error, NCCL version 2.14.3
"""
OF_A_QUEUE = """#$ -l h_vmem=8G
2017-09-13 12:41:03.120417: E tensorflow/stream_executor/cuda/cuda_driver.cc:406] failed call to cuInit: CUDA_ERROR_OUT_OF_MEMORY
terminate called after throwing an instance of 'std::system_error'
  what():  Resource temporarily unavailable
ulimit -v: 8388608
"""


OF_COMPOSE = """web-1  | Traceback (most recent call last):
web-1  |   File "/usr/local/lib/python3.11/site-packages/torch/cuda/__init__.py", line 305, in _lazy_init
web-1  |     raise AssertionError("Torch not compiled with CUDA enabled")
web-1  | AssertionError: Torch not compiled with CUDA enabled
web-1 exited with code 1
$ docker compose exec web pip list | grep torch
torch 2.3.1+cpu
"""
OF_LXC = """root@pve:~# pct enter 105
root@ct105:~# nvidia-smi
Failed to initialize NVML: Driver/library version mismatch
root@ct105:~# cat /proc/driver/nvidia/version
NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.90.07  Fri May 31 09:35:42 UTC 2024
"""
OF_DESKTOP = r"""C:\proj>docker compose up
Error response from daemon: could not select device driver "nvidia" with capabilities: [[gpu]]
C:\proj>docker version --format "{{.Server.Platform.Name}}"
Docker Desktop 4.30.0 (149282)
"""
OF_ONNX = r"""PS D:\ocr> python run.py
[E:onnxruntime:Default, provider_bridge_ort.cc:1992] [ONNXRuntimeError] : 1 : FAIL : LoadLibrary failed with error 126 "" when trying to load "D:\ocr\.venv\Lib\site-packages\onnxruntime\capi\onnxruntime_providers_cuda.dll"
PS D:\ocr> pip show onnxruntime-gpu | findstr Version
Version: 1.19.2
PS D:\ocr> dir "C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA" /b
v11.8
"""
OF_TRITON = """$ docker run --rm --gpus all pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime python train.py
  File "/opt/conda/lib/python3.10/site-packages/triton/common/build.py", line 59, in _build
RuntimeError: Failed to find C compiler. Please specify via CC environment variable.
"""
OF_JAX = """mo@box:~$ python3 -c "import jax; print(jax.devices())"
An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed. Falling back to cpu.
mo@box:~$ python3 --version
Python 3.8.10
"""


@pytest.mark.parametrize(
    ("text", "said", "never"),
    [
        (OF_TENSORFLOW, "batch", "DataLoader|wslconfig"),
        (OF_A_MAC, "A Mac has no NVIDIA GPU", r"\bapt\b|systemctl|nvidia-ctk"),
        (OF_AN_IMAGE, "driver files of its own", "reboot|rmmod"),
        (OF_PODMAN, "keep-groups", "nvidia"),
        (OF_OPENSHIFT, r"env: \[\{name: HOME", "docker run"),
        (OF_WSL, "networkingMode=mirrored", r"\bnc\b"),
        (OF_A_BRIDGE, "--network=host", "IFNAME=eth0"),
        (OF_A_QUEUE, "h_vmem=64G", "pids-limit"),
        (OF_COMPOSE, r"RUN pip install .*torch==2\.3\.1.*whl/cu121", "whl/cu12[68]$"),
        (OF_LXC, r"550\.90\.07\.run --no-kernel-module", "reboot|rmmod"),
        (OF_DESKTOP, "WSL 2 based engine", "nvidia-ctk|systemctl"),
        (OF_ONNX, r"onnxruntime-gpu\[cuda,cudnn\]", r"CUDA\\v11\.8"),
        (OF_TRITON, "RUN apt-get update && apt-get install -y build-essential", "sudo apt"),
        (OF_JAX, r"uv venv --python 3\.12", "^$"),
        (OF_WINDOWS, "install that one.*\n.*Nvidia.CUDA --version 12.8", "environ"),
    ],
)
def test_what_the_text_contradicts_is_left_out(text: str, said: str, never: str) -> None:
    answer = first(text)
    assert re.search(said, answer), answer
    assert not re.search(never, answer), answer


OF_TORCH = """Traceback (most recent call last):
  File "/w/train.py", line 3, in <module>
RuntimeError: CUDA error: out of memory
Linux box 5.15.153.1-microsoft-standard-WSL2
"""


def test_what_nothing_contradicts_stays() -> None:
    assert "pin_memory" in first(OF_TORCH, 9)  # no figure tells that the card is full


def test_a_sif_is_not_written_into() -> None:
    text = (
        "$ apptainer exec --nv big.sif python3 a.py\n2.18.0\nCannot dlopen some GPU libraries. Please make sure the missing libraries "
        "mentioned above are installed properly if you would like to use GPU.\nSkipping registering GPU devices...\nimport tensorflow as tf\n"
    )
    answer = first(text, 4)
    assert "apptainer build --sandbox new big.sif" in answer
    assert "apptainer exec --fakeroot --writable new pip install" in answer


def test_the_release_that_is_asked_for_is_installed_into_the_environment_that_has_its_python() -> None:
    text = "C:\\chess>python --version\nPython 3.8.2\nERROR: No matching distribution found for tensorflow-gpu==1.15\n"
    answer = first(text, 3)
    assert "--python .venv tensorflow==1.15.0" in answer
    assert "CUDA 10.0 and cuDNN 7" in answer
