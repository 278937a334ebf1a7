"""Tells: how a reader sees that a likely cause is the one, by framework or place where that makes a difference."""

from __future__ import annotations

from gpuwhy.model import on
from gpuwhy.model.guide import Way
from gpuwhy.spoken.heard import Heard

_SMI = "nvidia-smi"
_LISTED = "pip list"
_VISIBLE = (
    "nvidia-smi -L; echo CUDA_VISIBLE_DEVICES=$CUDA_VISIBLE_DEVICES",
    "nvidia-smi -L & echo CUDA_VISIBLE_DEVICES=%CUDA_VISIBLE_DEVICES%",
)
_TF_SAYS = "python -c \"import tensorflow as tf; print(tf.config.list_physical_devices('GPU'))\""
_TELLS: dict[str, dict[str, Way]] = {
    "framework.cpu_only": {
        "notebook": Way("",
                        "the notebook prints another Python than your terminal does: its kernel has its own packages",
                        "python -c \"import sys; print(sys.executable)\"", fix="In a cell: import sys; print(sys.executable). Install the framework with that Python (python -m pip install …), or choose the other kernel"),
        "torch": Way("", "this prints None", 'python -c "import torch; print(torch.version.cuda)"'),
        "tensorflow": Way("", "this prints False", 'python -c "import tensorflow as tf; print(tf.test.is_built_with_cuda())"'),
        "jax": Way("", "the list has jax and no jax-cuda12-plugin or jax-cuda13-plugin", _LISTED),
        "onnxruntime": Way("", "the list has onnxruntime and no onnxruntime-gpu", _LISTED),
        "": Way("", "this prints None (PyTorch); for TensorFlow, if tf.test.is_built_with_cuda() is False",
                'python -c "import torch; print(torch.version.cuda)"'),
    },
    "framework.platform_dropped": {"": Way("", "this prints win32 and 2.11 or newer: TensorFlow has no GPU build there",
                                           'python -c "import sys, tensorflow as tf; print(sys.platform, tf.__version__)"')},
    "framework.gpu_unsupported": {"": Way("", "the list of PyTorch lacks your GPU's sm_ number (RTX 50: sm_120, RTX 40: sm_89, RTX 30: sm_86)",
                                          'python -c "import torch; print(torch.cuda.get_arch_list())"')},
    "framework.bug": {"": Way("", "the same program runs with the release before or after this one, and nothing else was changed")},
    "framework.extension_abi": {"": Way("", "the last lines before the crash are in a compiled extension (flash-attn, xformers, torchvision …)",
                                        "python -X faulthandler PROGRAM")},
    "driver.missing": {
        "colab": Way("", "nvidia-smi is not found: this notebook's runtime has no GPU", _SMI, fix="Colab: Runtime, Change runtime type, choose a GPU; Kaggle: Settings, Accelerator"),
        "container": Way("", "nvidia-smi also fails on the host, outside the container", _SMI),
        "": Way("", "nvidia-smi is not found, or says that it cannot communicate with the driver", _SMI),
    },
    "driver.too_old": {
        "torch": Way("", "“CUDA Version” in nvidia-smi's first lines is lower than what this prints", 'nvidia-smi; python -c "import torch; print(torch.version.cuda)"'),
        "": Way("", "“CUDA Version” in its first lines is lower than the CUDA that the framework was built for", _SMI),
    },
    "driver.library_mismatch": {"": Way("", "nvidia-smi says “Driver/library version mismatch”: the driver was updated and the machine not yet rebooted", _SMI)},
    "driver.permission": {"": Way("", "these files are missing, or your user may not open them", on.linux("ls -l /dev/nvidia*"))},
    "driver.not_ready": {"": Way("", "it began after suspend or resume, and a reboot helps", on.linux("lsmod | grep nvidia_uvm"))},
    "driver.compat_misuse": {"": Way("", "a folder named compat is in the search path", on.linux("echo $LD_LIBRARY_PATH"))},
    "container.no_gpu": {
        "": Way("", "nvidia-smi works on the host, and not in the container; this shows whether Docker can hand over the GPU at all",
                "docker run --rm --gpus all ubuntu nvidia-smi"),
    },
    "wsl.setup": {"": Way("", "nvidia-smi works in Windows, and this fails in WSL", on.wsl("/usr/lib/wsl/lib/nvidia-smi"))},
    "cuda.missing_library": {
        "tensorflow": Way("", "this prints “Could not load dynamic library”, “Cannot dlopen some GPU libraries” or “Skipping registering GPU devices”", _TF_SAYS),
        "onnxruntime": Way("", "this prints “Failed to load library … libcublasLt.so” or “cudnn”",
                           'python -c "import onnxruntime as o; o.InferenceSession(\'MODEL.onnx\', providers=[\'CUDAExecutionProvider\'])"'),
        "": Way("", "the program prints the name of a library that it cannot open (libcudart, libcublas …)"),
    },
    "install.conflict": {"": Way("", "the list has both onnxruntime and onnxruntime-gpu: the CPU package's files win", _LISTED)},
    "install.corrupted": {"": Way("", "this finds a damaged library", "gpuwhy check --verify")},
    "install.inconsistent": {"": Way("", "this names packages that do not go together", "pip check")},
    "cuda.mixed_libraries": {"": Way("", "LD_LIBRARY_PATH is not empty, and the program runs when it is unset", on.linux("echo $LD_LIBRARY_PATH"), "where cudart64_*.dll")},
    "cuda.version_mismatch": {"": Way("", "the error speaks of another CUDA version than the framework was built for")},
    "device.selection": {"": Way("", "CUDA_VISIBLE_DEVICES is empty but set, is -1, or names a GPU that is not listed", *_VISIBLE)},
    "device.hardware": {"": Way("", "the kernel log has “Xid” or “fallen off the bus”", on.linux("sudo dmesg | grep -i -e xid -e 'fallen off'"),
                                'powershell -c "Get-WinEvent -LogName System | Select-String nvlddmkm"')},
    "env.setting": {"": Way("", "this prints cpu: JAX was told to use the CPU", "echo $JAX_PLATFORMS", "echo %JAX_PLATFORMS%")},
    "memory.oom": {
        "ollama": Way("", "PROCESSOR shows a share of CPU: the model does not fit into the GPU's memory", on.linux("ollama ps")),
        "": Way("", "nothing else holds memory before the program starts, and a smaller batch runs", _SMI),
    },
    "memory.other_process": {"": Way("", "memory is in use before your program starts: another process, or an earlier run that is still alive", _SMI)},
    "memory.preallocation": {"": Way("",
                                     "it is TensorFlow or JAX, and the program runs when they take memory only as they need it",
                                     "TF_FORCE_GPU_ALLOW_GROWTH=true XLA_PYTHON_CLIENT_PREALLOCATE=false python PROGRAM",
                                     "set TF_FORCE_GPU_ALLOW_GROWTH=true&& python PROGRAM")},
    "memory.fragmentation": {"": Way("", "PyTorch's message says that much is “reserved but unallocated”, more than what was asked for")},
    "memory.host": {"": Way("", "the message has no “CUDA” in it, or the process ends with “Killed”: the computer's RAM is full, not the GPU's", on.linux("free -h"))},
    "cudnn.version_mismatch": {"": Way("",
                                       "the message names two versions, or this is not the version that the framework was built for",
                                       'python -c "import torch; print(torch.backends.cudnn.version())"')},
    "cudnn.missing": {"": Way("", "there is no such file on the disk", on.linux("find / -name 'libcudnn.so*' 2>/dev/null"), "where /R C:\\ cudnn64_*.dll")},
    "cuda.compiler_missing": {"": Way("", "no folder is listed: no toolkit is installed", on.linux("ls -d /usr/local/cuda*"), "where nvcc")},
    "program.index": {"": Way("", "the same step on the CPU names an index or a label", "CUDA_VISIBLE_DEVICES= python PROGRAM", "set CUDA_VISIBLE_DEVICES=-1&& python PROGRAM")},
    "env.path": {"notebook": Way("", "the variable differs between the notebook and the terminal", on.linux("echo $LD_LIBRARY_PATH"), "echo %PATH%"),
                 "toolkit": Way("", "a folder is listed, and its bin is not in PATH", on.linux("ls -d /usr/local/cuda*; echo $PATH"), "where nvcc & echo %CUDA_PATH%"),
                 "": Way("", "the file is on the disk, in a folder that the loader does not search", on.linux("ldconfig -p | grep cudnn; echo $LD_LIBRARY_PATH"),
                         "where cudnn64_*.dll")},
    "distributed.nccl": {"": Way("", "NCCL's log stops at a network or shared-memory line; it runs with NCCL_P2P_DISABLE=1", "NCCL_DEBUG=INFO python PROGRAM")},
    "distributed.peer": {"": Way("", "one process ended earlier than the others, or never came: look at the log of each", "gpuwhy explain --ranks LOGS")},
    "program.fork": {"": Way("",
                             "the program uses CUDA, or asks for it, before the workers start, and they start by fork",
                             'python -c "import multiprocessing as m; print(m.get_start_method())"')},
    "program.order": {"": Way("", "a GPU is chosen, or growth is set, after the first use of the GPU")},
}  # fmt: skip


def way(cause: str, heard: Heard) -> Way:
    """The tell of a cause: the framework's own, else the place's, else the common one."""
    rows = _TELLS[cause]
    names = ("toolkit" if heard.has("toolkit") else "", heard.place, heard.framework)
    found = next((rows[name] for name in names if name in rows and name), rows[""])
    return Way(cause, found.tell, found.command, found.windows, fix=found.fix)


TOLD = frozenset(_TELLS)
"""The causes that there are tests for."""
