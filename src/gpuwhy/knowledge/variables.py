"""Environment variables that steer the GPU stack: who reads each of them, and what is worth knowing about it."""

from __future__ import annotations

import msgspec


class VariableRow(msgspec.Struct, frozen=True):
    """One variable, or a prefix of many (`TF_*`): its reader and the frameworks it needs to matter."""

    name: str
    reader: str
    frameworks: tuple[
        str, ...
    ] = ()  # it steers something only if one of these is installed; () = always
    source: str = ""
    note: str = ""  # true whenever it is set
    private: bool = False  # its value may name hosts: only that it is set is kept


_ENV_GUIDE = "CUDA Programming Guide, CUDA Environment Variables"
_TF = ("tensorflow",)
_TORCH = ("torch",)
_JAX = ("jax",)
_XLA = ("tensorflow", "jax")
_XLA_READER = "XLA (TensorFlow, JAX)"

# Exact names first, prefixes last; the first row that fits is the variable's.
ROWS: tuple[VariableRow, ...] = (
    VariableRow("LD_LIBRARY_PATH", "the dynamic loader", source="ld.so(8)"),
    VariableRow("LD_PRELOAD", "the dynamic loader", source="ld.so(8)"),
    VariableRow("LD_AUDIT", "the dynamic loader", source="ld.so(8)"),
    VariableRow("LD_DEBUG", "the dynamic loader", source="ld.so(8)"),
    VariableRow("LD_BIND_NOW", "the dynamic loader", source="ld.so(8)"),
    VariableRow("PATH", "the shell", source="environ(7)"),
    VariableRow("PYTHONPATH", "Python", source="Python documentation, Command line and environment"),
    VariableRow("PYTHONHOME", "Python", source="Python documentation, Command line and environment"),
    VariableRow("PYTHONNOUSERSITE", "Python", source="Python documentation, Command line and environment"),
    VariableRow("VIRTUAL_ENV", "the shell's active Python environment", source="Python documentation, venv"),
    VariableRow("CONDA_PREFIX", "the shell's active conda environment", source="conda documentation"),
    VariableRow("CONDA_DEFAULT_ENV", "the shell's active conda environment", source="conda documentation"),
    VariableRow("CUDA_VISIBLE_DEVICES", "the CUDA driver", source=_ENV_GUIDE),
    VariableRow("CUDA_DEVICE_ORDER", "the CUDA driver", source=_ENV_GUIDE),
    VariableRow(
        "CUDA_LAUNCH_BLOCKING",
        "the CUDA driver",
        source=_ENV_GUIDE,
        note="1 makes every kernel launch wait: good for finding an error, slow for everything else",
    ),
    VariableRow("CUDA_MODULE_LOADING", "the CUDA driver", source=_ENV_GUIDE),
    VariableRow("CUDA_MODULE_DATA_LOADING", "the CUDA driver", source=_ENV_GUIDE),
    VariableRow("CUDA_FORCE_PTX_JIT", "the CUDA driver", source=_ENV_GUIDE),
    VariableRow("CUDA_DISABLE_PTX_JIT", "the CUDA driver", source=_ENV_GUIDE),
    VariableRow("CUDA_CACHE_DISABLE", "the CUDA driver", source=_ENV_GUIDE),
    VariableRow("CUDA_CACHE_PATH", "the CUDA driver", source=_ENV_GUIDE),
    VariableRow("CUDA_CACHE_MAXSIZE", "the CUDA driver", source=_ENV_GUIDE),
    VariableRow("CUDA_MPS_*", "the CUDA driver, when the MPS daemon runs", source="NVIDIA MPS documentation"),
    VariableRow(
        "CUDA_HOME",
        "whoever compiles with CUDA: PyTorch extensions, CuPy, Numba, JAX",
        ("torch", "cupy", "numba", "jax", "triton"),
        "torch.utils.cpp_extension; cupy.cuda.get_cuda_path; numba.cuda.cuda_paths",
    ),
    VariableRow(
        "CUDA_PATH",
        "whoever compiles with CUDA: PyTorch extensions, CuPy, JAX",
        ("torch", "cupy", "jax"),
        "torch.utils.cpp_extension; cupy.cuda.get_cuda_path; CMake FindCUDAToolkit",
    ),
    VariableRow("CUDA_ROOT", "JAX, in its search for ptxas and libdevice", _JAX, "jax._src.lib, cuda_path"),
    VariableRow("CUDA_TOOLKIT_ROOT_DIR", "CMake projects", ("cmake",), "CMake FindCUDA"),
    VariableRow("CUDNN_PATH", "builds against cuDNN", ("cudnn-frontend",), "cudnn-frontend build"),
    VariableRow("CUDNN_HOME", "builds against cuDNN", ("cudnn-frontend",), "cudnn-frontend build"),
    VariableRow("CUDNN_ROOT", "builds against cuDNN", ("cudnn-frontend",), "cudnn-frontend build"),
    VariableRow("CUDNN_LOGLEVEL_DBG", "cuDNN", source="cuDNN documentation, Error reporting and API logging"),
    VariableRow("CUDNN_LOGDEST_DBG", "cuDNN", source="cuDNN documentation, Error reporting and API logging"),
    VariableRow(
        "NVIDIA_VISIBLE_DEVICES",
        "the NVIDIA container runtime, when it starts a container",
        source="NVIDIA Container Toolkit documentation",
        note="CUDA itself does not read it: inside a running container or outside one, changing it has no effect",
    ),
    VariableRow(
        "NVIDIA_DRIVER_CAPABILITIES",
        "the NVIDIA container runtime, when it starts a container",
        source="NVIDIA Container Toolkit documentation",
    ),
    VariableRow(
        "NVIDIA_REQUIRE_*", "the NVIDIA container runtime, when it starts a container",
        source="NVIDIA Container Toolkit documentation",
    ),
    VariableRow(
        "NVIDIA_DISABLE_REQUIRE", "the NVIDIA container runtime, when it starts a container",
        source="NVIDIA Container Toolkit documentation",
    ),
    VariableRow("NVIDIA_TF32_OVERRIDE", "cuBLAS, cuDNN and the other math libraries", source="cuBLAS documentation"),
    VariableRow("TF_FORCE_GPU_ALLOW_GROWTH", "TensorFlow", _TF, "TensorFlow guide, GPU"),
    VariableRow("TF_CPP_MIN_LOG_LEVEL", "TensorFlow, JAX", _XLA, "tsl default logging"),
    VariableRow("TF_CPP_MAX_VLOG_LEVEL", "TensorFlow, JAX", _XLA, "tsl default logging"),
    VariableRow(
        "TF_GPU_ALLOCATOR", "TensorFlow", _TF, "TensorFlow sources"
    ),
    VariableRow("TF_CONFIG", "TensorFlow's distributed strategies", _TF, "tf.distribute", private=True),
    VariableRow("XLA_FLAGS", _XLA_READER, _XLA, "XLA documentation, flags"),
    VariableRow("XLA_PYTHON_CLIENT_PREALLOCATE", "JAX", _JAX, "JAX documentation, GPU memory allocation"),
    VariableRow("XLA_PYTHON_CLIENT_MEM_FRACTION", "JAX", _JAX, "JAX documentation, GPU memory allocation"),
    VariableRow("XLA_PYTHON_CLIENT_ALLOCATOR", "JAX", _JAX, "JAX documentation, GPU memory allocation"),
    VariableRow("XLA_CLIENT_MEM_FRACTION", "JAX", _JAX, "JAX documentation, GPU memory allocation"),
    VariableRow("JAX_COORDINATOR_ADDRESS", "JAX's distributed start", _JAX, "jax.distributed", private=True),
    VariableRow("NCCL_COMM_ID", "NCCL", source="NCCL documentation, Environment Variables", private=True),
    VariableRow("PYTORCH_CUDA_ALLOC_CONF", "PyTorch", _TORCH, "PyTorch CUDA semantics, Memory management"),
    VariableRow("PYTORCH_ALLOC_CONF", "PyTorch", _TORCH, "PyTorch CUDA semantics, Memory management"),
    VariableRow("PYTORCH_NO_CUDA_MEMORY_CACHING", "PyTorch", _TORCH, "PyTorch CUDA environment variables"),
    VariableRow("TORCH_CUDA_ARCH_LIST", "builds of PyTorch extensions", _TORCH, "torch.utils.cpp_extension"),
    VariableRow("NVCC_*", "nvcc", source="nvcc documentation"),
    VariableRow("NCCL_*", "NCCL", source="NCCL documentation, Environment Variables"),
    VariableRow("TF_*", "TensorFlow", _TF, "TensorFlow sources"),
    VariableRow("XLA_*", _XLA_READER, _XLA, "XLA documentation"),
    VariableRow("PYTORCH_*", "PyTorch", _TORCH, "PyTorch environment variables"),
    VariableRow("TORCH_*", "PyTorch", _TORCH, "PyTorch environment variables"),
    VariableRow("JAX_*", "JAX", _JAX, "JAX configuration options"),
    VariableRow("CUPY_*", "CuPy", ("cupy",), "CuPy documentation, Environment variables"),
    VariableRow("ORT_*", "ONNX Runtime", ("onnxruntime",), "ONNX Runtime documentation"),
    VariableRow("TORCHINDUCTOR_*", "PyTorch's compiler", _TORCH, "torch._inductor.config"),
    VariableRow("TORCHDYNAMO_*", "PyTorch's compiler", _TORCH, "torch._dynamo.config"),
    VariableRow("CUBLAS_*", "cuBLAS", source="cuBLAS documentation"),
    VariableRow("CUBLASLT_*", "cuBLAS", source="cuBLAS documentation"),
    VariableRow("KERAS_*", "Keras", _TF, "Keras documentation"),
    VariableRow("TRITON_*", "Triton", ("triton", "torch"), "Triton knobs"),
    VariableRow("NUMBA_*", "Numba", ("numba",), "Numba documentation, Environment variables"),
    VariableRow("PADDLE_*", "PaddlePaddle", ("paddle", "paddlepaddle"), "PaddlePaddle documentation"),
    VariableRow("MXNET_*", "MXNet", ("mxnet",), "MXNet documentation, Environment variables"),
    VariableRow("TENSORRT_*", "TensorRT", ("tensorrt",), "TensorRT documentation"),
    VariableRow("TRT_*", "TensorRT", ("tensorrt",), "TensorRT documentation"),
    VariableRow("CUDNN_*", "cuDNN", source="cuDNN documentation"),
    VariableRow("HIP_VISIBLE_DEVICES", "AMD's ROCm, not CUDA", ("rocm",), "ROCm documentation"),
    VariableRow("GPU_DEVICE_ORDINAL", "AMD's ROCm, not CUDA", ("rocm",), "ROCm documentation"),
    VariableRow("HSA_*", "AMD's ROCm, not CUDA", ("rocm",), "ROCm documentation"),
    VariableRow("ROCR_*", "AMD's ROCm, not CUDA", ("rocm",), "ROCm documentation"),
)  # fmt: skip

FOREIGN = (
    "TF_VAR_",
    "TF_CLI_",
    "TF_TOKEN_",
    "TF_LOG",
    "TF_DATA_DIR",
    "TF_INPUT",
    "TF_WORKSPACE",
    "TF_REGISTRY_",
)
"""Terraform's variables, which only look like TensorFlow's."""

NOT_READ_BY_TENSORFLOW = frozenset(
    {"CUDA_PATH", "CUDA_ROOT", "CUDNN_PATH", "CUDNN_HOME", "CUDNN_ROOT"}
)
"""Names that TensorFlow on Linux does not read: its libraries come through the loader alone (docs/knowledge.md)."""

ALLOCATOR_KEYS = frozenset(
    {
        "backend",
        "expandable_segments",
        "expandable_segments_reserve",
        "expandable_segments_reserve_by_class",
    }
    | {"garbage_collection_threshold", "graph_capture_record_stream_reuse", "large_segment_size_mb"}
    | {
        "max_non_split_rounding_mb",
        "max_split_size_mb",
        "per_process_memory_fraction",
        "pinned_free_catch_all",
    }
    | {"pinned_max_cached_size_mb", "pinned_max_round_threshold_mb", "pinned_num_register_threads"}
    | {
        "pinned_reserve_segment_size_mb",
        "pinned_use_background_threads",
        "pinned_use_cuda_host_register",
    }
    | {"pinned_use_hip_host_register", "release_lock_on_cudamalloc", "release_lock_on_hipmalloc"}
    | {"roundup_bypass_threshold_mb", "roundup_power2_divisions", "throw_on_cudamalloc_oom"}
)
"""Keys of PYTORCH_CUDA_ALLOC_CONF: those in libc10 of torch 2.15.0, and roundup_bypass_threshold_mb of 1.12."""

CONTAINER_FOLDERS = frozenset(
    {"/usr/local/nvidia/lib", "/usr/local/nvidia/lib64", "/usr/local/nvidia/bin"}
)
"""NVIDIA's container images put these on the search paths whether they exist or not."""

_EXACT = {row.name: row for row in ROWS if not row.name.endswith("*")}
_PREFIXES = tuple((row.name[:-1], row) for row in ROWS if row.name.endswith("*"))


def variable_row(name: str) -> VariableRow | None:
    """What is known of a variable; None when nothing is."""
    if name in _EXACT:
        return _EXACT[name]
    return next((row for prefix, row in _PREFIXES if name.startswith(prefix)), None)
