"""Tenth operators, variables that nobody used before: JAX's states, Inductor's numbers, Triton's knobs, Numba's dumps, Python's own, guards."""

from __future__ import annotations

from lab.random.tenth import BUILD, COMPILER, LIM, NCCL, ORD, OT, PATH, PEER, SET, Case, enter

JX = "jax-matmul jax-grad jax-fft"


def told(needs: str, name: str, value: str, expect: str, also: tuple[str, ...] = (OT,), cause: str = SET, setup: str = "", after: str = "") -> Case:  # fmt: skip
    """One variable with a value that its reader does not like."""
    return Case(needs, f"{name}={value}"[:70], cause, also, environ={name: value}, expect=expect, setup=setup, after=after)  # fmt: skip


enter(
    "jax-states-by-variable",
    *(told(JX, f"JAX_{name}", value, f"(?i){name}|{value}") for name, value in (("NO_TRACING", "perhaps"), ("USE_SHARDY_PARTITIONER", "always"), ("USE_DIRECT_LINEARIZE", "on/off"), ("SOFTMAX_CUSTOM_JVP", "si"), ("INCLUDE_DEBUG_INFO_IN_DUMPS", "full"), ("ENABLE_CUSTOM_PRNG", "threefry"))),
    *(told(JX, f"JAX_{name}", value, f"(?i){name}|{value}") for name, value in (("TRACEBACK_IN_LOCATIONS_LIMIT", "ten"), ("PGLE_AGGREGATION_PERCENTILE", "90%"), ("SHARE_BINARY_BETWEEN_HOSTS_TIMEOUT_MS", "1min"), ("SERIALIZATION_VERSION", "v9"))),
    *(told(JX, f"JAX_{name}", value, f"(?i){name}|{value}") for name, value in (("OPTIMIZATION_LEVEL", "O9"), ("MEMORY_FITTING_LEVEL", "tight"), ("USE_MAGMA", "sometimes"), ("ERROR_CHECKING_BEHAVIOR_NAN", "shout"))),
)  # fmt: skip
enter(
    "jax-guards-by-variable",
    told("jax-matmul jax-fft", "JAX_TRANSFER_GUARD_HOST_TO_DEVICE", "disallow", "(?i)disallowed|transfer", (OT, ORD)),
    told("jax-matmul jax-fft", "JAX_TRANSFER_GUARD_HOST_TO_DEVICE", "refuse", "(?i)refuse|guard"),
    told("jax-matmul jax-grad", "JAX_NO_EXECUTION", "1", "(?i)no_execution|execution", (OT, ORD)),
    told("jax-matmul jax-grad", "JAX_TRANSFER_GUARD_DEVICE_TO_HOST", "disallow_explicitly", "(?i)disallow|guard|transfer", (OT, ORD)),
    told("jax-matmul jax-grad", "JAX_NUMPY_DTYPE_PROMOTION", "none", "(?i)promotion|none"),
)  # fmt: skip
IND = "torch-compile"
enter(
    "inductor-numbers-by-variable",
    *(told(IND, name, value, f"(?i){value}|invalid literal|could not convert") for name, value in (("TORCHINDUCTOR_CPP_MIN_CHUNK_SIZE", "4k"), ("TORCHINDUCTOR_FILE_LOCK_TIMEOUT", "10min"), ("TORCHINDUCTOR_MIN_NUM_SPLIT", "auto"), ("TORCHDYNAMO_REPRO_LEVEL", "max"), ("AOTINDUCTOR_REPRO_LEVEL", "all"), ("TORCHINDUCTOR_CPP_GEMM_MAX_K_SLICES", "many"))),
    Case(IND, "work asked of a helper that is not there", SET, (PATH, BUILD, COMPILER, OT), environ={"TORCHINDUCTOR_CPP_WRAPPER": "1", "CXX": "/opt/llvm-19/bin/clang++"}, void=""),
)  # fmt: skip
TRI = "triton-add torch-compile"
enter(
    "triton-knobs-by-variable",
    told(TRI, "TRITON_MOCK_PTX_VERSION", "9.99", "(?i)version|ptxas", (COMPILER, BUILD, OT, "cuda.version_mismatch", "framework.gpu_unsupported")),
    told(TRI, "TRITON_MOCK_PTX_VERSION", "eight", "(?i)eight|version|ptx", (COMPILER, BUILD, OT)),
    told(TRI, "TRITON_REMOTE_CACHE_BACKEND", "acme.cache:Remote", "(?i)acme", (OT, PATH)),
    told(TRI, "TRITON_ENABLE_ASAN", "ja", "(?i)ja|TRITON_ENABLE_ASAN", (OT, BUILD)),
    Case(TRI, "every stage dumped to a closed place", LIM, (SET, OT, PATH), environ={"TRITON_KERNEL_DUMP": "1", "TRITON_DUMP_DIR": "/proc/self/dump", "TRITON_ALWAYS_COMPILE": "1"}, expect="(?i)/proc|dump"),
    told(TRI, "TRITON_INSTRUMENTATION_MODE", "gsan9", "(?i)gsan9|instrument", (OT, BUILD)),
    told(TRI, "CC", "gcc -std=nope", "(?i)nope|No such file|gcc", (COMPILER, BUILD, PATH, OT)),
)  # fmt: skip
NB = "numba-kernel"
enter(
    "numba-words-by-variable",
    told(NB, "NUMBA_ENABLE_CUDASIM", "1", "(?i)simulator|cudasim|numpy|attribute|cuda", (OT,)),
    told(NB, "NUMBA_COLOR_SCHEME", "mauve", "(?i)mauve|theme|scheme"),
    told(NB, "NUMBA_CACHE_LOCATOR_CLASSES", "acme.Locator", "(?i)acme|locator", (OT, PATH)),
    Case(NB, "kernels kept where nothing can be", LIM, (SET, OT), code="import numpy\nfrom numba import cuda\n@cuda.jit('void(float32[:])', cache=True)\ndef k(x):\n    x[0] = 1\nprint('cuda')\n", environ={"NUMBA_CACHE_DIR": "/proc/self/numba"}, expect="(?i)cache|locator|/proc"),
)  # fmt: skip
ALL = "torch-matmul jax-matmul cupy-matmul triton-add"
enter(
    "python-words-by-variable",
    told(ALL, "PYTHONBREAKPOINT", "acme.debug.stop", "(?i)BdbQuit|acme|stopped", (OT,), SET, "", "import sys, warnings\nwarnings.simplefilter('error')\nbreakpoint()\n"),
    told(ALL, "PYTHONWARNDEFAULTENCODING", "1", "(?i)EncodingWarning", (OT,), SET, "", "import warnings\nwarnings.simplefilter('error', EncodingWarning)\nopen('/etc/hostname').read()\n"),
    Case(ALL, "harmless: PYTHONPERFSUPPORT", SET, (OT,), environ={"PYTHONPERFSUPPORT": "1"}),
    Case(ALL, "harmless: PYTHON_FROZEN_MODULES", SET, (OT,), environ={"PYTHON_FROZEN_MODULES": "off", "PYTHON_GIL": "1"}),
    told(ALL, "PYTHONINTMAXSTRDIGITS", "700", "(?i)digits|Exceeds", (OT,), SET, "", "print(int('9' * 2000) > 0)\n"),
)  # fmt: skip
ONE = "torch-nccl"
enter(
    "group-words-by-variable",
    Case(ONE, "number of ranks is empty", SET, (OT, PEER), environ={"WORLD_SIZE": "", "RANK": "0"}, expect="(?i)invalid literal|WORLD_SIZE"),
    Case(ONE, "rank with a blank", SET, (OT, PEER), environ={"RANK": "zero", "WORLD_SIZE": "1"}, expect="(?i)zero|invalid literal"),
    Case(ONE, "port of a service's name", SET, (OT, PEER), environ={"MASTER_PORT": "https", "MASTER_ADDR": "127.0.0.1"}, expect="(?i)https|invalid literal"),
    Case(ONE, "port above all ports", SET, (OT, PEER, NCCL), environ={"MASTER_PORT": "70707", "MASTER_ADDR": "127.0.0.1"}, expect="(?i)70707|port"),
    Case(ONE, "address with a scheme", PEER, (SET, OT, NCCL), environ={"MASTER_ADDR": "tcp://127.0.0.1", "MASTER_PORT": "@O@"}, expect="(?i)tcp://|resol|address|name|timed out|socket"),
    Case(ONE, "address of nobody here", PEER, (SET, OT, NCCL), environ={"MASTER_ADDR": "203.0.113.9", "MASTER_PORT": "@O@", "RANK": "0"}, expect="(?i)203.0.113.9|timed|connect|bind|address|listen|socket"),
    Case(ONE, "two ranks told, one started", PEER, (SET, OT, NCCL, ORD), environ={"WORLD_SIZE": "2", "RANK": "0"}, expect="(?i)timed out|timeout|client|joined"),
)  # fmt: skip
WORDS: tuple[tuple[str, str, str], ...] = (
    ("torch-train torch-matmul", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "perhaps"), ("torch-matmul torch-fft", "PYTORCH_TUNABLEOP_ENABLED", "1"),
    ("torch-train", "TORCH_CUDNN_V8_API_DEBUG", "1"), ("torch-train", "TORCH_LINALG_PREFER_CUSOLVER", "yes"), ("torch-solve", "TORCH_LINALG_PREFER_MAGMA", "1"), ("torch-train jax-conv", "CUDNN_FRONTEND_LOG_INFO", "1"),
    ("cupy-matmul cupy-fft", "CUPY_INSTALL_USE_HIP", "1"), ("jax-matmul", "JAX_SOURCE_URL_SCHEMA", "vscode"), ("jax-matmul", "TF_XLA_FLAGS", "--nothing"), ("torch-nccl", "NCCL_TOPO_DUMP_FILE", "/dev/null"), ("torch-nccl", "NCCL_IGNORE_CPU_AFFINITY", "1"),
)  # fmt: skip
enter(
    "variables-nobody-minds",
    *(Case(needs, f"harmless: {name}={value}", SET, (OT,), environ={name: value}) for needs, name, value in WORDS),
)  # fmt: skip
