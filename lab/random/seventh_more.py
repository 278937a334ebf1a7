"""Seventh operators, two things at once: a fault beside a decoy, under a debugger's variables, or hidden by its program."""

from __future__ import annotations

from dataclasses import replace

from lab.random.seventh import (
    ANY,
    BUILD,
    COMPILER,
    HOST,
    IDX,
    ILL,
    LAU,
    LIM,
    OOM,
    OT,
    PATH,
    SEL,
    SET,
    SHA,
    C,
    Case,
    F,
    J,
    N,
    T,
    enter,
)

FAULTS = (
    Case("torch", "shapes", SHA, (), code=T + "a = torch.randn(@S@, 6, device='@D@')\nprint((a @ a).sum().item())\n"),
    Case("torch", "label", IDX, (), code=F + "print(F.cross_entropy(torch.randn(4, 3, device='@D@'), torch.tensor([0, 1, 2, 30], device='@D@')).item())\n"),
    Case("torch-graph", "petabyte", OOM, (), code=T + "print(torch.zeros(@S@ << 50, dtype=torch.uint8, device='cuda').sum())\n"),
    Case("torch-graph", "card", SEL, (), code=T + "print(torch.ones(2, device='cuda:@S@'))\n"),
    Case("cupy", "block", LAU, (), code=C + "k = cupy.RawKernel('extern \"C\" __global__ void k(float* p) { p[0] = 1; }', 'k')\nk((1,), (2048,), (cupy.zeros(4, dtype='f'),))\ncupy.cuda.runtime.deviceSynchronize()\n"),
    Case("cupy", "address", ILL, (), code=C + "k = cupy.RawKernel('extern \"C\" __global__ void k(float* p, long long n) { p[n << 35] = 1; }', 'k')\nx = cupy.zeros(4, dtype='f')\nk((1,), (1,), (x, @S@))\nprint(float(x.sum()))\n"),
    Case("cupy", "slip in a kernel", BUILD, (COMPILER,), code=C + "k = cupy.RawKernel('extern \"C\" __global__ void k(float* p) { p[0] = gama; }', 'k')\nk((1,), (1,), (cupy.zeros(4, dtype='f'),))\n"),
    Case("jax", "shapes", SHA, (OT,), code=J + "print(jax.jit(lambda a, b: a @ b)(jnp.ones((@S@, 3)), jnp.ones((4, @S@))))\n"),
    Case("torch", "own key", OT, (), code=T + "print(torch.ones(2, device='@D@').sum().item(), flush=True)\nprint({'lr': 0.1}['cuda_graphs'])\n"),
    Case("numba-kernel", "own file", OT, (), code=N + "x = cuda.to_device(numpy.ones(4))\nprint(x.copy_to_host().sum(), flush=True)\nopen('gpu_table.csv')\n"),
)  # fmt: skip
DECOYS: tuple[tuple[str, dict[str, str], dict[str, str]], ...] = (
    ("old folders searched", {"LD_LIBRARY_PATH": "/usr/local/cuda-9.0/lib64:/opt/gone/lib:$OLD_LD"}, {}),
    ("an interface of another cluster", {"NCCL_SOCKET_IFNAME": "ib9", "NCCL_NET": "IB", "MASTER_PORT": "abc"}, {}),
    ("a container's variable", {"NVIDIA_VISIBLE_DEVICES": "none", "NVIDIA_DRIVER_CAPABILITIES": "utility"}, {}),
    ("growing segments", {"PYTORCH_ALLOC_CONF": "expandable_segments:True", "TF_FORCE_GPU_ALLOW_GROWTH": "true"}, {}),
    ("data in a folder of that name", {}, {"torch/notes.txt": "weights\n", "cupy/readme.md": "frames\n"}),
    ("yesterday's log", {}, {"train.log": "RuntimeError: CUDA error: device-side assert triggered\nNVRM: Xid 79\n", "core.4711": ""}),
    ("a hook that fails", {"PYTHONPATH": "$D/hooks"}, {"hooks/sitecustomize.py": "import company_telemetry\n"}),
    ("an allocator that is gone", {"LD_PRELOAD": "/usr/lib/libtcmalloc_gone.so.4"}, {}),
    ("old toolkit named", {"CUDNN_HOME": "/opt/cudnn7", "CUDA_PATH_V11_2": "/opt/cuda-11.2"}, {}),
)  # fmt: skip


def beside(fault: Case, decoy: tuple[str, dict[str, str], dict[str, str]]) -> Case:
    """A fault with something suspicious beside it that does nothing."""
    return replace(fault, target=f"{fault.target} ({decoy[0]})", environ=decoy[1], files=decoy[2])


enter("decoy", *(beside(fault, decoy) for fault in FAULTS for decoy in DECOYS[::2]))
enter("decoy-other", *(beside(fault, decoy) for fault in FAULTS for decoy in DECOYS[1::2]))
DEBUG: tuple[tuple[str, dict[str, str], dict[str, str]], ...] = (
    ("every launch waited for", {"CUDA_LAUNCH_BLOCKING": "1", "TORCH_SHOW_CPP_STACKTRACES": "1", "TORCH_CPP_LOG_LEVEL": "INFO"}, {}),
    ("development mode", {"PYTHONDEVMODE": "1", "PYTHONFAULTHANDLER": "1", "JAX_TRACEBACK_FILTERING": "off"}, {}),
    ("loud libraries", {"CUBLASLT_LOG_LEVEL": "2", "CUDNN_LOGLEVEL_DBG": "1", "TORCH_LOGS": "+dynamo", "TF_CPP_MIN_LOG_LEVEL": "0"}, {}),
    ("lazy loading off", {"CUDA_MODULE_LOADING": "EAGER", "JAX_TRACEBACK_FILTERING": "tracebackhide"}, {}),
)  # fmt: skip
enter("fault-debugged", *(beside(fault, debug) for fault in FAULTS for debug in DEBUG))
HIDE = "import sys\ntry:\n@WORK@\nexcept BaseException as e:\n    sys.exit(@SAY@)\n"


def hidden(one: Case, say: str) -> Case:
    """A program that keeps the framework's words to itself."""
    work = "".join(f"    {line}\n" for line in one.code.splitlines())
    return replace(one, code=HIDE.replace("@WORK@\n", work).replace("@SAY@", say))


ASKS = (
    Case("torch-graph", "no card visible", SEL, (SET,), code=T + "print(torch.ones(2, device='cuda'))\n", environ={"CUDA_VISIBLE_DEVICES": "7"}),
    Case("cupy", "no card visible", SEL, (SET,), code=C + "print(cupy.ones(2))\n", environ={"CUDA_VISIBLE_DEVICES": "-1"}),
    Case("jax", "platform misspelt", SET, (SEL,), code=J + "print(jnp.ones(2))\n", environ={"JAX_PLATFORMS": "gpus"}),
    Case("jax", "flag misspelt", SET, (OT,), code=J + "print(jnp.ones(2))\n", environ={"XLA_FLAGS": "--xla_gpu_autotune_levl=0"}),
    Case("torch-graph", "allocator's option", SET, ("memory.fragmentation", OT), code=T + "print(torch.ones(2, device='cuda'))\n", environ={"PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb=64", "PYTORCH_ALLOC_CONF": "max_split_size_mb=64"}),
    Case("numba-kernel", "switched off", SET, (SEL,), code=N + "print(cuda.get_current_device())\n", environ={"NUMBA_DISABLE_CUDA": "1"}),
    Case("torch jax cupy", "few files", LIM, (OT,), code="import socket\nkept = [socket.socket() for _ in range(64)]\n", limit="ulimit -n 32"),
    Case("torch-graph", "little address space", LIM, (HOST, OOM, OT), code="import torch\nprint(torch.ones(2, device='cuda'))\n", limit="ulimit -v 9000000"),
)  # fmt: skip
SAYS = (
    "'GPU initialisation failed'",
    "3",
    "'fatal: worker could not start: ' + type(e).__name__",
    "'error: ' + str(e)[:48]",
)
enter("swallowed", *(hidden(one, say) for one in ASKS for say in SAYS))
enter(
    "closed-streams",
    Case(ANY, "no output at all", OT, (LIM,), command="$PYTHON $SCRIPT >&-", after="import os\nos.write(1, b'saved\\n')\n"),
    Case(ANY, "output is read-only", OT, (LIM,), command="$PYTHON -u $SCRIPT 1</dev/null"),
    Case(ANY, "answers wanted, nobody there", OT, (), command="$PYTHON $SCRIPT <&-", after="input('continue on the GPU? ')\n"),
    Case(ANY, "no terminal", OT, (), after="import os\nprint(os.get_terminal_size(0))\n"),
    Case(ANY, "harmless: no input", OT, (LIM,), command="$PYTHON $SCRIPT <&-"),
    Case(ANY, "harmless: no place for errors", OT, (LIM,), command="$PYTHON $SCRIPT 2>/dev/full"),
)  # fmt: skip
GROW = "import os\nos.environ['JOB_PARAMS'] = 'x=1;' * @LONG@\n"
enter(
    "long-environ",
    Case("triton-add torch-compile", "one variable of 200 kB", LIM, (SET, OT, BUILD, COMPILER), before=GROW.replace("@LONG@", "50000")),
    Case("triton-add torch-compile", "many variables", LIM, (SET, OT, BUILD, COMPILER), before="import os\nfor i in range(400):\n    os.environ[f'PARAM_{i}'] = 'v' * 20000\n"),
    Case(ANY, "argument list of the start script", LIM, (OT, SET), command="export JOB_PARAMS=$(head -c 150000 /dev/zero | tr '\\0' x); $PYTHON $SCRIPT"),
    Case("triton-add torch-compile", "harmless: one variable of 80 kB", LIM, (SET, OT), before=GROW.replace("@LONG@", "20000")),
    Case(ANY, "harmless: hundreds of small ones", LIM, (SET, OT), command="for i in $(seq 600); do export MODULE_$i=/opt/sw/$i; done; $PYTHON $SCRIPT"),
)  # fmt: skip
MISSPELT: tuple[dict[str, str | None], ...] = (
    {"CUDA_VISIBLE_DEVICE": "7"}, {"cuda_visible_devices": "-1"}, {"JAX_PLATFORM": "tpu"}, {"XLA_FLAG": "--xla_gpu_nope=1"}, {"PYTORCH_CUDA_ALLOC_CONFIG": "max_split=1"},
    {"CUDA_VISIBLE_DEVICES_": ""}, {"NUMBA_DISABLE_GPU": "1"}, {"TORCH_CUDA_ARCH": "3.5"}, {"LD_LIBRARYPATH": "/nonexistent"}, {"CUPY_MEMORY_LIMIT": "10"}, {"TRITON_CACHE": "/proc/none"},
)  # fmt: skip
enter(
    "misspelt-names", *(Case(ANY, f"harmless: {' '.join(one)}", SET, (OT, SEL, PATH), environ=one) for one in MISSPELT)
)
