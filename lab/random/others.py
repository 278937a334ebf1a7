"""Operators that need more than a row: a port that is taken, a C++ program built in the wrong way."""

from __future__ import annotations

import random

from lab.random.draw import Draw, Machine, operator
from lab.random.programs import CPP


@operator("taken-port", "tune")
def taken_port(rng: random.Random, machine: Machine) -> Draw | None:
    """The rendezvous' port is taken by somebody else."""
    if not machine.programs("torch-nccl"):
        return None
    port = rng.randrange(41000, 60000)
    code = f"import os, socket, torch, torch.distributed as dist\ns = socket.socket()\ns.bind(('0.0.0.0', {port}))\ns.listen()\nos.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT='{port}', RANK='0', WORLD_SIZE='1')\ndist.init_process_group('nccl' if '{machine.device}' == 'cuda' else 'gloo')\nprint('RESULT')"
    return Draw("taken-port", str(port), "torch-wrong", "distributed.peer", (), code=code)


BUILDS = (
    ("nvcc -arch=sm_20 -o $W/a $SCRIPT && $W/a", "program.build", ()),
    ("nvcc -arch=sm_90 -I/nonexistent -include no_such.h -o $W/a $SCRIPT && $W/a", "program.build", ()),
    ("nvcc -arch=sm_90 -lcudnn_no_such -o $W/a $SCRIPT && $W/a", "program.build", ("cuda.missing_library",)),
    (
        "nvcc -gencode arch=compute_100,code=sm_100 -o $W/a $SCRIPT && $W/a",
        "framework.gpu_unsupported",
        ("program.build",),
    ),
    (
        "nvcc -gencode arch=compute_100,code=compute_100 -o $W/a $SCRIPT && $W/a",
        "framework.gpu_unsupported",
        ("program.build", "driver.too_old"),
    ),
    ("nvcc -ccbin /nonexistent/g++ -o $W/a $SCRIPT && $W/a", "program.build", ("env.path", "cuda.compiler_missing")),
    ("PATH=/usr/bin:/bin nvcc-13.9 -o $W/a $SCRIPT && $W/a", "env.path", ("cuda.compiler_missing", "program.build")),
    ("nvcc -c -o $W/a.o $SCRIPT && g++ $W/a.o -o $W/a && $W/a", "program.build", ("env.path",)),
)


@operator("build", "judge")
def build(rng: random.Random, machine: Machine) -> Draw | None:
    """A C++ program built with a wrong flag, and run."""
    if not machine.programs("cpp-add"):
        return None
    command, cause, also = rng.choice(BUILDS)
    return Draw("build", command, "cpp-wrong", cause, also, code=CPP["cpp-add"][1], command=command)
