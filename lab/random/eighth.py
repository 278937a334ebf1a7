"""Eighth operators, their common ground: a table of cases is an operator, and a failing case is dressed as programs are.

Part `eighth`. A fault is drawn together with what stands around it: a logger, JSON lines, an exception of the program's
own, retries, a child process, a notebook, a pool, a launcher. A case names with `expect` what its mechanism must show in
the bare log, and with `void` what would be a slip of the lab: such a draw is not counted. `@D@` is the device, `@J@`
JAX's name of it, `@S@` a small number, `@O@` a port, `@P@` the Python, `@T@` the toolkit, `@SITE@` the packages.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from lab.random.draw import Draw, Machine, operator
from lab.random.eighth_dress import DRESSES, SHELLS, dressed, shelled
from lab.random.marks import filled, usable
from lab.random.programs import source

PART = "eighth"
SHADOW, PATH, SET, LIM, OT = "env.shadowed", "env.path", "env.setting", "env.limit", "other.not_gpu"
BAD, CONFLICT, ODD, ABI = "install.corrupted", "install.conflict", "install.inconsistent", "framework.extension_abi"
SEL, HOST, OOM, NCCL, PEER = "device.selection", "memory.host", "memory.oom", "distributed.nccl", "distributed.peer"
IDX, ILL, LAU, SHA, ORD = "program.index", "program.illegal_access", "program.launch", "program.shape", "program.order"
FORK, BUILD, COMPILER, LIB = "program.fork", "program.build", "cuda.compiler_missing", "cuda.missing_library"
MIXED, DNN, UNSUP = "cuda.mixed_libraries", "cudnn.mixed_libraries", "framework.gpu_unsupported"
NONE, NO_GPU, CLOSED, BUSY = "driver.missing", "container.no_gpu", "driver.permission", "device.busy"
DROPPED, BUG, TAKEN = "framework.platform_dropped", "framework.bug", "memory.other_process"
T, J, C = "import torch\n", "import jax, jax.numpy as jnp\n", "import cupy\n"
F = "import torch, torch.nn.functional as F\n"
TR = "import torch, triton, triton.language as tl\n"
ANY = "torch-matmul torch-train torch-fft torch-solve jax-matmul jax-grad jax-fft cupy-matmul cupy-fft cupy-raw triton-add"
LIGHT = "torch-matmul torch-fft jax-matmul jax-fft cupy-matmul cupy-raw"
NVCC = "nvcc -arch=sm_90 -o $W/a $SCRIPT && $W/a"
SLIP = r"\b(AttributeError|NameError|SyntaxError|IndentationError|ModuleNotFoundError|UnboundLocalError)\b"
"""What a program of the lab's own must not end by, unless the case is about it."""


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
    user: str = ""
    command: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    dress: str = "any"  # any: in the same process too; shell: around the process only; none
    expect: str = ""
    void: str = SLIP
    seconds: int = 60


def made(rng: random.Random, machine: Machine, name: str, one: Case) -> Draw:
    """A case as a draw, dressed by chance."""
    program, marks = (
        rng.choice(usable(machine, one.needs, one.code + one.before + one.after, one.command)),
        filled(rng, machine),
    )

    def fill(text: str) -> str:
        for mark, value in marks.items():
            text = text.replace(mark, value)
        return text

    code, harmless = fill(one.code), one.target.startswith("harmless")
    if one.before or one.after:
        code = fill(one.before) + source(program, machine.device) + fill(one.after)
    shown = f"{program.partition('-')[0]}-own" if one.code and not harmless else program
    files = {fill(k): fill(v) for k, v in one.files.items()}
    command, dress = fill(one.command), "" if harmless else picked(rng, one, program)
    if dress in SHELLS:
        command = shelled(dress, command)
    elif dress:
        code, files["job.py"] = dressed(dress), code or source(program, machine.device)
    environ = {k: fill(v) if v is not None else None for k, v in one.environ.items()}
    also = tuple(dict.fromkeys(near for near in one.also if near != one.cause))
    target = f"{one.target} [{dress}]" if dress else one.target
    return Draw(name, target, shown, one.cause, also, fill(one.setup), environ, one.limit, one.user, code=code, files=files, command=command, seconds=one.seconds, expect=one.expect, void=one.void)  # fmt: skip


def picked(rng: random.Random, one: Case, program: str) -> str:
    """What stands around the program in this draw; nothing in a quarter of them."""
    if one.dress == "none" or rng.random() < 0.25:
        return ""
    if program.startswith("cpp") and not one.code:
        return ""
    if one.command or one.dress == "shell" or program.startswith("cpp"):
        return rng.choice(sorted(SHELLS))
    own = [d for d in sorted(DRESSES) if d != "torchrun" or program.startswith("torch")]
    return rng.choice([*own, *sorted(SHELLS)])


def enter(name: str, *cases: Case) -> None:
    """Enter a table as an operator of the eighth part."""

    def drawn(rng: random.Random, machine: Machine) -> Draw | None:
        here = [one for one in cases if usable(machine, one.needs, one.code + one.before + one.after, one.command)]
        return made(rng, machine, name, rng.choice(here)) if here else None

    operator(name, PART)(drawn)
