"""Questions: the one cheap test that separates causes which explain a text equally well."""

from __future__ import annotations

from gpuwhy.model import on
from gpuwhy.model.symptom import Question

QUESTIONS: tuple[Question, ...] = (
    Question(
        "library",
        "Is the library anywhere on the disk?",
        on.linux("find / -name 'libcudnn*.so*' -o -name 'libcudart.so*' -o -name 'libcublas*.so*' 2>/dev/null"),
        {"nowhere": "cudnn.missing", "other-version": "cudnn.version_mismatch", "there": "env.path", "two-copies": "cudnn.mixed_libraries"},
        "where /R C:\\ cudnn64_*.dll cudart64_*.dll cublas64_*.dll",
    ),
    Question(
        "cuda-library",
        "Is the library anywhere on the disk?",
        on.linux("find / -name 'libcudart.so*' -o -name 'libcublas*.so*' -o -name 'libcusolver.so*' 2>/dev/null; nvcc --version"),
        {"nowhere": "cuda.missing_library", "other-version": "cuda.version_mismatch", "there": "env.path", "two-copies": "cuda.mixed_libraries"},
        "where /R C:\\ cudart64_*.dll cublas64_*.dll cusolver64_*.dll",
    ),
    Question(
        "memory",
        "Who holds the GPU's memory while the program is not running?",
        "nvidia-smi --query-gpu=memory.used,memory.total --format=csv; nvidia-smi --query-compute-apps=pid,name,used_memory --format=csv",
        {"others": "memory.other_process", "nobody": "memory.oom"},
    ),
    Question(
        "growth",
        "Does it run when the framework takes memory only as it needs it?",
        "TF_FORCE_GPU_ALLOW_GROWTH=true XLA_PYTHON_CLIENT_PREALLOCATE=false python PROGRAM",
        {"yes": "memory.preallocation", "no": "cudnn.version_mismatch"},
        "set TF_FORCE_GPU_ALLOW_GROWTH=true&& python PROGRAM",
    ),
    Question(
        "container",
        "Does nvidia-smi work on the host, outside the container?",
        "nvidia-smi",
        {"yes": "container.no_gpu", "no": "driver.missing"},
    ),
    Question(
        "visible",
        "What does the variable hold that hides GPUs?",
        "nvidia-smi -L; echo CUDA_VISIBLE_DEVICES=$CUDA_VISIBLE_DEVICES",
        {"hides-all": "device.selection", "nvidia-smi-fails": "driver.missing", "lists-gpus": "driver.permission"},
        "nvidia-smi -L & echo CUDA_VISIBLE_DEVICES=%CUDA_VISIBLE_DEVICES%",
    ),
    Question(
        "build",
        "Was the framework built with CUDA?",
        "python -c \"import torch; print(torch.version.cuda)\"; python -c \"import tensorflow as tf; print(tf.test.is_built_with_cuda())\"",
        {"no": "framework.cpu_only", "yes": "driver.missing"},
    ),
    Question(
        "windows",
        "Is it TensorFlow 2.11 or newer on native Windows?",
        "python -c \"import sys, tensorflow as tf; print(sys.platform, tf.__version__)\"",
        {"yes": "framework.platform_dropped", "no": "framework.cpu_only"},
    ),
    Question(
        "cpu",
        "What does the same step say on the CPU?",
        "CUDA_VISIBLE_DEVICES= python PROGRAM",
        {"index-error": "program.index", "shape-error": "program.shape", "works": "memory.oom"},
        "set CUDA_VISIBLE_DEVICES=-1&& python PROGRAM",
    ),
    Question(
        "sanitizer",
        "Which kernel touches foreign memory?",
        "CUDA_LAUNCH_BLOCKING=1 compute-sanitizer python PROGRAM",
        {"own-kernel": "program.illegal_access", "library-kernel": "framework.bug", "none": "device.hardware"},
    ),
    Question(
        "kernel-log",
        "Does the kernel log name a fault of the card?",
        on.linux("sudo dmesg | grep -i -e xid -e 'fallen off'"),
        {"hardware-xid": "device.hardware", "nothing": "program.illegal_access"},
    ),
    Question(
        "uvm",
        "Can the device files be opened, and is the uvm module there?",
        on.linux("ls -l /dev/nvidia*; lsmod | grep nvidia_uvm"),
        {"denied": "driver.permission", "after-suspend": "driver.not_ready", "missing": "driver.missing"},
    ),
    Question(
        "libcuda",
        "Which libcuda does the loader take, and which kernel module is loaded?",
        on.linux("ldconfig -p | grep libcuda.so; echo $LD_LIBRARY_PATH; cat /proc/driver/nvidia/version"),
        {"compat": "driver.compat_misuse", "differs": "driver.library_mismatch", "stub": "driver.stub"},
    ),
    Question(
        "driver",
        "How new is the driver?",
        "nvidia-smi --query-gpu=driver_version --format=csv,noheader",
        {"older-than-cuda-needs": "driver.too_old", "no-answer": "driver.missing", "new-enough": "cuda.version_mismatch"},
    ),
    Question(
        "toolkit",
        "Is a toolkit installed?",
        on.linux("ls -d /usr/local/cuda*; which nvcc ptxas; echo $CUDA_HOME"),
        {"none": "cuda.compiler_missing", "there": "env.path"},
        "where nvcc ptxas & echo %CUDA_PATH%",
    ),
)  # fmt: skip


def question_for(first: str, second: str) -> Question | None:
    """The question whose answers separate two causes."""
    return next((q for q in QUESTIONS if {first, second} <= set(q.answers.values())), None)
