"""Remedies of the causes that only a program's output can show, each with the messages and speakers it is for."""

from __future__ import annotations

from gpuwhy.causes.clues.meant import Meant, meant, of_output
from gpuwhy.causes.clues.remedies import CUDA_HOME, SHARED_MEMORY
from gpuwhy.causes.clues.remedies_limits import TOLD_ROWS

_SYNCHRONOUS = "CUDA_LAUNCH_BLOCKING=1 python PROGRAM"
_CRASH = "See in which call it crashes: Python then prints where it was"
_FAULTS = "PYTHONFAULTHANDLER=1 python PROGRAM"
_GCC = r"gcc versions? (?:later|greater|newer) than (?P<gcc>4\.\d|\d+)"
_XLA = "tf.libdevice tf.ptxas jax.no_candidates"
_NVRTC = "nvrtc. numba.nvvm loader. cupy. windows."

_ROWS: dict[str, tuple[Meant, ...]] = {
    "cuda.compiler_missing": (
        meant("Install a C compiler", "sudo apt install build-essential", said="triton.compiler", root=True),
        meant("Or name the one that is there", "export CC=$(command -v gcc || command -v clang)", said="triton.compiler", safe=True),
        meant("Or, without root, conda's", "conda install -c conda-forge c-compiler", said="triton.compiler", safe=True),
        meant("Tell the linker where libcuda.so is", "export LIBRARY_PATH=/usr/local/cuda/lib64/stubs:$LIBRARY_PATH", said="triton.libcuda build.cannot_find_l", safe=True),
        meant("Or renew the loader's list, in which Triton looks for it", "sudo ldconfig", said="triton.libcuda build.cannot_find_l", root=True),
        *CUDA_HOME,
        meant("Install nvcc's parts, which XLA compiles with", "pip install nvidia-cuda-nvcc{cu}", said=_XLA, safe=True),
        meant("Or name the toolkit, where one is installed", "export XLA_FLAGS=--xla_gpu_cuda_data_dir=/usr/local/cuda", said=_XLA, safe=True),
        meant("Or with conda", "conda install -c nvidia cuda-nvcc", said=_XLA, safe=True),
        meant("Install the compiler at run time, with what it opens", "pip install nvidia-cuda-nvrtc{cu} nvidia-cuda-nvcc{cu}", said=_NVRTC, safe=True),
        meant("Or with conda", "conda install -c nvidia cuda-nvcc cuda-nvrtc", said=_NVRTC, safe=True),
        meant("Install the library of the driver's own version, which the driver's packages bring", "sudo ubuntu-drivers install", said="cuda.jit_compiler_not_found", root=True, reboot=True),
        meant("In a container: let the runtime bring it in", "docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility IMAGE", said="cuda.jit_compiler_not_found"),
        meant("Windows: install Visual Studio's C++ build tools, and use their x64 Native Tools prompt", said="build.msvc"),
        meant("Install a C compiler and build tools", "sudo apt install build-essential ninja-build", said="build.missing_tool", root=True),
        meant("Install nvcc's parts with pip", "pip install nvidia-cuda-nvcc{cu} nvidia-cuda-nvrtc{cu}", safe=True),
        meant("Or with conda", "conda install -c nvidia cuda-nvcc cuda-nvrtc", safe=True),
        meant("XLA: name the toolkit", "export XLA_FLAGS=--xla_gpu_cuda_data_dir=/usr/local/cuda", by="tensorflow jax", safe=True),
        meant("Install a C compiler", "sudo apt install build-essential", root=True),
        meant("Windows: install the CUDA toolkit, and set CUDA_PATH to it"),
    ),
    "program.build": (
        meant("Use the newest host compiler that this nvcc accepts", "sudo apt install g++-{gcc}\nexport NVCC_PREPEND_FLAGS='-ccbin g++-{gcc}'    # or nvcc -ccbin g++-{gcc}", said="build.host_compiler", line=_GCC, root=True),
        meant("Or, without root, conda's", "conda install -c conda-forge gxx={gcc}\nexport NVCC_PREPEND_FLAGS=\"-ccbin $CONDA_PREFIX/bin/g++\"", said="build.host_compiler", line=_GCC, safe=True),
        meant("Or install a newer CUDA toolkit, which accepts newer compilers", said="build.host_compiler"),
        meant("Windows: install the older Visual Studio build tools that this CUDA accepts, beside the others", said="build.host_compiler", line="visual studio"),
        meant("Leave that architecture out: name the ones that this nvcc knows", "nvcc --list-gpu-arch\nexport TORCH_CUDA_ARCH_LIST=8.6", said="build.nvcc_arch nvrtc.arch", safe=True),
        meant("Or, where the GPU itself is of that architecture, install a newer CUDA toolkit", said="build.nvcc_arch nvrtc.arch"),
        meant("Install Python's headers", "sudo apt install python3-dev", said="build.python_header", root=True),
        meant("Ask for a newer C++", "export CXXFLAGS=-std=c++17 NVCC_APPEND_FLAGS=-std=c++17", said="build.standard", safe=True),
        meant("Compile for the GPU's own architecture", "export TORCH_CUDA_ARCH_LIST=8.6", said="build.ptx_target build.configure", safe=True),
        meant("Install the build tools", "sudo apt install build-essential ninja-build cmake", said="build.missing_tool", root=True),
        meant("Windows: build in the x64 Native Tools prompt of Visual Studio", said="build.msvc"),
        meant("Compile with fewer jobs at once: the compiler was killed for memory", "export MAX_JOBS=2", said="memory.compiler_killed", safe=True),
        meant("Build the extension under the installed PyTorch", "pip install --no-build-isolation --no-cache-dir --force-reinstall EXTENSION", said="build.ext_module ext.not_installed", safe=True),
        *CUDA_HOME,
        meant("Name the toolkit", "export CUDA_HOME=/usr/local/cuda PATH=/usr/local/cuda/bin:$PATH", safe=True),
        meant("Name the architecture", "export TORCH_CUDA_ARCH_LIST=8.6", by="torch", safe=True),
        meant("Windows: build in the x64 Native Tools prompt of Visual Studio"),
    ),
    "program.fork": (
        meant("vLLM: start its workers by spawn", "export VLLM_WORKER_MULTIPROC_METHOD=spawn", by="vllm", safe=True),
        meant("PyTorch: start processes by spawn; in the program, before CUDA is touched", "torch.multiprocessing.set_start_method('spawn')    # of a DataLoader: multiprocessing_context='spawn'", by="torch"),
        meant("Start processes by spawn; in the program, before CUDA is touched", "multiprocessing.set_start_method('spawn')", by="tensorflow jax cupy onnxruntime"),
        meant("Touch CUDA (also device_count) only in the children"),
        meant("Make one context per thread, and push it before use", said="program.context cuda.invalid_context cuda.context_is_destroyed cuda.primary_context_active cuda.incompatible_driver_context"),
    ),
    "distributed.nccl": (
        *SHARED_MEMORY,
        meant("Give each rank its own GPU, in the program", 'torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))', said="nccl.duplicate_gpu"),
        meant("Take another port, and an address that all ranks reach", "export MASTER_ADDR=HOST MASTER_PORT=29501", said="nccl.rendezvous", safe=True),
        meant("Install the same PyTorch, and so the same NCCL, for every rank; see which is there", 'python -c "import torch; print(torch.cuda.nccl.version())"', said="nccl.version", safe=True),
        meant("Leave NVLink SHARP out", "export NCCL_NVLS_ENABLE=0", said="nccl.nvls", safe=True),
        meant("See what NCCL does", "export NCCL_DEBUG=INFO", safe=True, look=True),
        meant("Name the network interface", "export NCCL_SOCKET_IFNAME=eth0", safe=True),
        meant("Leave InfiniBand or peer access out, to see whether it is them", "export NCCL_IB_DISABLE=1 NCCL_P2P_DISABLE=1", safe=True),
        meant("Container: share memory with the host", "docker run --gpus all --ipc=host --ulimit memlock=-1 IMAGE"),
        meant("Windows: use the gloo backend; NCCL does not exist there"),
    ),
    "memory.oom": (
        meant("vLLM: make the context shorter, or give the cache more of the memory", "vllm serve MODEL --max-model-len 8192 --gpu-memory-utilization 0.95", said="memory.kv_cache", by="vllm"),
        meant("Make the batch, the sequence or the image smaller, or accumulate gradients"),
        meant("Use half precision or quantised weights"),
        meant("Split the model over several GPUs, or offload parts to the host"),
        meant("PyTorch: see what holds the memory: in the program, where the error is caught (except torch.cuda.OutOfMemoryError:)", "print(torch.cuda.memory_summary())", by="torch", safe=True, look=True),
    ),
    "memory.preallocation": (
        meant("TensorFlow: take memory as it is needed", "export TF_FORCE_GPU_ALLOW_GROWTH=true", by="tensorflow", safe=True),
        meant("JAX: do not take memory ahead", "export XLA_PYTHON_CLIENT_PREALLOCATE=false", by="jax", safe=True),
        meant("JAX: or take a smaller share", "export XLA_PYTHON_CLIENT_MEM_FRACTION=.60", by="jax", safe=True),
        meant("Beside another framework: let TensorFlow and JAX take memory as it is needed", "export TF_FORCE_GPU_ALLOW_GROWTH=true XLA_PYTHON_CLIENT_PREALLOCATE=false", by="torch onnxruntime cupy", safe=True),
    ),
    "memory.fragmentation": (
        meant("PyTorch: let segments grow", "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", by="torch", safe=True),
        meant("PyTorch before 2.1: keep large blocks whole", "export PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:128", by="torch", safe=True),
        meant("TensorFlow: use CUDA's own pool", "export TF_GPU_ALLOCATOR=cuda_malloc_async", by="tensorflow", safe=True),
        meant("Keep shapes the same from step to step"),
    ),
    "program.illegal_access": (
        meant(_CRASH, _FAULTS, said="signal.segv", safe=True),
        meant("Find the kernel", "compute-sanitizer python PROGRAM", safe=True),
        meant("Make the report synchronous, so that the right line is named", _SYNCHRONOUS, safe=True),
        meant("If the kernel is a library's, try its newest release", "pip install --upgrade torch", by="torch", safe=True),
    ),
    "program.index": (
        meant("Run the step on the CPU: it names the index", "CUDA_VISIBLE_DEVICES= python PROGRAM", safe=True),
        meant("Make the report synchronous", _SYNCHRONOUS, safe=True),
        meant("Check labels against the number of classes, and token ids against the size of the embedding"),
        meant("Restart the process: after an assertion its GPU work is lost"),
    ),
    "program.shape": (
        meant("Print shape, type and device of the tensors before the failing line"),
        meant("Run the step on the CPU, where the message is plainer", "CUDA_VISIBLE_DEVICES= python PROGRAM", safe=True),
        meant("For cuDNN's NOT_SUPPORTED: make the input contiguous (x.contiguous())"),
    ),
    "framework.bug": (
        meant(_CRASH, _FAULTS, said="signal.segv", safe=True),
        meant("Then try another release of the package that the last call belongs to", said="signal.segv"),
        meant("Try the newest release", "pip install --upgrade torch", by="torch", safe=True),
        meant("Try the newest release", 'pip install --upgrade "tensorflow[and-cuda]"', by="tensorflow", safe=True),
        meant("Try the newest release", 'pip install --upgrade "jax[cuda12]"', by="jax", safe=True),
        meant("Try the newest release", 'pip install --upgrade "onnxruntime-gpu[cuda,cudnn]"', by="onnxruntime", safe=True),
        meant("Or the release before the one that is installed"),
        meant("PyTorch: see whether cuDNN is at fault: switch it off (torch.backends.cudnn.enabled = False)", by="torch"),
        meant("Report it with a small program that shows it"),
    ),
    "other.not_gpu": (
        meant("Windows: install the Microsoft Visual C++ redistributable", said="windows.msvc windows.dll_load_failed windows.torch_dll windows.error"),
        meant(_CRASH, _FAULTS, said="signal.segv memory.worker_killed", safe=True),
        meant("Update docker and Compose: the file asks for more than they know", said="container.compose"),
        meant("Read the last line of the traceback: it names the module or file"),
    ),
}  # fmt: skip

TOLD: dict[str, tuple[Meant, ...]] = {cause: of_output(rows) for cause, rows in (_ROWS | TOLD_ROWS).items()}
