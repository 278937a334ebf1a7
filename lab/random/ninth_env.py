"""Ninth operators, settings: variables nobody drew before, agents that are preloaded, scripts named like modules, names of modules."""

from __future__ import annotations

from lab.random.ninth import (  # fmt: skip
    ANY,
    BAD,
    BUILD,
    COMPILER,
    CONFLICT,
    HOST,
    LIB,
    LIGHT,
    LIM,
    NCCL,
    NO_GPU,
    NONE,
    NOT_READY,
    OOM,
    OT,
    PATH,
    SEL,
    SET,
    SHADOW,
    Case,
    enter,
)

TORCHES = "torch-matmul torch-train torch-fft torch-solve"
JAXES = "jax-matmul jax-grad jax-fft"
CUPIES = "cupy-matmul cupy-raw cupy-fft"
JIT = "triton-add torch-compile"


def var(needs: str, name: str, value: str, cause: str = SET, also: tuple[str, ...] = (OT,)) -> Case:
    """A program that works, with one variable more."""
    return Case(needs, f"{name}={value}", cause, also, environ={name: value}, void="")


ALLOC = ("per_process_memory_fraction:1.5", "per_process_memory_fraction:none", "pinned_num_register_threads:3000", "pinned_use_cuda_host_register:yes", "graph_capture_record_stream_reuse:perhaps", "release_lock_on_cudamalloc:2", "max_non_split_rounding_mb:5", "pinned_reserve_segment_size_mb:lots", "segments_expandable:True", "expandable_segments:True garbage_collection_threshold:0.8")  # fmt: skip
enter(
    "allocator-words",
    *(Case(TORCHES, one, SET, (OT, "memory.fragmentation"), environ={"PYTORCH_ALLOC_CONF": one, "PYTORCH_CUDA_ALLOC_CONF": one}, void="") for one in ALLOC),
)  # fmt: skip
enter(
    "variables-unseen-torch",
    var("torch-nccl", "TORCHELASTIC_ERROR_FILE", "/proc/none/err.json"),
    var("torch-nccl", "TORCH_NCCL_PROPAGATE_ERROR", "perhaps", SET, (NCCL, OT)),
    var("torch-nccl", "TORCH_NCCL_COORD_CHECK_MILSEC", "one", SET, (NCCL, OT)),
    var("torch-nccl", "TORCH_NCCL_CUDA_EVENT_CACHE", "cache", SET, (NCCL, OT)),
    var("torch-nccl", "TORCH_NCCL_USE_COMM_NONBLOCKING", "non", SET, (NCCL, OT)),
    var(TORCHES, "TORCH_TRACE", "/proc/none/trace", SET, (LIM, PATH, OT)),
    var("torch-compile", "TORCH_COMPILE_DEBUG_DIR", "/proc/none", SET, (LIM, PATH, OT)),
    var("torch-compile", "TORCHINDUCTOR_AUTOTUNE_AT_COMPILE_TIME", "later"),
    var("torch-compile", "TORCHINDUCTOR_UNROLL_REDUCTIONS_THRESHOLD", "some"),
    var("torch-compile", "TORCHINDUCTOR_REALIZE_OPCOUNT_THRESHOLD", "many"),
    var("torch-compile", "TORCHINDUCTOR_SUBPROC_POOL_SHUTDOWN", "x"),
    var("torch-compile", "TORCHINDUCTOR_MAX_AUTOTUNE_FLEX_SEARCH_SPACE", "WIDE"),
    var("torch-compile", "TORCH_COMPILE_CPROFILE", "x"),
    var(JIT, "PTXAS_OPTIONS", "--no-such-option", SET, (COMPILER, BUILD, OT)),
    var(JIT, "TRITON_F32_DEFAULT", "fp8", SET, (COMPILER, BUILD, OT)),
    var(JIT, "TRITON_STORE_BINARY_ONLY", "perhaps", SET, (COMPILER, OT)),
    var(JIT, "TRITON_KERNEL_OVERRIDE", "x", SET, (COMPILER, OT)),
    var(JIT, "TRITON_OVERRIDE_DIR", "/proc/none", SET, (LIM, OT)),
    var(JIT, "TRITON_DISABLE_LINE_INFO", "both", SET, (COMPILER, OT)),
    Case(TORCHES, "loading told two ways", SET, (OT,), environ={"TORCH_FORCE_WEIGHTS_ONLY_LOAD": "1", "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "1"}, after="torch.save({'w': 1}, 'w.pt')\nprint(torch.load('w.pt'))\n", void=""),
)  # fmt: skip
XLA = ("--xla_gpu_target_config_filename=/gone/h200.txtpb", "--xla_gpu_load_autotune_results_from=/gone/tuned.pb", "--xla_gpu_per_fusion_autotune_cache_dir=/proc/none", "--xla_gpu_experimental_autotune_cache_mode=often", "--xla_gpu_kernel_cache_file=/proc/none/k", "--xla_gpu_strict_conv_algorithm_picker=maybe", "--xla_gpu_memory_limit_slop_factor=wide", "--xla_gpu_enable_command_buffer=FUSION,EVERYTHING", "--xla_gpu_enable_triton_gemm=false,", "xla_gpu_enable_triton_gemm=false")  # fmt: skip
enter(
    "variables-unseen-jax",
    *(var(JAXES, "XLA_FLAGS", one, SET, (OT, PATH, COMPILER)) for one in XLA),
    var(JAXES, "JAX_TRACEBACK_FILTERING", "short"),
    var(JAXES, "JAX_EXPLAIN_CACHE_MISSES", "maybe"),
    var(JAXES, "JAX_ENABLE_CHECKS", "2x"),
    var(JAXES, "JAX_RANDOM_SEED_OFFSET", "x"),
    var(JAXES, "JAX_ARRAY_GARBAGE_COLLECTION_GUARD", "kill"),
    var(JAXES, "JAX_THREEFRY_PARTITIONABLE", "maybe"),
    var(JAXES, "JAX_DEBUG_INFS", "perhaps"),
    var(JAXES, "JAX_DUMP_IR_TO", "/proc/none", SET, (LIM, PATH, OT)),
    var(JAXES, "JAX_CAPTURED_CONSTANTS_WARN_BYTES", "two"),
    var(JAXES, "JAX_DEFAULT_DEVICE", "gpu:9", SEL, (SET, OT)),
    var(JAXES, "JAX_EXPORT_CALLING_CONVENTION_VERSION", "new"),
)  # fmt: skip
enter(
    "variables-unseen-cuda",
    *(var(LIGHT, "CUDA_VISIBLE_DEVICES", one, SEL, (SET,)) for one in ("0,0", "GPU-", "00000000:0F:00.0", "nvidia0", "H200", "1,0", "0-3", "[0]")),
    var(LIGHT, "CUDA_LOG_FILE", "/proc/none/cuda.log", SET, (LIM, OT)),
    var(LIGHT, "CUDA_MANAGED_FORCE_DEVICE_ALLOC", "x"),
    var(LIGHT, "CUDA_FORCE_PRELOAD_LIBRARIES", "x"),
    var(LIGHT, "CUDA_DISABLE_JIT", "1", SET, (OT, "framework.gpu_unsupported")),
    var(CUPIES, "CUPY_ENABLE_UMP", "yes"),
    var(CUPIES, "CUPY_DLPACK_EXPORT_VERSION", "next"),
    var(CUPIES, "CUPY_EXPERIMENTAL_SLICE_COPY", "x"),
    var(CUPIES, "CUPY_CUDA_ARRAY_INTERFACE_EXPORT_VERSION", "seven"),
    var(CUPIES, "CUPY_EXTRA_INCLUDE_PATH", "/gone"),
    var(CUPIES, "CUPY_NUM_BUILD_JOBS", "x"),
    var("torch-nccl", "NCCL_DEBUG_FILE", "/proc/none/nccl.log", SET, (NCCL, LIM, OT)),
    var("torch-nccl", "NCCL_NTHREADS", "7", SET, (NCCL, OT)),
    var("torch-nccl", "NCCL_CGA_CLUSTER_SIZE", "99", SET, (NCCL, OT, "program.launch")),
    var("torch-nccl", "NCCL_PROFILER_PLUGIN", "/gone/libprofile.so", SET, (NCCL, LIB, OT)),
    var("torch-nccl", "NCCL_HOSTID", "", SET, (NCCL, OT)),
    var("torch-nccl", "NCCL_LAUNCH_MODE", "ALONE", SET, (NCCL, OT)),
)  # fmt: skip
enter(
    "threads-told-wrong",
    var(ANY, "OMP_STACKSIZE", "30000g", SET, (LIM, HOST, OT)),
    var(ANY, "OMP_NUM_THREADS", "-4"),
    var(ANY, "OMP_THREAD_LIMIT", "0"),
    var(ANY, "GOMP_CPU_AFFINITY", "900-999"),
    var(ANY, "OMP_PLACES", "{gpu}"),
    var(ANY, "OPENBLAS_NUM_THREADS", "many"),
    Case(ANY, "stack of 30 TB for every thread", LIM, (HOST, OT, SET), limit="ulimit -s 30000000000 || exit 97", after="import threading\nts = [threading.Thread(target=print) for _ in range(8)]\n[t.start() for t in ts]\n[t.join() for t in ts]\n", void=""),
    Case(ANY, "thousands of threads by itself", LIM, (HOST, OT), user="nobody", limit="ulimit -u 90", after="import threading, time\nfor _ in range(3000):\n    threading.Thread(target=time.sleep, args=(2,), daemon=True).start()\n", expect="(?i)thread|Resource"),
)  # fmt: skip
HEAD = "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <errno.h>\n#include <fcntl.h>\n#include <stdarg.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <sys/mman.h>\n#include <pthread.h>\n"
AGENT = "gcc -shared -fPIC -O1 -w -o $W/agent.so $D/agent.c -ldl || exit 97; chmod 755 $W/agent.so"
SEEN = (PATH, SHADOW, NO_GPU, NONE, NOT_READY, LIM, OT)


def agent(target: str, needs: str, cause: str, also: tuple[str, ...], body: str, expect: str = "") -> Case:
    """A monitoring agent that is preloaded into every program and does more than it should."""
    return Case(needs, target, cause, also, setup=AGENT, files={"agent.c": HEAD + body}, environ={"LD_PRELOAD": "$W/agent.so"}, void="", dress="shell", expect=expect)  # fmt: skip


enter(
    "preloaded-agent",
    agent("no driver for programs", LIGHT, SET, (*SEEN, LIB, "cudnn.missing", "driver.permission"), "void* dlopen(const char* n, int f) { static void* (*real)(const char*, int); if (!real) real = (void* (*)(const char*, int))dlsym(RTLD_NEXT, \"dlopen\"); if (n && strstr(n, \"libcuda.so\")) return 0; return real(n, f); }\n"),
    agent("device nodes are refused", LIGHT, SET, (*SEEN, "driver.permission"), "int open(const char* n, int f, ...) { va_list a; va_start(a, f); int m = va_arg(a, int); va_end(a); static int (*real)(const char*, int, ...); if (!real) real = (int (*)(const char*, int, ...))dlsym(RTLD_NEXT, \"open\"); if (n && !strncmp(n, \"/dev/nvidia\", 11)) { errno = EACCES; return -1; } return real(n, f, m); }\nint open64(const char* n, int f, ...) { va_list a; va_start(a, f); int m = va_arg(a, int); va_end(a); return open(n, f, m); }\n"),
    agent("no large reservations", LIGHT, SET, (*SEEN, HOST, OOM), "void* mmap(void* p, size_t n, int a, int f, int d, off_t o) { static void* (*real)(void*, size_t, int, int, int, off_t); if (!real) real = (void* (*)(void*, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, \"mmap\"); if (n > ((size_t)3 << 30)) { errno = ENOMEM; return MAP_FAILED; } return real(p, n, a, f, d, o); }\nvoid* mmap64(void* p, size_t n, int a, int f, int d, off_t o) { return mmap(p, n, a, f, d, o); }\n"),
    agent("no new threads", LIGHT, SET, (*SEEN, HOST, OOM), "int pthread_create(pthread_t* t, const pthread_attr_t* a, void* (*g)(void*), void* x) { return EAGAIN; }\n"),
    agent("ends the program", ANY, SET, (OT, PATH, SHADOW, LIM), "__attribute__((constructor)) static void begin(void) { char* n = getenv(\"SCRIPT_OK\"); fprintf(stderr, \"sentry-agent: policy gpu-7 forbids unsigned jobs\\n\"); if (!n) _Exit(77); }\n", "sentry-agent"),
    agent("says something", LIGHT, OT, (SET,), "__attribute__((constructor)) static void begin(void) { fprintf(stderr, \"sentry-agent: CUDA hooks armed (error reporting on)\\n\"); }\n"),
)  # fmt: skip


def script_named(needs: str, name: str) -> Case:
    """The script itself has the name of a module that it needs."""
    return Case(needs, f"the script is {name}.py", SHADOW, (OT, BAD), command=f"cp $SCRIPT $W/d/{name}.py; cd $W/d; $PYTHON {name}.py", void="")  # fmt: skip


enter(
    "script-named-so",
    script_named("torch-matmul torch-train torch-fft", "torch"),
    script_named("jax-matmul jax-grad", "jax"),
    script_named("cupy-matmul cupy-fft", "cupy"),
    script_named("jax-matmul cupy-matmul", "numpy"),
    script_named("triton-add", "triton"),
    script_named("torch-matmul jax-matmul cupy-matmul", "random"),
    script_named("torch-matmul", "typing_extensions"),
    script_named("torch-train jax-fft", "inspect"),
)  # fmt: skip
BODY = "rows = []\ndef load(path):\n    return open(path).read()\n"
MODULES = ("numbers", "secrets", "dataclasses", "weakref", "tempfile", "pickle", "socket", "selectors", "glob", "zipfile", "textwrap", "bisect", "shutil", "subprocess", "importlib_metadata")  # fmt: skip
enter(
    "modules-unseen",
    *(Case(ANY, name, SHADOW, (OT, CONFLICT, BAD), files={f"{name}.py": BODY}, void="") for name in MODULES),
    *(Case(TORCHES, name, SHADOW, (OT, CONFLICT, BAD), files={f"{name}.py": BODY}, void="") for name in ("mpmath", "filelock", "fsspec", "jinja2")),
    *(Case(CUPIES, name, SHADOW, (OT, CONFLICT, BAD), files={f"{name}.py": BODY}, void="") for name in ("fastrlock", "cupyx", "cuda")),
    *(Case(JAXES, name, SHADOW, (OT, CONFLICT, BAD), files={f"{name}/__init__.py": BODY}, void="") for name in ("jaxlib", "scipy", "jax_plugins")),
)  # fmt: skip
