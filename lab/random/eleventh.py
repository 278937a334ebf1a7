"""Eleventh operators, their common ground: a table of cases is an operator, as in the parts before, in other dresses.

Part `eleventh`: libraries and tools that no part before has. Its author saw no rule and no test of gpuwhy. A case names with `expect`
what its mechanism must show in the bare log; a draw that ends otherwise is `void`. Programs that fill memory do so inside a
small share of the card, since other draws run beside them.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from lab.random.draw import Draw, Machine, operator
from lab.random.eighth import Case as Case
from lab.random.eighth import made
from lab.random.eleventh_dress import DRESSES, SHELLS, Wardrobe
from lab.random.marks import usable
from lab.random.programs import source

PART = "eleventh"
SECONDS = 40
DRESSED = 0.4
"""The share of faults with something around them."""
SHADOW, PATH, SET, LIM, OT = "env.shadowed", "env.path", "env.setting", "env.limit", "other.not_gpu"
BAD, CONFLICT, ODD, ABI = "install.corrupted", "install.conflict", "install.inconsistent", "framework.extension_abi"
SEL, HOST, OOM, NCCL, PEER = "device.selection", "memory.host", "memory.oom", "distributed.nccl", "distributed.peer"
IDX, ILL, LAU, SHA, ORD = "program.index", "program.illegal_access", "program.launch", "program.shape", "program.order"
FORK, BUILD, COMPILER, LIB = "program.fork", "program.build", "cuda.compiler_missing", "cuda.missing_library"
MIXED, UNSUP, CPU, BUG = "cuda.mixed_libraries", "framework.gpu_unsupported", "framework.cpu_only", "framework.bug"
NONE, NO_GPU, CLOSED, NOT_READY = "driver.missing", "container.no_gpu", "driver.permission", "driver.not_ready"
FRAG, PRE, VERSION, BUSY = "memory.fragmentation", "memory.preallocation", "cuda.version_mismatch", "device.busy"
OLD, STUB, COMPAT, TAKEN = "driver.too_old", "driver.stub", "driver.compat_misuse", "memory.other_process"
DNN_NONE, DNN_OTHER, DNN_MIXED = "cudnn.missing", "cudnn.version_mismatch", "cudnn.mixed_libraries"
DNN_NEED, DROPPED, KERNEL_OTHER = "cudnn.dependency_missing", "framework.platform_dropped", "driver.library_mismatch"
T, J, C = "import torch\n", "import jax, jax.numpy as jnp\n", "import cupy\n"
F = "import torch, torch.nn.functional as F\n"
N = "import numpy\nfrom numba import cuda\n"
TR = "import torch, triton, triton.language as tl\n"
LIGHT = "torch-matmul torch-fft jax-matmul jax-fft cupy-matmul cupy-raw"
ANY = f"{LIGHT} torch-train torch-solve jax-grad cupy-fft triton-add"
NVCC = "nvcc -arch=sm_90 -o $W/a $SCRIPT && $W/a"
TABLES: dict[str, tuple[Case, ...]] = {}
"""Every table of this part by its operator's name."""


@dataclass(frozen=True)
class Part:
    """What a part of this form has of its own: its name, the longest run, the dresses, the tables entered so far."""

    name: str
    seconds: int
    wardrobe: Wardrobe
    tables: dict[str, tuple[Case, ...]]


HERE = Part(PART, SECONDS, Wardrobe(DRESSES, SHELLS), TABLES)


def enter(name: str, *cases: Case, part: Part = HERE) -> None:
    """Enter a table as an operator of a part, the eleventh where none is named."""
    part.tables[name] = cases

    def drawn(rng: random.Random, machine: Machine) -> Draw | None:
        here = [one for one in cases if usable(machine, one.needs, one.code + one.before + one.after, one.command)]
        return drawn_of(rng, machine, name, rng.choice(here), part) if here else None

    operator(name, part.name)(drawn)


def drawn_of(rng: random.Random, machine: Machine, name: str, one: Case, part: Part = HERE) -> Draw:
    """A case as a draw, in one of the part's dresses or in none."""
    plain = made(rng, machine, name, replace(one, dress="none"))
    plain = replace(plain, seconds=min(plain.seconds, part.seconds))
    if one.dress == "none" or one.target.startswith("harmless") or rng.random() > DRESSED:
        return plain
    return worn(rng, machine, one, plain, part.wardrobe)


def worn(rng: random.Random, machine: Machine, one: Case, plain: Draw, wardrobe: Wardrobe = HERE.wardrobe) -> Draw:
    """The draw with something around it that does not change why it fails."""
    compiled = plain.program.startswith("cpp")
    if compiled and not one.code:
        return plain
    around = bool(one.command) or one.dress == "shell" or compiled
    shells = sorted(wardrobe.shells)
    dress = rng.choice(shells if around else [*sorted(wardrobe.dresses), *shells])
    target = f"{plain.target} [{dress}]"
    if dress in wardrobe.shells:
        return replace(plain, target=target, command=wardrobe.shelled(dress, plain.command))
    files = {**plain.files, "job.py": plain.code or source(plain.program, machine.device)}
    return replace(plain, target=target, code=wardrobe.dressed(dress), files=files)


def py(needs: str, target: str, cause: str, also: tuple[str, ...], code: str, expect: str, seconds: int = 60) -> Case:
    """A program of its own, in Python."""
    return Case(needs, target, cause, also, code=code if code.endswith("\n") else f"{code}\n", expect=expect, seconds=seconds)  # fmt: skip


def lines(*texts: str) -> str:
    """Shell words that printf '%s\\n' writes as these lines."""
    return " ".join("'" + text.replace("'", "'\\''") + "'" for text in texts)
