"""Eighth operators, settings: variables nobody drew before, env files with their quotes, hooks of the interpreter, names of modules."""

from __future__ import annotations

from lab.random.eighth import (
    ANY,
    BUILD,
    COMPILER,
    CONFLICT,
    HOST,
    LIB,
    LIGHT,
    LIM,
    NCCL,
    OT,
    PATH,
    PEER,
    SEL,
    SET,
    SHADOW,
    C,
    Case,
    J,
    T,
    enter,
)

JAXES = "jax-matmul jax-grad jax-fft"
TORCHES = "torch-matmul torch-train torch-fft"


def var(needs: str, name: str, value: str, also: tuple[str, ...] = (OT,), **more: str) -> Case:
    """A program that works, with one variable more."""
    return Case(needs, f"{name}={value}", SET, also, environ={name: value}, void="", **more)


enter(
    "variable-new-jax",
    var(JAXES, "JAX_ENABLE_COMPILATION_CACHE", "maybe"),
    var(JAXES, "JAX_PGLE_PROFILING_RUNS", "many"),
    var(JAXES, "JAX_HLO_SOURCE_FILE_CANONICALIZATION_REGEX", "("),
    var(JAXES, "PJRT_NAMES_AND_LIBRARY_PATHS", "acme:/opt/acme/libpjrt.so", (LIB, PATH, OT)),
    var(JAXES, "XLA_CLIENT_MEM_FRACTION", "ninety"),
    var(JAXES, "JAX_PJRT_CLIENT_CREATE_OPTIONS", "nonsense"),
    var(JAXES, "JAX_COMPILATION_CACHE_MAX_SIZE", "2GB"),
    var(JAXES, "JAX_LEGACY_PRNG_KEY", "permit"),
    Case(JAXES, "flags in a file, one of them unknown", SET, (OT,), environ={"XLA_FLAGS": "$D/xla_flags.txt"}, files={"xla_flags.txt": "--xla_gpu_autotune_level=2\n--xla_gpu_enable_fast_path_v9=true\n"}, void=""),
    Case(JAXES, "flag with a value of another kind", SET, (OT,), environ={"XLA_FLAGS": "--xla_gpu_autotune_level=high"}, void=""),
    Case(JAXES, "harmless: a variable of jax for others", SET, (OT,), environ={"JAX_TPU_PROFILE": "1", "LIBTPU_INIT_ARGS": "--xla_tpu_x=1", "TPU_NAME": "none"}),
)  # fmt: skip
enter(
    "variable-new-torch",
    var(TORCHES, "TORCH_LOGS_OUT", "/proc/none/torch.log", (LIM, PATH, OT)),
    var("torch-nccl", "TORCH_NCCL_ENABLE_MONITORING", "maybe", (NCCL, OT)),
    var("torch-nccl", "TORCH_NCCL_DUMP_ON_TIMEOUT", "sometimes", (NCCL, OT)),
    var("torch-nccl", "TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC", "soon", (NCCL, OT)),
    var("torch-nccl", "TORCH_NCCL_NAN_CHECK", "perhaps", (NCCL, OT)),
    var("torch-nccl", "TORCH_NCCL_RETHROW_CUDA_ERRORS", "x", (NCCL, OT)),
    var("torch-compile", "TORCHINDUCTOR_SHAPE_PADDING_LIMIT", "x"),
    var("torch-compile", "TORCHINDUCTOR_DECOMPOSE_MEM_BOUND_MM", "2x"),
    var("torch-compile", "TORCHINDUCTOR_MAX_AUTOTUNE_GEMM_SEARCH_SPACE", "WIDE"),
    var("torch-compile", "TORCHINDUCTOR_CUTLASS_DIR", "/gone"),
    var("torch-compile", "TORCHDYNAMO_VERBOSE", "no way"),
    var("torch-compile triton-add", "TRITON_ALLOW_NON_CONSTEXPR_GLOBALS", "perhaps", (OT, COMPILER)),
    var("triton-add torch-compile", "TRITON_DUMP_DIR", "/proc/none", (LIM, OT, COMPILER)),
    var("triton-add torch-compile", "TRITON_ALWAYS_COMPILE", "7", (OT, COMPILER)),
    var("triton-add torch-compile", "DISABLE_PTXAS_OPT", "fully", (OT, COMPILER)),
    var("triton-add torch-compile", "MLIR_DISABLE_MULTITHREADING", "si", (OT, COMPILER)),
)  # fmt: skip
enter(
    "variable-new-cuda",
    *(Case(LIGHT, f"harmless: {' '.join(one)}", SET, (OT, SEL), environ=one) for one in (
        {"CUDA_DEVICE_MAX_CONNECTIONS": "abc"}, {"CUDA_SCALE_LAUNCH_QUEUES": "9x"}, {"CUDA_BINARY_LOADER_THREAD_COUNT": "x"}, {"CUDA_MODULE_DATA_LOADING": "SOMETIMES"},
        {"NVIDIA_TF32_OVERRIDE": "2"}, {"CUDA_AUTO_BOOST": "0"}, {"CUDA_DEVICE_DEFAULT_PERSISTING_L2_CACHE_PERCENTAGE_LIMIT": "900"}, {"CUDA_CACHE_MAXSIZE": "-5"},
    )),
    *(Case(LIGHT, f"CUDA_VISIBLE_DEVICES={value}", SEL, (SET, "device.busy") if "MIG" in value else (SET,), environ={"CUDA_VISIBLE_DEVICES": value}, void="") for value in (
        "'0'", "MIG-GPU-3f1c1b2e-0000-0000-0000-000000000000/7/0", "MIG-5c89852c-d268-c3f3-1b07-005d5ae1dc3f", "void", "0x1",
    )),
)  # fmt: skip
ENVFILE = "import os\nfor line in open(os.path.join(os.path.dirname(os.path.abspath(__file__)), '.env')):\n    key, _, value = line.strip().partition('=')\n    if key and not key.startswith('#'):\n        os.environ[key] = value\n"


def envfile(needs: str, text: str, cause: str, also: tuple[str, ...]) -> Case:
    """A program that takes its settings from an env file as a container's runtime does: quotes and notes belong to the value."""
    return Case(
        needs, text, cause, also, before=ENVFILE, files={".env": f"# job settings\nRUN_NAME=a7\n{text}\n"}, void=""
    )


enter(
    "env-file",
    envfile(LIGHT, 'CUDA_VISIBLE_DEVICES="0"', SEL, (SET,)),
    envfile(LIGHT, "CUDA_VISIBLE_DEVICES=0 # first card", SEL, (SET,)),
    envfile(LIGHT, "CUDA_VISIBLE_DEVICES=${GPU_INDEX}", SEL, (SET,)),
    envfile(LIGHT, "CUDA_VISIBLE_DEVICES=cuda:0", SEL, (SET,)),
    envfile("jax-matmul jax-grad", "JAX_PLATFORMS='cuda'", SET, (SEL, OT)),
    envfile("jax-matmul jax-grad", "XLA_PYTHON_CLIENT_MEM_FRACTION=0,5", SET, (OT, "memory.preallocation")),
    envfile("torch-matmul torch-fft", "PYTORCH_ALLOC_CONF='expandable_segments:True'", SET, (OT,)),
    envfile("torch-matmul torch-fft", "TORCH_LOGS='+dynamo'", SET, (OT,)),
    envfile("torch-deterministic", "CUBLAS_WORKSPACE_CONFIG=", SET, (OT, "program.order")),
    envfile(LIGHT, "CUDA_HOME=C:\\\\cuda", SET, (PATH, OT)),
)  # fmt: skip
HOOK = {"PYTHONPATH": "$D/hooks"}


def hook(needs: str, target: str, cause: str, also: tuple[str, ...], body: str) -> Case:
    """A hook of the company's that every interpreter runs before the program."""
    return Case(needs, target, cause, also, environ=HOOK, files={"hooks/sitecustomize.py": body}, void="")


BLOCK = "import sys\nclass Gate:\n    def find_spec(self, name, path=None, target=None):\n        if name in {0!r}:\n            raise ImportError(f'{{name}} is not on the list of approved modules')\nsys.meta_path.insert(0, Gate())\n"
enter(
    "interpreter-hook",
    hook(LIGHT, "hides every card", SEL, (SET, SHADOW), "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = ''\n"),
    hook("jax-matmul jax-fft", "names a platform nobody has", SET, (SEL, SHADOW), "import os\nos.environ['JAX_PLATFORMS'] = 'tpu'\n"),
    hook(LIGHT, "allows 3 GB of address space", LIM, (HOST, SET, SHADOW, OT), "import resource\nresource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))\n"),
    hook(LIGHT, "allows 24 open files", LIM, (SET, SHADOW, OT), "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (24, 24))\n"),
    hook("torch-matmul torch-fft", "approves modules, sympy is not one", SHADOW, (OT, SET, "install.corrupted"), BLOCK.format(["sympy", "networkx", "torch.utils._pytree"])),
    hook("jax-matmul jax-grad", "approves modules, ml_dtypes is not one", SHADOW, (OT, SET, "install.corrupted"), BLOCK.format(["ml_dtypes", "opt_einsum"])),
    hook("cupy-matmul cupy-raw", "approves modules, a part of cupy is not one", SHADOW, (OT, SET, "install.corrupted"), BLOCK.format(["cupy_backends.cuda.api.driver", "fastrlock"])),
    hook(LIGHT, "no library opened by hand", SHADOW, (OT, SET, LIB), "import ctypes\nclass Closed(ctypes.CDLL):\n    def __init__(self, name, *a, **k):\n        if name and 'cu' in str(name):\n            raise OSError(f'{name}: opening libraries is not allowed here')\n        super().__init__(name, *a, **k)\nctypes.CDLL = Closed\n"),
    hook("torch-loader", "workers may not be started", SHADOW, (OT, SET, LIM), "import multiprocessing.process as p\ndef refuse(self):\n    raise PermissionError('processes are started by the scheduler only')\np.BaseProcess.start = refuse\n"),
    hook(LIGHT, "harmless: prints and counts", SHADOW, (OT,), "import sys\nprint('corp-hook: loaded, CUDA policy v7 (warn)', file=sys.stderr)\n"),
)  # fmt: skip


def named(needs: str, module: str, body: str) -> Case:
    """A file of the user's own that has the name of a module that the framework needs."""
    return Case(needs, module, SHADOW, (OT, CONFLICT, "install.corrupted"), files={f"{module}.py": body}, void="")


PLAN = "plan = [1, 2, 3]\nprint('plan loaded')\n"
enter(
    "names-of-modules",
    *(named(ANY, module, PLAN) for module in ("tokenize", "statistics", "signal", "uuid", "platform", "copyreg", "fractions")),
    named("torch-matmul torch-train", "sympy", PLAN),
    named("torch-matmul torch-train", "networkx", PLAN),
    named("jax-matmul jax-grad", "ml_dtypes", "from numpy import float16 as bfloat16\n"),
    named("jax-matmul jax-grad", "opt_einsum", "def contract(*a):\n    raise NotImplementedError\n"),
    named("cupy-matmul cupy-fft", "cupy_backends", "cuda = None\n"),
    named("triton-add torch-compile", "setuptools", PLAN),
    Case(ANY, "harmless: names nobody needs", SHADOW, (OT,), files={"gpu.py": PLAN, "cuda_notes.py": PLAN, "train2.py": "import nothing_here\n", "cudnn.py": PLAN}),
)  # fmt: skip
SET_CODE = "import os\nos.environ['{0}'] = '{1}'\n"
enter(
    "set-by-the-program",
    Case("torch-graph", "cards hidden in the first line", SEL, (SET,), code=SET_CODE.format("CUDA_VISIBLE_DEVICES", "3") + T + "print(torch.cuda.current_device())\n", expect="GPU|CUDA|device"),
    Case("cupy", "cards hidden in the first line", SEL, (SET,), code=SET_CODE.format("CUDA_VISIBLE_DEVICES", "2,3") + C + "print(cupy.cuda.runtime.getDeviceCount())\n", expect="cuda"),
    Case("jax", "platform of the old name", SET, (SEL, OT), code=SET_CODE.format("JAX_PLATFORMS", "gpu0") + J + "print(jnp.ones(2))\n", expect="gpu0|platform|backend"),
    Case("torch-compile", "a compiler that is a folder", SET, (PATH, BUILD, COMPILER, LIM), code=SET_CODE.format("CC", "/usr/lib") + T + "print(torch.compile(lambda x: x.sin() * 2)(torch.ones(8, device='cuda')).sum().item())\n"),
    Case("triton-add", "a compiler that is not there", SET, (PATH, BUILD, COMPILER), before=SET_CODE.format("CC", "clang-99"), void=""),
    Case("torch-nccl", "group's size in words", SET, (PEER, OT), code=SET_CODE.format("WORLD_SIZE", "one") + "os.environ.update(RANK='0', MASTER_ADDR='127.0.0.1', MASTER_PORT='@O@')\nimport torch.distributed as dist\ndist.init_process_group('gloo')\n", expect="one"),
    Case("torch-nccl", "no address of the master", SET, (PEER, "program.order"), code="import os\nfor k in ('MASTER_ADDR', 'MASTER_PORT', 'RANK', 'WORLD_SIZE'):\n    os.environ.pop(k, None)\nimport torch.distributed as dist\ndist.init_process_group('nccl')\n", expect="RANK|MASTER", dress="shell"),
)  # fmt: skip
