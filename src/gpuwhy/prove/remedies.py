"""Tweaks that add something: places, memory, devices, numerics, libraries; each with the causes it speaks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from gpuwhy.prove.proof import Tweak

FRESH = "{fresh}"
"""In a value: an empty folder that the trial makes and removes."""
CACHES = (
    "CUDA_CACHE_PATH",
    "TRITON_CACHE_DIR",
    "TORCHINDUCTOR_CACHE_DIR",
    "TORCH_EXTENSIONS_DIR",
    "CUPY_CACHE_DIR",
    "NUMBA_CACHE_DIR",
    "PYTHONPYCACHEPREFIX",
    "MPLCONFIGDIR",
)
"""Folders in which programs keep what they compiled; a fresh one costs time, never data."""

LOUD = {
    "PYTHONFAULTHANDLER": "1",
    "CUDA_LAUNCH_BLOCKING": "1",
    "CUDNN_LOGLEVEL_DBG": "2",
    "CUDNN_LOGDEST_DBG": "stderr",
    "CUDNN_LOGERR_DBG": "1",
    "CUDNN_LOGWARN_DBG": "1",
    "CUBLAS_LOGINFO_DBG": "0",
    "NCCL_DEBUG": "INFO",
    "TF_CPP_MIN_LOG_LEVEL": "0",
    "TORCH_SHOW_CPP_STACKTRACES": "1",
    "JAX_TRACEBACK_FILTERING": "off",
    "LD_DEBUG": "libs",
    "LD_DEBUG_OUTPUT": f"{FRESH}/ld/trace",
    "TORCHDYNAMO_VERBOSE": "1",
    "HYDRA_FULL_ERROR": "1",
    "PYTHONUNBUFFERED": "1",
}
"""Switches that make silent layers speak, for the one loud run."""

LIMITS = {
    "nofile": ("open files", "-n"),
    "nproc": ("processes", "-u"),
    "as": ("address space", "-v"),
    "data": ("data segment", "-d"),
    "stack": ("stack", "-s"),
    "memlock": ("locked memory", "-l"),
    "fsize": ("file size", "-f"),
    "cpu": ("CPU seconds", "-t"),
    "rss": ("resident memory", "-m"),
}
MOST_FILES = 1 << 20
"""What a kernel allows one process by default, root too."""
_TIGHT = {"nofile": 1024, "nproc": 4096, "as": 1 << 50, "data": 1 << 50, "stack": 8 << 20, "memlock": 8 << 20}
"""Soft limits from which on nobody has set anything: the system's usual ones."""


def limits(now: Mapping[str, tuple[int, int]], may_exceed: bool) -> Iterator[Tweak]:
    """Each soft limit raised to the hard one, and for root beyond that; -1 is no limit."""
    for name, (soft, hard) in now.items():
        if name not in LIMITS or soft == -1 or (soft == hard and not may_exceed):
            continue
        most = hard if soft != hard else MOST_FILES if name == "nofile" else -1
        words, flag = LIMITS[name]
        usual = soft >= _TIGHT.get(name, 1 << 50)
        told = "no limit" if most == -1 else f"{most:,}"
        yield Tweak(
            f"limit {name}",
            "limit",
            f"with the limit on {words} raised from {soft:,} to {told}",
            name,
            limit=(most, most),
            causes=("env.limit", "memory.host"),
            weight=0.03 if usual else 5.0,
            command=f"ulimit {flag} {_as_shell(name, most)}",
        )


def hard(now: Mapping[str, tuple[int, int]], may_exceed: bool) -> list[str]:
    """Limits that somebody set and nobody can raise from here, in words."""
    return [
        f"the limit on {LIMITS[name][0]} ({soft:,}) is a hard one and cannot be raised from here: it was not tested"
        for name, (soft, hard_) in now.items()
        if name in LIMITS and soft == hard_ != -1 and not may_exceed and soft < _TIGHT.get(name, 1 << 50)
    ]


def _as_shell(name: str, most: int) -> str:
    """A limit as the shell takes it: bytes in units of 1024."""
    if most == -1:
        return "unlimited"
    return str(most if name in ("nofile", "nproc", "cpu") else most >> 10)


def places(environ: Mapping[str, str]) -> Iterator[Tweak]:
    """Temporary files and compile caches in fresh folders of ours."""
    fresh = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), f"{FRESH}/tmp")
    yield _set(
        "fresh TMPDIR",
        "with a fresh folder for temporary files",
        fresh,
        ("env.limit",),
        0.25,
        command="export TMPDIR=A_FOLDER_WITH_ROOM",
    )
    caches = {name: f"{FRESH}/{name.lower()}" for name in CACHES if name not in environ}
    yield _set(
        "fresh caches",
        "with fresh folders for compiled code",
        caches,
        ("env.limit", "framework.bug", "install.corrupted"),
        0.15,
        command="delete the compile caches (~/.triton, ~/.nv/ComputeCache, ~/.cupy, /tmp/torchinductor_*)",
    )


def beside(one: Tweak, environ: Mapping[str, str]) -> Tweak:
    """What sets a variable that the user has set cannot be tried together with leaving that one out."""
    clash = one.kind == "set" and any(name in environ for name in one.sets)
    return msgspec.structs.replace(one, joins=False) if clash else one


def user_site() -> Tweak:
    """Packages of the user's own folder (~/.local) left out, as `python -s` does."""
    sets = {"PYTHONNOUSERSITE": "1"}
    return _set(
        "no user site",
        "without the packages in ~/.local (python -s)",
        sets,
        ("env.shadowed",),
        0.5,
    )


def shadows(paths: Sequence[str]) -> Iterator[Tweak]:
    """Files and folders beside the program that stand in for a module of another."""
    for path in paths:
        yield Tweak(
            f"hide {path}",
            "hide",
            f"without {path}",
            value=path,
            causes=("env.shadowed",),
            weight=8.0,
            command=f"mv {path} {_renamed(path)}",
        )


def _renamed(path: str) -> str:
    folder, _, name = path.rpartition("/")
    return f"{folder}/my_{name}" if folder else f"my_{name}"


def elsewhere() -> Tweak:
    """Another working folder, empty."""
    return Tweak(
        "elsewhere",
        "folder",
        "from an empty working folder",
        causes=("env.shadowed", "env.limit"),
        weight=0.05,
        joins=False,
        command="cd to another folder",
    )


def _set(
    id_: str,
    text: str,
    sets: dict[str, str],
    causes: tuple[str, ...],
    weight: float,
    *,
    joins: bool = True,
    command: str = "",
    heals: bool = True,
    asks: dict[str, str] | None = None,
) -> Tweak:
    shown = command or "export " + " ".join(f"{name}={value}" for name, value in sets.items())
    return Tweak(
        id_,
        "set",
        text,
        sets=sets,
        causes=causes,
        weight=weight,
        joins=joins,
        command=shown,
        heals=heals,
        asks=asks or {},
    )


_GROWTH = {"TF_FORCE_GPU_ALLOW_GROWTH": "true", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
_SEGMENTS = {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True", "PYTORCH_ALLOC_CONF": "expandable_segments:True"}


def memory() -> Iterator[Tweak]:
    """Ways to take GPU memory; small weights, which the causes of the report raise."""
    yield _set(
        "memory growth",
        "with memory taken as it is needed (no preallocation)",
        _GROWTH,
        ("memory.preallocation",),
        0.02,
        asks={"passes": "growth=yes", "same": "growth=no"},
    )
    yield _set(
        "memory fraction",
        "with a third of the GPU's memory for XLA",
        {"XLA_PYTHON_CLIENT_MEM_FRACTION": "0.33", "XLA_CLIENT_MEM_FRACTION": "0.33"},
        ("memory.preallocation",),
        0.01,
        joins=False,
    )
    yield _set(
        "expandable segments",
        "with PyTorch's expandable segments",
        _SEGMENTS,
        ("memory.fragmentation",),
        0.02,
        joins=False,
        command="export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
    )
    yield _set(
        "async allocator",
        "with CUDA's own asynchronous allocator",
        {
            "TF_GPU_ALLOCATOR": "cuda_malloc_async",
            "XLA_PYTHON_CLIENT_ALLOCATOR": "cuda_async",
            "PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync",
            "PYTORCH_ALLOC_CONF": "backend:cudaMallocAsync",
        },
        ("memory.fragmentation",),
        0.01,
        joins=False,
    )
    yield _set(
        "no caching",
        "without PyTorch's caching allocator",
        {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"},
        ("memory.fragmentation", "framework.bug"),
        0.005,
        joins=False,
    )


def devices(count: int, environ: Mapping[str, str]) -> Iterator[Tweak]:
    """Each GPU alone, in the order of the bus, and none at all."""
    for index in range(count if count > 1 else 0):
        sets = {"CUDA_VISIBLE_DEVICES": str(index), "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
        yield _set(
            f"GPU {index} alone",
            f"with GPU {index} alone",
            sets,
            ("device.hardware", "memory.other_process", "device.busy", "device.selection"),
            0.02,
            joins=False,
        )
    if count > 1:
        yield _set(
            "bus order",
            "with the GPUs in the order of the bus",
            {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"},
            ("device.selection",),
            0.02,
            joins=False,
        )
    if count:
        sets = {"CUDA_VISIBLE_DEVICES": "-1", "JAX_PLATFORMS": "cpu"}
        yield _set(
            "no GPU",
            "on the CPU",
            sets,
            (),
            0.02,
            joins=False,
            heals=False,
            command="CUDA_VISIBLE_DEVICES=-1",
            asks={"passes": "cpu=works"},
        )


def numerics() -> Iterator[Tweak]:
    """Switches of kernels and compilers: a success so is a workaround, and names the part at fault."""
    bug = ("framework.bug", "cuda.compiler_missing", "program.build")
    yield _set(
        "no compiler",
        "without torch.compile and JIT",
        {"TORCH_COMPILE_DISABLE": "1", "TORCHDYNAMO_DISABLE": "1", "TF_XLA_FLAGS": "--tf_xla_auto_jit=0"},
        bug,
        0.02,
        joins=False,
    )
    yield _set("no TF32", "without TF32", {"NVIDIA_TF32_OVERRIDE": "0"}, ("framework.bug",), 0.005, joins=False)
    yield _set(
        "no autotuning",
        "without autotuning",
        {"TF_CUDNN_USE_AUTOTUNE": "0", "XLA_FLAGS": "--xla_gpu_autotune_level=0"},
        ("framework.bug", "memory.oom"),
        0.01,
        joins=False,
    )
    yield _set(
        "deterministic",
        "with deterministic kernels",
        {"CUBLAS_WORKSPACE_CONFIG": ":4096:8", "TF_DETERMINISTIC_OPS": "1"},
        ("framework.bug",),
        0.005,
        joins=False,
    )
    yield _set(
        "no cuDNN v8",
        "without cuDNN's graph interface in PyTorch",
        {"TORCH_CUDNN_V8_API_DISABLED": "1"},
        ("cudnn.version_mismatch", "framework.bug"),
        0.005,
        joins=False,
    )
    yield _set(
        "eager modules",
        "with kernels loaded eagerly",
        {"CUDA_MODULE_LOADING": "EAGER"},
        ("framework.bug",),
        0.005,
        joins=False,
    )


def network() -> Iterator[Tweak]:
    """NCCL's transports, one at a time."""
    for name, words in (
        ("NCCL_P2P_DISABLE", "peer access"),
        ("NCCL_SHM_DISABLE", "shared memory"),
        ("NCCL_IB_DISABLE", "InfiniBand"),
    ):
        yield _set(name, f"with NCCL without {words}", {name: "1"}, ("distributed.nccl",), 0.01, joins=False)


def libraries(folders: Sequence[str], environ: Mapping[str, str]) -> Iterator[Tweak]:
    """The libraries that the environment's own wheels brought, searched first."""
    if folders:
        path = ":".join((*folders, *filter(None, [environ.get("LD_LIBRARY_PATH", "")])))
        yield _set(
            "own libraries",
            "with the CUDA libraries of its own wheels first",
            {"LD_LIBRARY_PATH": path},
            ("cuda.mixed_libraries", "cudnn.mixed_libraries", "env.path", "cuda.missing_library", "cudnn.missing"),
            0.1,
            joins=False,
            command=f"export LD_LIBRARY_PATH={':'.join(folders)}",
        )
