"""PyTorch workers with 64 MB of shared memory."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import containers
from gpuwhy.lint.scope import base_of
from gpuwhy.lint.sheet import Workload
from gpuwhy.model.lint import Mistake, Rule
from gpuwhy.model.plan import Machine

RULE = Rule("shared-memory", "warning", "PyTorch workers with 64 MB of shared memory")

_TRAINS = re.compile(r"\b(torchrun|torch\.distributed|accelerate launch|deepspeed|lightning)\b")


_PARALLEL = re.compile(r"(?:--(?:tensor-parallel-size|num-shard|tp(?:-size)?|world-size)|-tp)[= ](\d+)")
_SIZES = ("TENSOR_PARALLEL_SIZE", "NUM_SHARD", "TP_SIZE", "VLLM_TENSOR_PARALLEL_SIZE")


def check_workload(work: Workload, _: Machine | None) -> Iterator[Mistake]:
    """PyTorch that trains, with Docker's 64 MB of /dev/shm."""
    base = base_of(work)
    trains = base.framework == "torch" and (
        work.kind != "kubernetes" or _TRAINS.search(work.command) or "train" in work.command
    )
    several = parallel(work)
    if not several and not trains and not _TRAINS.search(work.command):
        return
    if work.partial or work.shared_memory or not work.request or work.kind == "sagemaker":
        return
    how = {
        "compose": "add shm_size: 8gb (or ipc: host)",
        "kubernetes": "mount an emptyDir with medium: Memory at /dev/shm",
        "script": "add --shm-size=8gb (or --ipc=host) after docker run",
        "devcontainer": 'add "--shm-size=8gb" to runArgs',
    }[work.kind]
    place = work.image.place if work.image else work.place
    text = f"{work.name} runs PyTorch with 64 MB of /dev/shm: DataLoader workers die with a bus error"
    if several:
        place = work.request
        text = f"{work.name} splits a model over {several} GPUs with 64 MB of /dev/shm, which NCCL needs more of"
    yield RULE.mistake(place, text, containers.SHARED_MEMORY, how)


def parallel(work: Workload) -> int:
    """Over how many GPUs a server splits its model, as its command or a variable says; 0 for one."""
    found = _PARALLEL.search(work.command)
    named = (work.variables[name].value for name in _SIZES if name in work.variables)
    sizes = [found[1]] if found else [value for value in named if value.isdigit()]
    return int(sizes[0]) if sizes and int(sizes[0]) > 1 else 0
