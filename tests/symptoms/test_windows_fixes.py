"""What is printed for a text from Windows, WSL or a container: the words that help there, none that cannot."""

from __future__ import annotations

import re

import pytest

from gpuwhy.logs import explain_text

NEVER = r"\bsudo (?!apt purge)|\bexport |LD_LIBRARY_PATH|ldconfig|/usr/local|tensorflow\[and-cuda|jax\[cuda"
LINK = "link.obj : error LNK2001: unresolved external symbol cublasCreate_v2\nerror: command 'C:\\VS\\link.exe' failed"
CL = "C:\\x> nvcc a.cu\nnvcc fatal   : Cannot find compiler 'cl.exe' in PATH"
NVCC = "C:\\x> pip install y\n  Building wheel for y\n  RuntimeError: CUDA_HOME environment variable is not set"
BNB = (
    "bin C:\\py\\lib\\site-packages\\bitsandbytes\\libbitsandbytes_cpu.so\nFalse\n"
    "CUDA_SETUP: WARNING! libcudart.so not found in any environmental path. Searching in backup paths..."
)
LIGHT = 'File "C:\\e\\lightning\\x.py", line 1\nRuntimeError: Distributed package doesn\'t have NCCL built in'
ORT = "LoadLibrary failed with error 126 when trying to load C:\\onnxruntime\\capi\\onnxruntime_providers_cuda.dll"
ROWS = {
    "linker": (LINK, r"cublas\.lib", NEVER),
    "no cl.exe": (CL, r"BuildTools", NEVER),
    "no toolkit": (NVCC, r'set "CUDA_HOME=%CUDA_PATH%"', NEVER),
    "bitsandbytes": (BNB, r"bitsandbytes>=0\.\d", NEVER + "|tensorflow"),
    "Lightning": (LIGHT, r"PL_TORCH_DISTRIBUTED_BACKEND=gloo", NEVER),
    "ONNX Runtime and cuDNN": (f"cuDNN version 8907\nonnxruntime-gpu 1.19.2\n{ORT}", r"cuDNN 9", NEVER + "|cudnn-cu12"),
    "libdevice": ("Can't find libdevice directory ${CUDA_DIR}/nvvm/libdevice", r"Windows.*%CUDA_PATH%", "^$"),
    "a kept variable": (
        "C:\\x> python a.py\nRuntimeError: Unrecognized CachingAllocator option: C", "permanently: delete it", NEVER,
    ),
    "a portable Python": (
        "ModuleNotFoundError in C:\\ui\\python_embeded\\Lib\\site-packages\\x.py\nTorch not compiled with CUDA enabled",
        r"C:\\ui\\python_embeded\\python\.exe -m uv pip install .*--python C:\\ui\\python_embeded\\python\.exe", NEVER,
    ),
    "a virtual environment": (
        'File "C:\\my ui\\venv\\lib\\site-packages\\torch\\x.py", line 1\nBad CRC-32 for file \'torch/lib/c10.dll\'',
        r'"C:\\my ui\\venv\\Scripts\\python\.exe" -m uv pip install[\s\S]*& "C:\\my ui\\venv', NEVER,
    ),
    "a pod": ("$ kubectl logs x\nFailed to initialize NVML: Unknown Error", r"kubectl delete pod", r"docker r"),
    "compose": ("docker compose up\nFound no NVIDIA driver on your system.", r"capabilities: \[gpu\]", r"docker run"),
    "given already": (
        "docker run --gpus all x\nFound no NVIDIA driver on your system.", r"NVIDIA_DRIVER_CAPABILITIES=compute", "^$",
    ),
    "told how to start it": (
        "WARNING: The NVIDIA Driver was not detected.\n   Use 'nvidia-docker run' to start this container",
        r"^Start the container with the GPU docker run --gpus all", "^$",
    ),
    "shared memory": ("[1] include/shm.h:28 NCCL WARN Call to posix_fallocate failed : No space left on device",
                      r"--shm-size", r"TMPDIR|df -i"),
    "of the host": ("docker: nvidia-container-cli: initialization error: nvml error: driver/library version mismatch",
                    r"On the host: restart", "^$"),
    "Docker Desktop": ("nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: not there",
                       r"docker context use default[\s\S]*wsl --update", "^$"),
    "old driver for an image": (
        "PS C:\\x> docker run y\nnvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.8",
        r"NVIDIA's for Windows", NEVER,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_the_fix_is_for_that_place(name):
    text, wanted, never = ROWS[name]
    fixes = "\n".join(f"{fix.text} {fix.command}" for fix in explain_text(text).causes[0].fixes)
    assert re.search(wanted, fixes), fixes
    assert not re.search(never, fixes, re.MULTILINE), fixes


def test_what_is_harmless_is_called_so():
    first = "A matching Triton is not available, some optimizations will not be enabled"
    report = explain_text(f"{first}\nError caught was: No module named 'triton'")
    assert (report.status, report.causes) == ("healthy", ())


FIRST = {
    "a build that misses what is there": (
        "(venv) D:\\llm>pip install flash-attn\n  Preparing metadata (setup.py) ... error\n"
        "  × python setup.py egg_info did not run successfully.\n    ModuleNotFoundError: No module named 'torch'\n"
        "(venv) D:\\llm>pip list | findstr torch\ntorch                     2.5.1+cu124\n",
        "program.build", r"--no-build-isolation flash-attn", r"install torch\b",
    ),
    "a function that a library lacks": (
        "C:\\w\\bitsandbytes\\cextension.py:33: UserWarning: The installed version of bitsandbytes was compiled "
        "without GPU support.\nAttributeError: function 'cget_col_row_stats' not found\n",
        "framework.cpu_only", r"pip install (?:-U|--upgrade) bitsandbytes", r"no matter of the GPU",
    ),
    "no file at all for this system": (
        'PS C:\\U> pip install -U "jax[cuda12]"\nERROR: Could not find a version that satisfies the requirement '
        'jax-cuda12-plugin[with-cuda]<=0.4.35; extra == "cuda12" (from jax[cuda12]) (from versions: none)\n',
        "framework.platform_dropped", r"wsl --install", r"pip check",
    ),
    "a container that had the GPU": (
        "$ docker exec -it trainer nvidia-smi\nFailed to initialize NVML: Unknown Error\n"
        "it worked for two days, then the GPU vanished in the container\n",
        "driver.permission", r"docker restart trainer", r"docker run --gpus all IMAGE",
    ),
    "podman does not know --gpus": (
        "$ podman run --rm --gpus all docker.io/nvidia/cuda:12.4.1-base-ubuntu22.04 nvidia-smi\n"
        "Error: crun: executable file `nvidia-smi` not found in $PATH: No such file or directory\n",
        "container.no_gpu", r"--device nvidia\.com/gpu=all", r"stale",
    ),
    "conda's channel that is there": (
        "(base) C:\\x>conda list pytorch\npytorch                   2.3.1              py3.11_cpu_0    pytorch\n"
        '(base) C:\\x>python -c "import torch; print(torch.cuda.is_available())"\nFalse\n',
        "framework.cpu_only", r"-c pytorch -c nvidia pytorch=2\.3\.1 pytorch-cuda=12\.1", r"on a machine with the GPU",
    ),
    "no CUDA beyond the driver's": (
        "(md) C:\\md>python -m openmm.testInstallation\nOpenMM Version: 8.1.1\nCUDA platform error: Error loading CUDA "
        "module: CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222)\n(md) C:\\md>nvidia-smi\n"
        "| NVIDIA-SMI 528.49       Driver Version: 528.49       CUDA Version: 12.0     |\n",
        "driver.too_old", r"cuda-version=12\.0", r"cuda-version=12\.4",
    ),
    "a card whose drivers have ended": (
        "C:\\kobold>koboldcpp.exe --usecublas\n  Device 0: Tesla K80, compute capability 3.7, VMM: no\n"
        "CUDA error: the provided PTX was compiled with an unsupported toolchain.\n",
        "driver.too_old", r"CUDA 11\.4 or older", r"527\.41|Update the NVIDIA driver",
    ),
    "what CMake writes is not edited": (
        "C:\\src>cmake --build build --config Release\n  nvcc fatal   : Unsupported gpu architecture 'compute_120'\n"
        "C:\\VS\\BuildCustomizations\\CUDA 12.4.targets(799,9): error MSB3721: The command exited with code 1.\n",
        "program.build", r"install CUDA 12\.8 or newer", r"CodeGeneration",
    ),
    "a library of Linux in a build": (
        "(ds) C:\\llm>pip install deepspeed\n      Install Ops={'async_io': 1, 'fused_adam': 1}\n"
        "      LINK : fatal error LNK1181: cannot open input file 'aio.lib'\n",
        "other.not_gpu", r"DS_BUILD_OPS=0", r"^$",
    ),
    "a name in an error is no package": (
        "PS C:\\c> pip list | findstr cupy\ncupy-cuda12x       13.4.1\nPS C:\\c> python solve.py\nRuntimeError: CuPy "
        "failed to load nvrtc64_120_0.dll: FileNotFoundError: Could not find module 'nvrtc64_120_0.dll'\n",
        "cuda.compiler_missing", r"cupy-cuda12x\[ctk\]", r"pip uninstall -y cupy",
    ),
    "the file that XLA does not find": (
        "(tf) u@DESKTOP-1A:~$ python t.py\nW nvptx_compiler.cc:708] Can't find libdevice directory "
        "${CUDA_DIR}/nvvm/libdevice.\nINTERNAL: libdevice not found at ./libdevice.10.bc\n"
        "(tf) u@DESKTOP-1A:~$ ls $CONDA_PREFIX/lib/libdevice*\n/home/u/envs/tf/lib/libdevice.10.bc\n",
        "cuda.compiler_missing", r"cp /home/u/envs/tf/lib/libdevice\.10\.bc", r"/usr/lib/wsl/lib",
    ),
    "a card of another maker": (
        'venv "C:\\sd\\venv\\Scripts\\Python.exe"\nRuntimeError: Torch is not able to use GPU; add '
        "--skip-torch-cuda-test to COMMANDLINE_ARGS to disable this check\nMy card is an AMD Radeon RX 6700 XT\n",
        "framework.cpu_only", r"use-zluda|DirectML", r"torch-backend|whl/cu1",
    ),
    "two cards, code for one": (
        "Found GPU1 NVIDIA GeForce GTX 1080 which is of cuda capability 6.1.\n"
        "    Minimum and Maximum cuda capability supported by this version of PyTorch is (7.5) - (12.0)\n"
        "GPU 0: NVIDIA GeForce RTX 5090\nGPU 1: NVIDIA GeForce GTX 1080\n"
        "torch.AcceleratorError: CUDA error: no kernel image is available for execution on the device\n",
        "framework.gpu_unsupported", r"CUDA_VISIBLE_DEVICES=0", r"cu126",
    ),
    "a name that the index does not have": (
        "(p3d) C:\\>pip install pytorch3d\nERROR: Could not find a version that satisfies the requirement pytorch3d "
        "(from versions: none)\nERROR: No matching distribution found for pytorch3d\ntorch 2.4.1+cu121\n",
        "other.not_gpu", r"git\+https://github\.com/facebookresearch/pytorch3d", r"Read the last line",
    ),
    "the toolkit of PyTorch's CUDA": (
        "(v) p@LAPTOP-QW:~$ pip install .\n      OSError: CUDA_HOME environment variable is not set. Please set it to "
        'your CUDA install root.\n(v) p@LAPTOP-QW:~$ python -c "import torch; print(torch.__version__)"\n2.1.2+cu121\n',
        "env.path", r"wsl-ubuntu[\s\S]*cuda-toolkit-12-1", r"nvidia-cuda-toolkit",
    ),
    "what follows WSL is typed in it": (
        "(venv) PS C:\\llm> pip install vllm\n      RuntimeError: vLLM only supports Linux platform (including WSL) "
        "and MacOS.\n",
        "framework.platform_dropped", r"wsl -d Ubuntu --cd ~ -- env/bin/pip install \"vllm\"", r"(?m)^pip install vllm",
    ),
    "a part of PyTorch's own": (
        "RuntimeError: nvrtc: error: failed to open nvrtc-builtins64_121.dll.\n  Make sure that it "
        'is installed correctly.\n  File "F:\\gen\\venv\\lib\\site-packages\\torch\\nn\\module.py", line 1511\n'
        "torch 2.1.0+cu121\n",
        "cuda.compiler_missing", r"torch==2\.1\.0 --index-url \S+/cu121", r"nvidia-cuda-nvrtc-cu12",
    ),
    "an environment by any name": (
        '[ONNXRuntimeError] : 1 : FAIL : LoadLibrary failed with error 126 "" when trying to load '
        '"c:\\t\\myenv\\Lib\\site-packages\\onnxruntime\\capi\\onnxruntime_providers_cuda.dll"\n',
        "cuda.missing_library", r"c:\\t\\myenv\\Scripts\\python\.exe -m pip", r"(?m)^pip install",
    ),
    "nvidia-smi itself crashes": (
        "~ % nvidia-smi\n| NVIDIA-SMI 555.42.03              Driver Version: 555.85         CUDA Version: 12.5     |\n"
        "[1]    494 segmentation fault  nvidia-smi\nworks fine on Win11 but gives Segmentation fault on WSL2\n",
        "wsl.setup", r"wsl --update", r"faulthandler|CUDA_LAUNCH_BLOCKING",
    ),
    "what Numba itself names": (
        "File d:\\Miniconda3\\envs\\usad\\lib\\site-packages\\numba\\cuda\\cudadrv\\nvvm.py:126, in NVVM.__new__(cls)\n"
        "NvvmSupportError: libNVVM cannot be found. Do `conda install cudatoolkit`:\nCould not find 'nvvm.dll'\n",
        "cuda.compiler_missing", r"conda install -n usad -c conda-forge cudatoolkit=11", r"numba-cuda",
    ),
    "a login node": (
        "[gw@login02 ~]$ singularity exec --nv tf.sif python tf.py\nINFO:    Could not find any nv "
        "files on this host!\nCould not load dynamic library 'libcuda.so.1'; dlerror: libcuda.so.1: cannot open shared "
        "object file: No such file or directory; LD_LIBRARY_PATH: /.singularity.d/libs\n",
        "container.no_gpu", r"srun --gres=gpu:1", r"with the --nv option",
    ),
    "an environment below the program's folder": (
        "ComfyUI\\venv\\lib\\site-packages\\torch\\cuda\\__init__.py:235: UserWarning: \nNVIDIA GeForce RTX 5070 Ti "
        "with CUDA capability sm_120 is not compatible with the current PyTorch installation.\n"
        "The current PyTorch install supports CUDA capabilities sm_50 sm_60 sm_80 sm_86 sm_90.\n",
        "framework.gpu_unsupported", r"\.\\ComfyUI\\venv\\Scripts\\python\.exe -m pip", r"(?m)^pip install",
    ),
    "a web interface with a Python of its own": (
        '  File "C:\\Stable Diffusion\\webui\\launch.py", line 48, in <module>\n    main()\n'
        "RuntimeError: Torch is not able to use GPU; add --skip-torch-cuda-test to COMMANDLINE_ARGS to disable "
        "this check\nPress any key to continue . . .\n",
        "framework.cpu_only", r"Stable Diffusion\\system\\python\\python\.exe", r"(?m)^venv\\Scripts",
    ),
    "a web interface by its own words": (
        'venv "C:\\sd\\venv\\Scripts\\Python.exe"\nLaunching Web UI with arguments: --xformers\n'
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1 GiB (GPU 0; 8.00 GiB total capacity)\n",
        "memory.oom", r"COMMANDLINE_ARGS=--medvram", r"\.backward\(\)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FIRST)
def test_the_first_two_fixes_are_for_what_the_text_shows(name):
    text, cause, wanted, never = FIRST[name]
    first = explain_text(text).causes[0]
    said = "\n".join(f"{fix.text}\n{fix.command}" for fix in first.fixes[:2])
    assert first.id == cause
    assert re.search(wanted, said)
    assert not re.search(never, said)
