"""The CUDA toolkits on disk."""

from __future__ import annotations

from typing import Literal

from gpuwhy.model.fact import NOT_OBSERVED, Fact
from gpuwhy.model.facts.record import Record


class Toolkit(Record, frozen=True):
    """One CUDA toolkit, or the part of one, on disk."""

    path: str
    kind: Literal["system", "distribution", "conda", "wheel"]
    toolkit_cuda: Fact[str]
    nvcc: Fact[str]  # path of its nvcc


class Toolkits(Record, frozen=True):
    """Every CUDA toolkit on disk and the one that PATH and the variables choose."""

    toolkits: Fact[tuple[Toolkit, ...]] = NOT_OBSERVED
    nvcc_on_path: Fact[str] = NOT_OBSERVED
    usr_local_cuda: Fact[str] = NOT_OBSERVED  # where /usr/local/cuda leads
