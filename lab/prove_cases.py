"""Faults for `gpuwhy prove` on a GPU: a program, what is wrong around it, and the change that must make it run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Case(NamedTuple):
    """One fault; `want` is the smallest change ("unset NAME", "drop NAME part", "limit NAME", "hide FILE", "set NAME")."""

    program: str
    want: tuple[str, ...]  # () where nothing can be changed: the answer must not be "proven"
    causes: tuple[str, ...]  # the names that are right
    environ: Mapping[str, str] = {}  # $D is the folder of the fault, $STUB, $COMPAT, $BIN the machine's
    limit: str = ""  # shell, before the program starts
    files: Mapping[str, str] = {}  # in the folder of the fault
    setup: str = ""  # shell, in the folder of the fault
    hold: int = 0  # bytes that another process holds on the GPU meanwhile
    may_end: bool = False  # that process may be told to go
    alone: bool = False
    options: tuple[str, ...] = ()
    words: tuple[str, ...] = ()  # arguments of the program
    expect: str = ""  # another status than "proven" that is right: "flaky", "not_failing"


TORCH = """
import torch
x = torch.randn(256, 256, device="cuda")
y = float((x @ x).sum())
c = torch.nn.Conv2d(3, 8, 3).cuda()(torch.randn(1, 3, 32, 32, device="cuda"))
torch.cuda.synchronize()
print("ok", y)
"""
JAX = """
import os
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # several of us share the card
import jax, jax.numpy as jnp
assert jax.devices()[0].platform == "gpu", jax.devices()
print("ok", float(jax.jit(lambda a: (a @ a).sum())(jnp.ones((256, 256)))))
"""
CUPY = """
import cupy as cp
k = cp.ElementwiseKernel("float32 x", "float32 y", "y = x * x + 3", "square_%d" % 7)
print("ok", float(k(cp.ones(10, dtype="f")).sum()), float((cp.ones((64, 64)) @ cp.ones((64, 64))).sum()))
"""
PROGRAMS = {"torch": TORCH, "jax": JAX, "cupy": CUPY}
"""By name; `cpp`, `cpp-shared` and `cpp-ptx` are built from CPP."""

CPP = r"""
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { \
  fprintf(stderr, "CUDA error at %s: %s\n", #x, cudaGetErrorString(e)); exit(1); } } while (0)
__global__ void add(float* a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] += 1; }
static int deep(int n) { volatile char room[4096]; room[0] = (char)n; return n ? deep(n - 1) + room[0] : 0; }
int main(int argc, char** argv) {
  setenv("CUDA_CACHE_DISABLE", "1", 1);  // what one run compiled must not heal the next
  const char* device = getenv("MYAPP_DEVICE");
  if (device) CHECK(cudaSetDevice(atoi(device)));
  if (getenv("MYAPP_STRICT") && getenv("MYAPP_FAST")) { fprintf(stderr, "MYAPP: strict and fast exclude each other\n"); return 3; }
  size_t want = getenv("MYAPP_BYTES") ? strtoull(getenv("MYAPP_BYTES"), nullptr, 10) : 1 << 20;
  if (argc > 1) want = strtoull(argv[1], nullptr, 10);
  deep(200);
  std::vector<FILE*> open;
  for (int i = 0; i < 40; ++i) { FILE* f = fopen("/dev/null", "r"); if (!f) { perror("fopen"); return 4; } open.push_back(f); }
  for (FILE* f : open) fclose(f);
  const char* out = getenv("MYAPP_OUT");
  if (out) { FILE* f = fopen(out, "w"); if (!f) { perror(out); return 5; } std::vector<char> b(1 << 20); fwrite(b.data(), 1, b.size(), f); fclose(f); remove(out); }
  float* a;
  CHECK(cudaMalloc(&a, want));
  add<<<4, 256>>>(a, 1024);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  printf("ok\n");
  return 0;
}
"""

PREALLOCATION = """
import jax, jax.numpy as jnp
jnp.ones(8).block_until_ready()
import cupy as cp
x = cp.empty(70 << 30, dtype="u1")
x[-1] = 1
cp.cuda.runtime.deviceSynchronize()
print("ok")
"""
FRAGMENTED = """
import torch
torch.cuda.set_per_process_memory_fraction(0.02)
total = int(torch.cuda.get_device_properties(0).total_memory * 0.02)
part = 9 << 20
blocks = [torch.empty(part, dtype=torch.uint8, device="cuda") for _ in range(int(total * 0.9) // part)]
kept = blocks[::2]
del blocks
x = torch.empty(int(total * 0.4), dtype=torch.uint8, device="cuda")
print("ok", len(kept))
"""
NCCL = """
import os, torch, torch.distributed as d
os.environ.update(MASTER_ADDR="127.0.0.1", RANK="0", WORLD_SIZE="1")
os.environ.setdefault("MASTER_PORT", str(20000 + os.getpid() % 20000))
d.init_process_group("nccl"); d.all_reduce(torch.ones(1).cuda()); torch.cuda.synchronize(); print("ok")
"""
COMPILED = """
import torch
print("ok", float(torch.compile(lambda x: (x * 2 + 1).relu().sum())(torch.ones(64, 64, device="cuda"))))
"""
STUBBED = "ln -s $STUB libcuda.so.1"
BAD_MODULE = "raise ImportError('this is not the module that was meant')\n"
STUB = ("driver.stub",)
SHADOW = ("env.shadowed",)
SETTING = ("env.setting",)
DEVICE = ("device.selection",)
LIMIT = ("env.limit", "memory.host")
LIBRARY = (
    "cuda.mixed_libraries", "install.corrupted", "driver.library_mismatch", "driver.compat_misuse", "driver.stub",
    "env.path", "driver.missing", "cuda.version_mismatch",
)  # fmt: skip
VISIBLE = "CUDA_VISIBLE_DEVICES"


def _each(name: str, programs: tuple[str, ...], *rest: Any, **more: Any) -> dict[str, Case]:
    return {f"{program}-{name}": Case(program, *rest, **more) for program in programs}


ALL = ("torch", "jax", "cupy", "cpp")
CASES: dict[str, Case] = {
    # ------------------------------------------------------------ devices
    **_each("visible-7", ALL, (f"unset {VISIBLE}",), DEVICE, {VISIBLE: "7"}),
    **_each("visible-none", ("torch", "jax", "cupy"), (f"unset {VISIBLE}",), DEVICE, {VISIBLE: "-1"}),
    "torch-visible-empty": Case("torch", (f"unset {VISIBLE}",), DEVICE, {VISIBLE: ""}),
    "torch-visible-uuid": Case("torch", (f"unset {VISIBLE}",), DEVICE, {VISIBLE: "GPU-deadbeef"}),
    "cupy-visible-mig": Case("cupy", (f"unset {VISIBLE}",), DEVICE, {VISIBLE: "MIG-7c6ee8d1-0000-5b2c-8c28-000000000000"}),
    "jax-visible-own": Case("jax", ("unset JAX_CUDA_VISIBLE_DEVICES",), (*SETTING, *DEVICE), {"JAX_CUDA_VISIBLE_DEVICES": "5"}),
    "cpp-own-device": Case("cpp", ("unset MYAPP_DEVICE",), (*SETTING, *DEVICE), {"MYAPP_DEVICE": "3"}),
    # ------------------------------------------------------------ variables of frameworks
    "torch-allocator-key": Case("torch", ("unset PYTORCH_CUDA_ALLOC_CONF",), SETTING, {"PYTORCH_CUDA_ALLOC_CONF": "max_splits_mb:64"}),
    "torch-allocator-one-of-two": Case(
        "torch", ("drop PYTORCH_CUDA_ALLOC_CONF garbage",), SETTING,
        {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True,garbage_collection_threshold:7"},
    ),
    "torch-allocator-backend": Case("torch", ("unset PYTORCH_CUDA_ALLOC_CONF",), SETTING, {"PYTORCH_CUDA_ALLOC_CONF": "backend:nonsense"}),
    "torch-logs": Case("torch", ("unset TORCH_LOGS",), SETTING, {"TORCH_LOGS": "no_such_log"}),
    "torch-ptx-jit": Case("torch", ("unset CUDA_FORCE_PTX_JIT",), (*SETTING, "framework.gpu_unsupported"), {"CUDA_FORCE_PTX_JIT": "1"}),
    "torch-warnings": Case("torch-warns", ("unset PYTHONWARNINGS",), SETTING, {"PYTHONWARNINGS": "error"}),
    "torch-malloc": Case("torch", ("unset PYTHONMALLOC",), SETTING, {"PYTHONMALLOC": "nonsense"}),
    "torch-nccl-interface": Case("nccl", ("unset NCCL_SOCKET_IFNAME",), (*SETTING, "distributed.nccl"), {"NCCL_SOCKET_IFNAME": "=nope0"}),
    "torch-master-port": Case("nccl", ("unset MASTER_PORT",), (*SETTING, "distributed.peer"), {"MASTER_PORT": "99999"}),
    "torch-inductor-cache": Case("compiled", ("unset TORCHINDUCTOR_CACHE_DIR",), ("env.limit", *SETTING, "env.path"), {"TORCHINDUCTOR_CACHE_DIR": "/proc/nowhere"}),
    "torch-triton-cache": Case("compiled", ("unset TRITON_CACHE_DIR",), ("env.limit", *SETTING, "env.path"), {"TRITON_CACHE_DIR": "/proc/nowhere"}),
    "torch-triton-ptxas": Case("compiled", ("unset TRITON_PTXAS_PATH",), ("env.path", *SETTING, "cuda.compiler_missing"), {"TRITON_PTXAS_PATH": "/bin/false"}),
    "jax-flag": Case("jax", ("unset XLA_FLAGS",), SETTING, {"XLA_FLAGS": "--xla_nonsense=1"}),
    "jax-one-flag-of-three": Case(
        "jax", ("drop XLA_FLAGS --xla_no_such",), SETTING,
        {"XLA_FLAGS": "--xla_gpu_autotune_level=0 --xla_no_such_flag=true --xla_gpu_enable_latency_hiding_scheduler=true"},
    ),
    "jax-platform-cpu": Case("jax", ("unset JAX_PLATFORMS",), SETTING, {"JAX_PLATFORMS": "cpu"}),
    "jax-platform-tpu": Case("jax", ("unset JAX_PLATFORMS",), SETTING, {"JAX_PLATFORMS": "tpu"}),
    "jax-platform-typo": Case("jax", ("unset JAX_PLATFORMS",), SETTING, {"JAX_PLATFORMS": "cdua"}),
    "jax-x64": Case("jax", ("unset JAX_ENABLE_X64",), SETTING, {"JAX_ENABLE_X64": "maybe"}),
    "jax-precision": Case("jax", ("unset JAX_DEFAULT_MATMUL_PRECISION",), SETTING, {"JAX_DEFAULT_MATMUL_PRECISION": "exact"}),
    "jax-allocator": Case("jax", ("unset XLA_PYTHON_CLIENT_ALLOCATOR",), SETTING, {"XLA_PYTHON_CLIENT_ALLOCATOR": "nonsense"}),
    "jax-fraction": Case("jax", ("unset XLA_PYTHON_CLIENT_MEM_FRACTION",), (*SETTING, "memory.oom", "memory.preallocation"), {"XLA_PYTHON_CLIENT_MEM_FRACTION": "much"}),
    "cupy-accelerator": Case("cupy", ("unset CUPY_ACCELERATORS",), SETTING, {"CUPY_ACCELERATORS": "nonsense"}),
    "cupy-memory-limit": Case("cupy", ("unset CUPY_GPU_MEMORY_LIMIT",), (*SETTING, "memory.oom"), {"CUPY_GPU_MEMORY_LIMIT": "600"}),
    "cupy-cache": Case("cupy", ("unset CUPY_CACHE_DIR",), ("env.limit", *SETTING, "env.path"), {"CUPY_CACHE_DIR": "/proc/nowhere"}),
    "cpp-no-jit": Case("cpp-ptx", ("unset CUDA_DISABLE_PTX_JIT",), (*SETTING, "framework.gpu_unsupported"), {"CUDA_DISABLE_PTX_JIT": "1"}),
    "cpp-own-bytes": Case("cpp", ("unset MYAPP_BYTES",), (*SETTING, "memory.oom"), {"MYAPP_BYTES": "900000000000"}),
    "cpp-own-pair": Case("cpp", ("unset MYAPP_STRICT|unset MYAPP_FAST",), SETTING, {"MYAPP_STRICT": "1", "MYAPP_FAST": "1"}),
    "cpp-own-folder": Case("cpp", ("unset MYAPP_OUT",), (*SETTING, "env.limit", "env.path"), {"MYAPP_OUT": "/proc/nowhere/out"}),
    # ------------------------------------------------------------ two at once
    "torch-two": Case("torch", (f"unset {VISIBLE}", "unset PYTHONMALLOC"), (*DEVICE, *SETTING), {VISIBLE: "7", "PYTHONMALLOC": "bad"}),
    "jax-two": Case("jax", ("unset XLA_FLAGS", "unset JAX_PLATFORMS"), SETTING, {"XLA_FLAGS": "--xla_nonsense=1", "JAX_PLATFORMS": "cpu"}),
    "cpp-two": Case("cpp", ("unset MYAPP_BYTES", "unset MYAPP_DEVICE"), (*SETTING, *DEVICE, "memory.oom"), {"MYAPP_BYTES": "900000000000", "MYAPP_DEVICE": "4"}),
    # ------------------------------------------------------------ libraries
    **_each("stub", ALL, ("drop LD_LIBRARY_PATH $D",), (*STUB, "driver.missing", "driver.compat_misuse", "driver.library_mismatch"),
            {"LD_LIBRARY_PATH": "$D:$LD_LIBRARY_PATH"}, setup=STUBBED),
    "cupy-stub-preloaded": Case("cupy", ("unset LD_PRELOAD",), (*STUB, *LIBRARY), {"LD_PRELOAD": "$D/libcuda.so.1"}, setup=STUBBED),
    "cpp-compat": Case("cpp", ("drop LD_LIBRARY_PATH compat",), ("driver.compat_misuse", "driver.library_mismatch", "driver.missing"),
                       {"LD_LIBRARY_PATH": "$COMPAT:$LD_LIBRARY_PATH"}),
    "cpp-text-for-a-library": Case("cpp-shared", ("drop LD_LIBRARY_PATH $D",), LIBRARY, {"LD_LIBRARY_PATH": "$D:$CUDA/lib64"},
                                   setup="echo text > libcudart.so.13"),
    "cpp-preloaded-shim": Case("cpp-shared", ("unset LD_PRELOAD",), LIBRARY, {"LD_PRELOAD": "$D/shim.so", "LD_LIBRARY_PATH": "$CUDA/lib64"},
                               files={"shim.c": "int cudaMalloc(void** p, unsigned long n) { return 2; }"}, setup="gcc -shared -fPIC -o shim.so shim.c"),
    "cpp-library-not-found": Case("cpp-shared", (), (), {"LD_LIBRARY_PATH": "$D"}),
    # ------------------------------------------------------------ Python
    "torch-beside": Case("torch", ("hide torch.py",), SHADOW, files={"torch.py": BAD_MODULE}),
    "torch-random-beside": Case("torch", ("hide random.py",), SHADOW, files={"random.py": "def seed(): pass\n"}),
    "jax-numpy-beside": Case("jax", ("hide numpy",), SHADOW, files={"numpy/__init__.py": BAD_MODULE}),
    "cupy-types-beside": Case("cupy", ("hide types.py",), SHADOW, files={"types.py": "x = 1\n"}),
    "torch-python-path": Case("torch", ("drop PYTHONPATH $D/b",), SHADOW, {"PYTHONPATH": "$D/a:$D/b:$D/c"}, files={"b/torch/__init__.py": BAD_MODULE, "a/mine.py": "", "c/mine.py": ""}),
    "jax-python-path": Case("jax", ("unset PYTHONPATH",), SHADOW, {"PYTHONPATH": "$D/b"}, files={"b/numpy.py": BAD_MODULE}),
    "torch-python-home": Case("torch", ("unset PYTHONHOME",), ("env.path", *SETTING), {"PYTHONHOME": "/nowhere"}),
    "cupy-safe-path": Case("cupy-helped", ("unset PYTHONSAFEPATH",), (*SETTING, *SHADOW, "env.path"), {"PYTHONSAFEPATH": "1"}),
    # ------------------------------------------------------------ limits
    "torch-address-space": Case("torch", ("limit as",), LIMIT, limit="ulimit -S -v 9000000"),
    "jax-address-space": Case("jax", ("limit as",), LIMIT, limit="ulimit -S -v 9000000"),
    "cupy-address-space": Case("cupy", ("limit as",), LIMIT, limit="ulimit -S -v 9000000"),
    "cpp-address-space": Case("cpp", ("limit as",), LIMIT, limit="ulimit -S -v 6000000"),
    "torch-open-files": Case("torch", ("limit nofile",), LIMIT, limit="ulimit -S -n 12"),
    "cpp-open-files": Case("cpp", ("limit nofile",), LIMIT, limit="ulimit -S -n 24"),
    "cpp-stack": Case("cpp", ("limit stack",), LIMIT, limit="ulimit -S -s 512"),
    "cpp-file-size": Case("cpp", ("limit fsize",), LIMIT, {"MYAPP_OUT": "$D/out"}, limit="ulimit -S -f 100"),
    "torch-cpu-time": Case("torch", ("limit cpu",), LIMIT, limit="ulimit -S -t 1"),
    "jax-data": Case("jax", ("limit data",), LIMIT, limit="ulimit -S -d 600000"),
    # ------------------------------------------------------------ memory
    "torch-fragmented": Case("fragmented", ("set PYTORCH_CUDA_ALLOC_CONF",), ("memory.fragmentation",)),
    "jax-preallocation": Case("preallocation", ("set XLA_PYTHON_CLIENT_PREALLOCATE",), ("memory.preallocation",), alone=True),
    "cpp-held": Case("cpp", ("process",), ("memory.other_process",), words=("90000000000",), hold=80 << 30, may_end=True, alone=True),
    # ------------------------------------------------------------ nothing to change, or nothing wrong
    "torch-out-of-memory": Case("oom", (), ()),
    "torch-shape": Case("shape", (), ()),
    "torch-index": Case("index", (), ()),
    "cupy-illegal": Case("illegal", (), ()),
    "torch-flaky": Case("flaky", (), (), expect="flaky"),
    "torch-healthy": Case("torch", (), (), expect="not_failing"),
}  # fmt: skip

PROGRAMS |= {
    "torch-warns": "import warnings\nwarnings.warn('something is old', DeprecationWarning)\n" + TORCH,
    "nccl": NCCL,
    "compiled": COMPILED,
    "cupy-helped": "import helper_of_mine\n" + CUPY,
    "fragmented": FRAGMENTED,
    "preallocation": PREALLOCATION,
    "oom": "import torch\nx = torch.empty(500 << 30, dtype=torch.uint8, device='cuda')\n",
    "shape": "import torch\nx = torch.ones(3, 4, device='cuda') @ torch.ones(5, 6, device='cuda')\n",
    "index": "import torch\ne = torch.nn.Embedding(10, 4).cuda()\nprint(e(torch.tensor([99]).cuda()).sum().item())\n",
    "illegal": (
        "import cupy\nk = cupy.RawKernel('extern \"C\" __global__ void f(float* p){ p[1ll << 40] = 1; }', 'f')\n"
        "k((1,), (1,), (cupy.zeros(4, dtype='f'),))\ncupy.cuda.runtime.deviceSynchronize()\n"
    ),
    "flaky": "import random, torch\ntorch.ones(1).cuda()\nif random.random() < 0.7: raise RuntimeError('bad day')\n",
}
HELPERS = {"cupy-helped": {"helper_of_mine.py": "X = 1\n"}}

LOGIN: dict[str, str] = {
    **{f"SSH_{n}": "1" for n in ("CLIENT", "CONNECTION", "TTY", "AUTH_SOCK")},
    **{f"XDG_{n}": "x" for n in ("SESSION_ID", "RUNTIME_DIR", "DATA_DIRS", "SESSION_TYPE", "SESSION_CLASS")},
    **{f"LC_{n}": "C.UTF-8" for n in ("CTYPE", "NUMERIC", "TIME", "COLLATE", "MONETARY", "MESSAGES")},
    **{f"SLURM_{n}": "1" for n in ("JOB_ID", "NNODES", "NTASKS", "CPUS_ON_NODE", "NODEID", "PROCID", "LOCALID", "JOB_NAME")},
    **{f"MODULE_{n}": "1" for n in ("VERSION", "PATHS", "LOADED", "SHELL", "CMD")},
    **{f"PROJECT_{n}": str(n) for n in range(24)},
    **{f"TEAM_{n}": f"/data/{n}" for n in ("HOME", "DATA", "SCRATCH", "MODELS", "LOGS")},
    "OMP_NUM_THREADS": "4", "NCCL_DEBUG": "WARN", "TF_CPP_MIN_LOG_LEVEL": "1", "TOKENIZERS_PARALLELISM": "false",
    "CUDA_HOME": "$CUDA", "EDITOR": "vim", "PAGER": "less", "LS_COLORS": "di=34", "LESSOPEN": "|x", "WANDB_MODE": "offline",
    "HF_HUB_OFFLINE": "1", "CUDA_DEVICE_ORDER": "PCI_BUS_ID", "MKL_NUM_THREADS": "4", "PYTHONUNBUFFERED": "1",
}  # fmt: skip
"""What a login on a shared machine brings along: all of it innocent."""
