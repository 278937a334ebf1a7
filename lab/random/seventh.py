"""Seventh operators, their common ground: a table of cases is an operator; the first tables are of caches and of the loader.

Part `seventh`; nothing outside the draw's own folder and mount namespace is changed. A case whose target begins with
`harmless` is meant as a control; its cause says what it would be if it bit after all. `@D@` is the device, `@J@` JAX's name
of it, `@S@` a small number, `@O@` a port, `@P@` the Python, `@T@` the toolkit, `@SITE@` the packages.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from lab.random.draw import Draw, Machine, operator
from lab.random.marks import filled, usable
from lab.random.programs import source

PART = "seventh"
SHADOW, PATH, SET, LIM, OT = "env.shadowed", "env.path", "env.setting", "env.limit", "other.not_gpu"
BAD, CONFLICT, ODD, ABI = "install.corrupted", "install.conflict", "install.inconsistent", "framework.extension_abi"
SEL, HOST, OOM, NCCL, PEER = "device.selection", "memory.host", "memory.oom", "distributed.nccl", "distributed.peer"
IDX, ILL, LAU, SHA, ORD = "program.index", "program.illegal_access", "program.launch", "program.shape", "program.order"
FORK, BUILD, COMPILER, LIB = "program.fork", "program.build", "cuda.compiler_missing", "cuda.missing_library"
MIXED, DNN, UNSUP, STUB = "cuda.mixed_libraries", "cudnn.mixed_libraries", "framework.gpu_unsupported", "driver.stub"
T, J, C = "import torch\n", "import jax, jax.numpy as jnp\n", "import cupy\n"
F = "import torch, torch.nn.functional as F\n"
N = "import numpy\nfrom numba import cuda\n"
TR = "import torch, triton, triton.language as tl\n"
ANY = "torch-matmul torch-train torch-fft torch-solve jax-matmul jax-grad jax-fft cupy-matmul cupy-fft cupy-raw numba-kernel triton-add"
WARM = "timeout 40"
NVCC = "nvcc -arch=sm_90 -o $W/a $SCRIPT && $W/a"


@dataclass(frozen=True)
class Case:
    """One row of an operator's table; `code` stands instead of the healthy program, `before` and `after` around it."""

    needs: str
    target: str
    cause: str
    also: tuple[str, ...] = ()
    code: str = ""
    before: str = ""
    after: str = ""
    setup: str = ""
    environ: Mapping[str, str | None] = field(default_factory=dict)
    limit: str = ""
    command: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    refine: tuple[tuple[str, str], ...] = ()


def made(rng: random.Random, machine: Machine, name: str, one: Case) -> Draw:
    """A case as a draw."""
    program, marks = (
        rng.choice(usable(machine, one.needs, one.code + one.before + one.after, one.command)),
        filled(rng, machine),
    )

    def fill(text: str) -> str:
        for mark, value in marks.items():
            text = text.replace(mark, value)
        return text

    code = fill(one.code)
    if one.before or one.after:
        code = fill(one.before) + source(program, machine.device) + fill(one.after)
    own = one.code and not one.target.startswith("harmless")
    shown = f"{program.partition('-')[0]}-own" if own else program
    environ = {k: fill(v) if v is not None else None for k, v in one.environ.items()}
    also = tuple(dict.fromkeys(near for near in one.also if near != one.cause))
    files = {fill(k): fill(v) for k, v in one.files.items()}
    return Draw(name, one.target, shown, one.cause, also, fill(one.setup), environ, one.limit, code=code, files=files, command=fill(one.command), refine=one.refine, seconds=120 if WARM in one.setup else 60)  # fmt: skip


def enter(name: str, *cases: Case) -> None:
    """Enter a table as an operator of the seventh part."""

    def drawn(rng: random.Random, machine: Machine) -> Draw | None:
        here = [one for one in cases if usable(machine, one.needs, one.code + one.before + one.after, one.command)]
        return made(rng, machine, name, rng.choice(here)) if here else None

    operator(name, PART)(drawn)


# ------------------------------------------------------------------------------------------------ caches with spoilt contents
def warm(variables: str, then: str) -> str:
    """Shell: run the program once, so that its cache is full, then change what lies there ($K)."""
    return f"K=$W/k; rm -rf $K; mkdir -p $K; (cd $D; export XLA_PYTHON_CLIENT_PREALLOCATE=false {variables}; {WARM} @P@ main.py >/dev/null 2>&1); {then}; chmod -R a+rwX $K"


def each(pattern: str, how: str) -> str:
    """Shell: change every file of the cache that has such a name; there must be one."""
    return f"[ -n \"$(find $K -type f -name '{pattern}')\" ] || exit 97; find $K -type f -name '{pattern}' | while read f; do {how}; done"


HALF = "head -c $(($(stat -c %s $f) / 2)) $f > $W/half; cat $W/half > $f"
TRITON = {"TRITON_CACHE_DIR": "$W/k"}
KEPT = (LIM, OT, SET, BUILD, "framework.bug")
enter(
    "cache-spoilt-triton",
    Case("triton", "cubin is empty", BAD, (*KEPT, UNSUP, COMPILER), setup=warm("TRITON_CACHE_DIR=$K", each("*.cubin", ": > $f")), environ=TRITON),
    Case("triton", "cubin of zeros", BAD, (*KEPT, UNSUP, COMPILER), setup=warm("TRITON_CACHE_DIR=$K", each("*.cubin", "n=$(stat -c %s $f); head -c $n /dev/zero > $f")), environ=TRITON),
    Case("triton", "launcher is empty", BAD, (*KEPT, COMPILER), setup=warm("TRITON_CACHE_DIR=$K", each("*.so", ": > $f")), environ=TRITON),
    Case("triton", "launcher is a text", BAD, (*KEPT, COMPILER), setup=warm("TRITON_CACHE_DIR=$K", each("*.so", "echo 'version https://git-lfs' > $f")), environ=TRITON),
    Case("triton", "notes cut in the middle", BAD, KEPT, setup=warm("TRITON_CACHE_DIR=$K", each("*.json", HALF)), environ=TRITON),
    Case("triton", "harmless: leftovers of killed runs", BAD, KEPT, setup=warm("TRITON_CACHE_DIR=$K", "mkdir -p $K/tmp.pid_4711_x $K/ABCD; echo half > $K/tmp.pid_4711_x/k.cubin; : > $K/ABCD/k.ptx"), environ=TRITON),
)  # fmt: skip
INDUCTOR = {"TORCHINDUCTOR_CACHE_DIR": "$W/k"}
enter(
    "cache-spoilt-inductor",
    Case("torch-compile", "module cut in the middle", BAD, KEPT, setup=warm("TORCHINDUCTOR_CACHE_DIR=$K", each("*.py", HALF)), environ=INDUCTOR),
    Case("torch-compile", "module with a merge's marks", BAD, KEPT, setup=warm("TORCHINDUCTOR_CACHE_DIR=$K", each("*.py", "sed -i '1i <<<<<<< HEAD' $f")), environ=INDUCTOR),
    Case("torch-compile", "cubins are empty", BAD, (*KEPT, UNSUP, COMPILER), setup=warm("TORCHINDUCTOR_CACHE_DIR=$K", each("*.cubin", ": > $f")), environ=INDUCTOR),
    Case("torch-compile", "launchers are empty", BAD, (*KEPT, COMPILER), setup=warm("TORCHINDUCTOR_CACHE_DIR=$K", each("*.so", ": > $f")), environ=INDUCTOR),
    Case("torch-compile", "harmless: a warm cache", BAD, KEPT, setup=warm("TORCHINDUCTOR_CACHE_DIR=$K", ":"), environ=INDUCTOR),
    Case("torch-compile", "harmless: old files beside", BAD, KEPT, setup=warm("TORCHINDUCTOR_CACHE_DIR=$K", "mkdir -p $K/zz; echo 'import gone' > $K/zz/czz.py; echo x > $K/lock"), environ=INDUCTOR),
)  # fmt: skip
JAXED = {"JAX_COMPILATION_CACHE_DIR": "$W/k", "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0", "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}  # fmt: skip
JAXES = "JAX_COMPILATION_CACHE_DIR=$K JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0 JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES=-1"
NUMBA = N + "@cuda.jit('void(float32[:])', cache=True)\ndef k(x):\n    x[0] = 1\nx = cuda.to_device(numpy.zeros(4, dtype='f'))\nk[1, 1](x)\nprint('RESULT', x.copy_to_host()[0])\n"  # fmt: skip
enter(
    "cache-spoilt-other",
    Case("jax", "entries cut, errors raised", BAD, (LIM, OT, SET), setup=warm(JAXES, each("*", HALF)), environ={**JAXED, "JAX_RAISE_PERSISTENT_CACHE_ERRORS": "1"}),
    Case("jax", "harmless: entries cut, errors told", BAD, (LIM, OT, SET), setup=warm(JAXES, each("*", HALF)), environ=JAXED),
    Case("numba-kernel", "index of a kernel is empty", BAD, (LIM, OT, SET), code=NUMBA, setup=warm("NUMBA_CACHE_DIR=$K", each("*.nbi", ": > $f")), environ={"NUMBA_CACHE_DIR": "$W/k"}),
    Case("numba-kernel", "kernel cut in the middle", BAD, (LIM, OT, SET), code=NUMBA, setup=warm("NUMBA_CACHE_DIR=$K", each("*.nbc", HALF)), environ={"NUMBA_CACHE_DIR": "$W/k"}),
    Case("torch-bessel", "kernels are empty", BAD, (LIM, OT, SET, UNSUP, COMPILER), setup=warm("PYTORCH_KERNEL_CACHE_PATH=$K", each("*", ": > $f")), environ={"PYTORCH_KERNEL_CACHE_PATH": "$W/k"}),
    Case("torch-bessel", "kernels of zeros", BAD, (LIM, OT, SET, UNSUP, COMPILER), setup=warm("PYTORCH_KERNEL_CACHE_PATH=$K", each("*", "n=$(stat -c %s $f); head -c $n /dev/zero > $f")), environ={"PYTORCH_KERNEL_CACHE_PATH": "$W/k"}),
    Case("cupy-raw cupy-random", "harmless: kernels cut", BAD, (LIM, OT), setup=warm("CUPY_CACHE_DIR=$K", each("*.cubin", HALF)), environ={"CUPY_CACHE_DIR": "$W/k"}),
    Case("cupy-raw numba-kernel", "harmless: driver's cache of noise", BAD, (LIM, OT), setup="mkdir -p $W/k/a/b; head -c 9000 /dev/urandom > $W/k/index; head -c 500 /dev/urandom > $W/k/a/b/0123; chmod -R a+rwX $W/k", environ={"CUDA_CACHE_PATH": "$W/k"}),
)  # fmt: skip
