"""What a framework takes before and around the first tensor: measured rows, and how one is chosen."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from gpuwhy.knowledge.tables import load


class Base(msgspec.Struct, frozen=True):
    """One measured framework: bytes outside its allocator, and the workspaces inside of it."""

    framework: str
    release: str
    gpu: str
    context: int  # after the first kernel, outside the allocator
    matmul: int  # more once matrices are multiplied
    convolution: int  # more once cuDNN convolves
    training: int  # more once a backward pass and an optimizer ran
    workspace: int  # inside the allocator: cuBLAS's own
    workspace_training: int  # the backward pass has a thread of its own, and that a workspace
    nccl: int  # a communicator of one rank, outside the allocator
    date: str
    assumed: bool = False


class Table(msgspec.Struct, frozen=True):
    """data/framework_memory.json."""

    source: str
    rows: list[Base]


@lru_cache(maxsize=1)
def table() -> Table:
    """The rows."""
    return load("framework_memory.json", Table)


def of(framework: str) -> Base:
    """The row of a framework; torch's where there is none, which is then an assumption."""
    rows = [row for row in table().rows if row.framework == framework]
    if rows:
        return rows[0]
    return msgspec.structs.replace(next(row for row in table().rows if row.framework == "torch"), assumed=True)


def outside(row: Base, training: bool, convolutions: bool, alone: bool = False) -> int:
    """Bytes outside the allocator at the peak; convolutions alone need no cuBLAS."""
    if alone:
        return row.context + row.convolution
    return row.context + row.matmul + (row.convolution if convolutions else 0) + (row.training if training else 0)
