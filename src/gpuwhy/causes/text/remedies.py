"""Remedies that the rooms of several causes have."""

from __future__ import annotations

from gpuwhy.causes.text.meant import Meant, meant
from gpuwhy.knowledge.windows import REDISTRIBUTABLE

SYNCHRONOUS = "CUDA_LAUNCH_BLOCKING=1 python PROGRAM"
CRASH = "See in which call it crashes: Python then prints where it was"
FAULTS = "python -X faulthandler PROGRAM"
CUDA_HOME: tuple[Meant, ...] = (
    meant("Name the toolkit, where one is installed", "export CUDA_HOME=/usr/local/cuda PATH=/usr/local/cuda/bin:$PATH", said="build.cuda_home build.nvcc_missing build.cmake_compiler", safe=True),
    meant("Or install the toolkit, which has nvcc: with conda, of the CUDA that PyTorch was built for (python -c 'import torch; print(torch.version.cuda)')", "conda install -c nvidia cuda-toolkit", said="build.cuda_home build.nvcc_missing build.cmake_compiler", safe=True),
    meant("Or for the whole system", "sudo apt install nvidia-cuda-toolkit", said="build.cuda_home build.nvcc_missing build.cmake_compiler", root=True),
)  # fmt: skip
MSVC: tuple[Meant, ...] = (
    meant("Windows: install the Microsoft Visual C++ runtime (2015 to 2022, x64), then open a new window", REDISTRIBUTABLE, said="windows.msvc windows.dll_load_failed windows.torch_dll windows.error windows.module_missing tf.pywrap"),
)  # fmt: skip
TDR: tuple[Meant, ...] = (
    meant("Windows: give kernels more time before the display driver's watchdog (TDR) ends them, 60 seconds instead of 2, and restart", r"reg add HKLM\SYSTEM\CurrentControlSet\Control\GraphicsDrivers /v TdrDelay /t REG_DWORD /d 60", said="cuda.launch_timeout kernel. title.", line="timed ?out|tdr|nvlddmkm|stopped responding|display driver", root=True, reboot=True),
    meant("Or let each kernel do less: smaller batches, or the work in smaller parts; a card without a display has no watchdog", said="cuda.launch_timeout kernel.", line="timed ?out|tdr|nvlddmkm|stopped responding|display driver", safe=True),
)  # fmt: skip
BITSANDBYTES: tuple[Meant, ...] = (
    meant("Install the newest release of bitsandbytes: it has libraries for more CUDA versions", "pip install --upgrade bitsandbytes", said="bnb.setup bnb.compiled", safe=True),
    meant("See what bitsandbytes finds, and which CUDA it looks for", "python -m bitsandbytes", said="bnb.", safe=True, look=True),
    meant("See what bitsandbytes finds, and which CUDA it looks for: it should be PyTorch's own", "python -m bitsandbytes", said="loader. title.library", line="bitsandbytes", safe=True, look=True, more=True),
)  # fmt: skip
SHARED_MEMORY: tuple[Meant, ...] = (
    meant("Start the container with more shared memory", "docker run --gpus all --shm-size=1g IMAGE", said="nccl.shm"),
    meant("Or with the host's", "docker run --gpus all --ipc=host IMAGE", said="nccl.shm"),
    meant("Kubernetes: mount memory at /dev/shm", "volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 1Gi}}]    # volumeMounts: [{name: shm, mountPath: /dev/shm}]", said="nccl.shm"),
    meant("See how much there is", "df -h /dev/shm", said="nccl.shm", safe=True, look=True),
)  # fmt: skip
