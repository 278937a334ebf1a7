"""The table of tools/provoke_variables.py: environments, programs, and variables with values of every bad kind."""

from __future__ import annotations

from typing import NamedTuple

ENVIRONMENTS: dict[str, tuple[str, str]] = {
    "torch": ("3.11", "torch==2.13.0+cpu numpy setuptools"),
    "jax": ("3.12", "jax numba onnxruntime"),
    "jax43": ("3.11", "jax==0.4.30 jaxlib==0.4.30 numpy<2"),
    "tf": ("3.12", "tensorflow-cpu"),
    "tf215": ("3.11", "tensorflow-cpu==2.15.1 numpy<2"),
    "triton": ("3.12", "triton cupy-cuda12x numba numba-cuda"),
}

PROGRAMS: dict[str, str] = {
    "torch": """
import torch
x = torch.ones(64, 64, requires_grad=True)
print(torch.__version__, float((x @ x).sum()))
""",
    "torch_compile": """
import torch, torch._dynamo.config, torch._inductor.config, torch._functorch.config, torch._inductor.compile_fx
from torch._inductor.async_compile import get_compile_threads
print(torch._inductor.config.max_autotune, get_compile_threads())
f = torch.compile(lambda x: torch.sin(x) + 1, backend="aot_eager")
print(float(f(torch.ones(8)).sum()))
""",
    "torch_dist": """
import torch, torch.distributed as dist
dist.init_process_group("gloo", init_method="tcp://127.0.0.1:0", rank=0, world_size=1)
x = torch.ones(4); dist.all_reduce(x); print(x)
dist.destroy_process_group()
""",
    "torch_ext": """
import os
os.environ.setdefault("TORCH_CUDA_ARCH_LIST", "8.0")
import torch
from torch.utils import cpp_extension
print(cpp_extension._get_cuda_arch_flags())
""",
    "torch_alloc": """
import torch
print(torch._C._accelerator_getAllocatorSettings() if hasattr(torch._C, "_accelerator_getAllocatorSettings") else "none")
x = torch.ones(8); print(x.sum())
print(torch.accelerator.is_available(), torch.accelerator.current_accelerator())
""",
    "torch_gpu": """
import os, torch, torch.distributed as dist
torch.use_deterministic_algorithms(True)
x = torch.ones(64, 64, device="cuda")
print(torch.__version__, float((x @ x).sum()), torch.cuda.get_device_name())
os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29511", RANK="0", WORLD_SIZE="1")
os.environ.setdefault("NCCL_DEBUG", "INFO")
dist.init_process_group("nccl")
dist.all_reduce(x)
torch.cuda.synchronize()
dist.destroy_process_group()
""",
    "jax": """
import jax, jax.numpy as jnp
print(jax.__version__, jax.devices())
print(jax.jit(lambda x: (x @ x).sum())(jnp.ones((8, 8))))
""",
    "tf": """
import tensorflow as tf
print(tf.__version__, tf.config.list_physical_devices())
@tf.function(jit_compile=True)
def f(x):
    return tf.reduce_sum(tf.matmul(x, x))
print(float(f(tf.ones((8, 8)))))
""",
    "tf_multi": """
import tensorflow as tf
print(tf.distribute.cluster_resolver.TFConfigClusterResolver().cluster_spec())
s = tf.distribute.MultiWorkerMirroredStrategy()
print(s)
""",
    "keras": """
import keras
print(keras.backend.backend())
m = keras.Sequential([keras.layers.Dense(2)]); print(m(keras.ops.ones((1, 2))).shape)
""",
    "numba": """
import numba, numpy as np
@numba.njit(parallel=True)
def f(a):
    t = 0.0
    for i in numba.prange(a.size):
        t += a[i]
    return t
print(numba.__version__, f(np.ones(100)))
""",
    "numba_cuda": """
from numba import cuda
import numpy as np
@cuda.jit
def k(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] += 1
print(cuda.is_available())
""",
    "ort": """
import onnxruntime as ort
print(ort.__version__, ort.get_available_providers())
""",
    "triton": """
import triton, triton.language as tl
@triton.jit
def add(x, y, n, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + o, tl.load(x + o, mask=o < n), mask=o < n)
print(triton.__version__)
k = getattr(triton, "knobs", None)
for group in ("build", "redis", "cache", "compilation", "autotuning", "language", "nvidia", "amd", "proton", "runtime"):
    g = getattr(k, group, None)
    if g is not None:
        for name in sorted(n for n in dir(type(g)) if not n.startswith("_") and n not in ("copy", "reset", "scope", "knobs", "knob_descriptors")):
            getattr(g, name)
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
src = ASTSource(fn=add, signature={"x": "*fp32", "y": "*fp32", "n": "i32", "B": "constexpr"}, constexprs={(3,): 64})
print(len(triton.compile(src, target=GPUTarget("cuda", 80, 32)).asm["ptx"]) > 10)
""",
    "cupy": """
import cupy
print(cupy.__version__, cupy.cuda.runtime.runtimeGetVersion())
""",
}


class VariableCase(NamedTuple):
    """One row: the environment, the program, the variables, an id."""

    environment: str
    program: str
    variables: dict[str, str]
    id: str


_ROWS: dict[tuple[str, str], dict[str, tuple[str, ...]]] = {
    ("jax", "jax"): {
        "JAX_PLATFORMS": ("gpu", "cuda", "CPU", "nvidia", "cuda,cpu", "cpu,", "tpu", "rocm"),
        "JAX_PLATFORM_NAME": ("gpu", "cuda", "nvidia", "CPU"),
        "JAX_ENABLE_X64": ("maybe", "2", "", "YES"),
        "JAX_DEBUG_NANS": ("maybe", "-1"),
        "JAX_DEFAULT_MATMUL_PRECISION": ("bf16", "high", "tf32", "fast"),
        "JAX_NUMPY_DTYPE_PROMOTION": ("loose",),
        "JAX_DEFAULT_DTYPE_BITS": ("16",),
        "JAX_TRACEBACK_FILTERING": ("full", "no"),
        "JAX_NUM_CPU_DEVICES": ("many", "0", "-3", "1.5"),
        "JAX_CPU_COLLECTIVES_IMPLEMENTATION": ("nccl", "foo"),
        "JAX_COMPILATION_CACHE_MAX_SIZE": ("1GB",),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": ("fast",),
        "JAX_LOGGING_LEVEL": ("LOUD",),
        "JAX_CUDA_VISIBLE_DEVICES": ("x", "9"),
        "JAX_MOCK_GPU_TOPOLOGY": ("foo",),
        "JAX_DEFAULT_DEVICE": ("gpu", "foo"),
        "JAX_TRANSFER_GUARD": ("on",),
        "JAX_SHARE_BINARY_BETWEEN_HOSTS_TIMEOUT_MS": ("1s",),
        "JAX_COMPILER_DETAILED_LOGGING_MIN_OPS": ("x",),
        "JAX_DEFAULT_PRNG_IMPL": ("mt19937",),
        "XLA_FLAGS": (
            "--xla_gpu_foo=1", "--xla_gpu_autotune_level=high", "xla_dump_to=/tmp/x", "--xla_gpu_deterministic_ops=maybe",
            "--xla_force_host_platform_device_count=x", "--xla_gpu_enable_triton_softmax_fusion=true", "--tf_xla_auto_jit=2",
            "xla_gpu_autotune_level", "--xla_gpu_enable_async_all_reduce=true", "--xla_backend_optimization_level=-x", "-xla_dump_to=/tmp/d",
            "--xla_gpu_cuda_data_dir", "/nonexistent/flags.txt", "--xla_gpu_autotune_levle=2", "--xla_gpu_graph_level=yes",
        ),
        "XLA_PYTHON_CLIENT_MEM_FRACTION": ("abc", "90%"),
        "TF_CPP_MIN_LOG_LEVEL": ("ERROR", "x"),
        "LIBTPU_INIT_ARGS": ("--foo",),
    },
    ("jax43", "jax"): {
        "JAX_PLATFORMS": ("gpu", "cuda", "CPU", "nvidia"),
        "JAX_PLATFORM_NAME": ("gpu", "cuda"),
        "JAX_ENABLE_X64": ("maybe", "2"),
        "JAX_DEFAULT_MATMUL_PRECISION": ("bf16", "fast"),
        "JAX_TRACEBACK_FILTERING": ("full",),
        "XLA_FLAGS": (
            "--xla_gpu_foo=1", "--xla_gpu_autotune_level=high", "xla_dump_to=/tmp/x", "--xla_gpu_deterministic_ops=maybe",
            "--xla_gpu_enable_command_buffer=foo", "--xla_gpu_autotune_gemm_rtol=0.1",
        ),
        "JAX_NUM_CPU_DEVICES": ("4",),
        "JAX_CPU_COLLECTIVES_IMPLEMENTATION": ("foo",),
    },
    ("torch", "torch"): {
        "TORCH_LOGS": ("everything", "dynamo=debug", "+foo", "-all,bar"),
        "TORCH_CPP_LOG_LEVEL": ("LOUD", "9"),
        "TORCH_SHOW_CPP_STACKTRACES": ("maybe",),
        "TORCHDYNAMO_DISABLE": ("maybe",),
        "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": ("maybe",),
        "TORCH_DEVICE_BACKEND_AUTOLOAD": ("2",),
        "PYTORCH_ENABLE_MPS_FALLBACK": ("x",),
        "OMP_NUM_THREADS": ("abc", "0", "-1"),
        "MKL_NUM_THREADS": ("abc",),
        "ATEN_CPU_CAPABILITY": ("avx9",),
        "TORCH_FLOAT32_MATMUL_PRECISION": ("tf32",),
        "KMP_AFFINITY": ("foo",),
        "GOMP_CPU_AFFINITY": ("foo",),
        "DNNL_MAX_CPU_ISA": ("foo",),
        "PYTORCH_JIT": ("maybe",),
        "TORCH_CUDNN_V8_API_LRU_CACHE_LIMIT": ("x",),
    },
    ("torch", "torch_alloc"): {
        "PYTORCH_ALLOC_CONF": ("foo:1", "max_split_size_mb=128", "max_split_size_mb:abc", "expandable_segments:yes", "expandable_segments", "garbage_collection_threshold:1.5", "max_split_size_mb:5", "backend:foo", "roundup_power2_divisions:3"),
        "PYTORCH_CUDA_ALLOC_CONF": ("foo:1", "max_split_size_mb=128", "max_split_size_mb:abc", "expandable_segments:yes"),
    },
    ("torch", "torch_compile"): {
        "TORCHINDUCTOR_COMPILE_THREADS": ("many", "-1"),
        "TORCHINDUCTOR_MAX_AUTOTUNE": ("maybe",),
        "TORCHINDUCTOR_MAX_AUTOTUNE_GEMM_BACKENDS": ("foo",),
        "TORCHINDUCTOR_FREEZING": ("x",),
        "TORCHINDUCTOR_CPP_WRAPPER": ("x",),
        "TORCHINDUCTOR_AUTOTUNE_MULTI_DEVICE": ("x",),
        "TORCHINDUCTOR_WORKER_START": ("thread",),
        "TORCHINDUCTOR_FORCE_DISABLE_CACHES": ("x",),
        "TORCHINDUCTOR_UNIQUE_KERNEL_NAMES": ("x",),
        "TORCHINDUCTOR_SIZE_ASSERTS": ("x",),
        "TORCHINDUCTOR_CPP_SIMDLEN": ("wide",),
        "TORCHINDUCTOR_CPP_MIN_CHUNK_SIZE": ("x",),
        "TORCHINDUCTOR_MIN_NUM_SPLIT": ("x",),
        "TORCHINDUCTOR_BENCHMARK_KERNEL": ("x",),
        "TORCHINDUCTOR_REALIZE_OPCOUNT_THRESHOLD": ("x",),
        "TORCHINDUCTOR_LAYOUT_OPT_DEFAULT": ("x",),
        "TORCHDYNAMO_REPRO_AFTER": ("foo",),
        "TORCHDYNAMO_REPRO_LEVEL": ("9", "x"),
        "TORCH_COMPILE_DEBUG": ("maybe",),
        "TORCHINDUCTOR_CACHE_DIR": ("/proc/foo",),
        "TORCH_COMPILE_FORCE_DISABLE_CACHES": ("x",),
        "TORCHINDUCTOR_FX_GRAPH_REMOTE_CACHE": ("x",),
        "TORCHINDUCTOR_MAX_FUSION_SIZE": ("x",),
        "TORCHINDUCTOR_SUBPROC_POOL": ("x",),
        "AOT_PARTITIONER_DEBUG": ("x",),
        "TORCH_COMPILE_CPROFILE": ("x",),
        "TORCHDYNAMO_AUTOMATIC_DYNAMIC_LOCAL_PGO": ("x",),
        "TORCH_TRACE": ("/proc/foo",),
    },
    ("torch", "torch_dist"): {
        "TORCH_DISTRIBUTED_DEBUG": ("foo", "1"),
        "TORCH_NCCL_ASYNC_ERROR_HANDLING": ("abc",),
        "GLOO_SOCKET_IFNAME": ("eth99",),
        "TORCH_DISTRIBUTED_BACKEND": ("foo",),
        "TORCH_CPP_LOG_LEVEL": ("LOUD",),
    },
    ("torch", "torch_ext"): {
        "TORCH_CUDA_ARCH_LIST": ("sm_90", "90", "8.0,9.0", "9.0 PTX", "Amper", "8.6+ptx", "Hopper9", "compute_80", "all"),
    },
    ("tf", "tf"): {
        "TF_XLA_FLAGS": ("--tf_xla_foo=1", "--tf_xla_auto_jit=x", "tf_xla_auto_jit=2", "--xla_gpu_autotune_level=2"),
        "XLA_FLAGS": ("--xla_gpu_foo=1", "--xla_gpu_autotune_level=high", "--tf_xla_auto_jit=2", "xla_dump_to=/tmp/x"),
        "TF_CPP_MIN_LOG_LEVEL": ("ERROR", "-1"),
        "TF_NUM_INTEROP_THREADS": ("abc", "-5"),
        "TF_NUM_INTRAOP_THREADS": ("abc",),
        "TF_ENABLE_ONEDNN_OPTS": ("maybe",),
        "TF_FORCE_GPU_ALLOW_GROWTH": ("maybe", "1"),
        "TF_GPU_ALLOCATOR": ("foo",),
        "TF_DETERMINISTIC_OPS": ("maybe",),
        "TF_USE_LEGACY_KERAS": ("1",),
        "TF_CPP_VMODULE": ("foo",),
        "TF_CPP_MAX_VLOG_LEVEL": ("x",),
        "TF_GPU_THREAD_MODE": ("foo",),
        "TF_XLA_HSACO_CACHE_DIR": ("x",),
        "TF_JIT_PROFILING": ("x",),
        "TF2_BEHAVIOR": ("0", "x"),
        "TF_ENABLE_XLA": ("x",),
        "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": ("python", "foo", "cpp"),
    },
    ("tf", "tf_multi"): {"TF_CONFIG": ("{", "{}", '{"cluster": 3}', "worker0:1")},
    ("tf", "keras"): {"KERAS_BACKEND": ("foo", "torch", "jax", "theano")},
    ("tf215", "tf"): {
        "TF_XLA_FLAGS": ("--tf_xla_foo=1", "--tf_xla_auto_jit=x"),
        "XLA_FLAGS": ("--xla_gpu_foo=1", "--xla_gpu_autotune_level=high", "xla_dump_to=/tmp/x"),
        "TF_NUM_INTEROP_THREADS": ("abc",),
        "TF_ENABLE_ONEDNN_OPTS": ("maybe",),
        "TF_FORCE_GPU_ALLOW_GROWTH": ("maybe",),
        "TF_CPP_MIN_LOG_LEVEL": ("ERROR",),
    },
    ("jax", "numba"): {
        "NUMBA_NUM_THREADS": ("0", "abc", "-1", "100000"),
        "NUMBA_THREADING_LAYER": ("foo", "tbb", "safe"),
        "NUMBA_DISABLE_JIT": ("maybe", "2"),
        "NUMBA_OPT": ("9", "fast"),
        "NUMBA_CPU_NAME": ("foo",),
        "NUMBA_CPU_FEATURES": ("foo",),
        "NUMBA_CACHE_DIR": ("/proc/x",),
        "NUMBA_DEBUG": ("x",),
        "NUMBA_BOUNDSCHECK": ("x",),
        "NUMBA_DISABLE_CUDA": ("x",),
        "NUMBA_LOOP_VECTORIZE": ("x",),
        "NUMBA_THREADING_LAYER_PRIORITY": ("foo bar baz", "omp"),
        "NUMBA_COLOR_SCHEME": ("neon",),
        "NUMBA_CAPTURED_ERRORS": ("foo",),
    },
    ("triton", "numba_cuda"): {
        "NUMBA_ENABLE_CUDASIM": ("maybe", "1"),
        "NUMBA_DISABLE_CUDA": ("1",),
        "NUMBA_CUDA_DRIVER": ("/nonexistent/libcuda.so",),
        "NUMBA_CUDA_DEFAULT_PTX_CC": ("9.0", "x"),
        "NUMBA_FORCE_CUDA_CC": ("9.0", "x"),
        "NUMBA_CUDA_MAX_PENDING_DEALLOCS_COUNT": ("x",),
        "NUMBA_CUDA_LOG_LEVEL": ("LOUD",),
        "NUMBA_CUDA_ENABLE_MINOR_VERSION_COMPATIBILITY": ("x",),
        "NUMBA_CUDA_MEMORY_MANAGER": ("rmm",),
        "NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS": ("x",),
    },
    ("jax", "ort"): {"ORT_CUDA_UNAVAILABLE": ("x",), "ORT_LOG_LEVEL": ("x",), "OMP_NUM_THREADS": ("x",), "ORT_DISABLE_TELEMETRY": ("x",)},
    ("triton", "triton"): {
        "TRITON_INTERPRET": ("maybe", "1"),
        "TRITON_PTXAS_PATH": ("/nonexistent/ptxas", "/bin/false"),
        "TRITON_PTXAS_BLACKWELL_PATH": ("/nonexistent/ptxas",),
        "TRITON_DEBUG": ("maybe",),
        "TRITON_STORE_BINARY_ONLY": ("x",),
        "TRITON_CACHE_DIR": ("/proc/foo",),
        "TRITON_CACHE_MANAGER": ("foo", "foo:Bar"),
        "TRITON_CACHE_AUTOTUNING": ("x",),
        "TRITON_NUM_COMPILE_THREADS": ("x",),
        "TRITON_F32_DEFAULT": ("fp32", "foo"),
        "TRITON_DEFAULT_FP_FUSION": ("maybe",),
        "TRITON_BACKENDS_IN_TREE": ("x",),
        "TRITON_OVERRIDE_ARCH": ("sm90", "90", "foo"),
        "TRITON_LIBDEVICE_PATH": ("/nonexistent",),
        "TRITON_REDIS_PORT": ("x",),
        "TRITON_HOME": ("/proc/foo",),
        "TRITON_ALWAYS_COMPILE": ("maybe",),
        "TRITON_KERNEL_DUMP": ("maybe",),
        "DISABLE_LLVM_OPT": ("x", "maybe"),
        "LLVM_IR_ENABLE_DUMP": ("maybe",),
        "MLIR_ENABLE_DUMP": ("maybe",),
        "PTXAS_OPTIONS": ("--foo",),
        "NVPTX_ENABLE_DUMP": ("maybe",),
        "CC": ("/nonexistent/cc",),
    },
    ("gpu", "torch_gpu"): {  # on a machine with a GPU: a CUDA build of torch in LAB/env-gpu
        "CUDA_MODULE_LOADING": ("lazy", "foo"),
        "CUDA_DEVICE_ORDER": ("pci_bus_id", "foo"),
        "CUDA_LAUNCH_BLOCKING": ("yes", "true"),
        "CUDA_CACHE_MAXSIZE": ("4GB",),
        "CUDA_DEVICE_MAX_CONNECTIONS": ("x", "0", "64"),
        "CUBLAS_WORKSPACE_CONFIG": ("4096:8", ":4096", "foo"),
        "CUBLASLT_WORKSPACE_SIZE": ("x",),
        "NVIDIA_TF32_OVERRIDE": ("yes",),
        "PYTORCH_CUDA_ALLOC_CONF": ("foo:1", "backend:foo", "max_split_size_mb:abc", "expandable_segments:yes"),
        "NCCL_DEBUG": ("verbose",),
        "NCCL_P2P_LEVEL": ("foo",),
        "NCCL_ALGO": ("foo",),
        "NCCL_PROTO": ("foo",),
        "NCCL_P2P_DISABLE": ("true",),
        "TORCH_NCCL_ASYNC_ERROR_HANDLING": ("abc",),
    },
    ("triton", "cupy"): {
        "CUPY_ACCELERATORS": ("foo", "cub,cudnn"),
        "CUPY_GPU_MEMORY_LIMIT": ("abc", "150%", "4GB"),
        "CUPY_CUDA_PER_THREAD_DEFAULT_STREAM": ("maybe",),
        "CUPY_TF32": ("x", "maybe"),
        "CUPY_CACHE_IN_MEMORY": ("maybe",),
        "CUPY_COMPILE_WITH_PTX": ("x",),
        "CUPY_DLPACK_EXPORT_VERSION": ("x", "0.9"),
        "CUPY_CUDA_ARRAY_INTERFACE_EXPORT_VERSION": ("9", "x"),
        "CUPY_CUDA_ARRAY_INTERFACE_SYNC": ("x",),
        "CUPY_DISABLE_JITIFY_CACHE": ("x",),
        "CUPY_EXPERIMENTAL_SLICE_COPY": ("x",),
        "CUPY_INSTALL_USE_HIP": ("x",),
    },
}  # fmt: skip

CASES: tuple[VariableCase, ...] = tuple(
    VariableCase(environment, program, {name: value}, f"{environment}-{program}-{name}={value}"[:120])
    for (environment, program), variables in _ROWS.items()
    for name, values in variables.items()
    for value in values
)
