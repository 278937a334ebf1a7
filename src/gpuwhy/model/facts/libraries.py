"""Every copy of the CUDA libraries that something on this machine could load."""

from __future__ import annotations

from typing import Literal

from gpuwhy.model.fact import NOT_OBSERVED, Fact
from gpuwhy.model.facts.record import Record

Flaw = Literal["", "missing", "dangling", "unreadable", "empty", "foreign", "truncated", "machine"]
"""What is wrong with a file: "foreign" is of another format, "machine" for another one; "" is nothing, or not known."""


class LibraryCopy(Record, frozen=True, omit_defaults=True):
    """One file of a CUDA library that something on this machine could load."""

    family: str  # cudart, cublas, cublasLt, cudnn, cufft, curand, cusolver, cusparse, nccl, nvrtc, nvjitlink, cupti …
    name: str  # file name as a program would ask for it: libcudnn.so.9
    path: str
    real: str
    where: str  # "ld.so.cache", "LD_LIBRARY_PATH", "wheel", "conda", "toolkit", "default folder"
    version: Fact[str]
    size: Fact[int]
    owner: Fact[str]  # "nvidia-cudnn-cu12 9.27.0.5 (pip)", "libcudnn9-cuda-13 9.14.0 (dpkg)"
    health: Fact[str]  # "ok", or in words what is wrong with the file
    fault: Flaw = ""  # that, for code to decide by

    @property
    def paths(self) -> frozenset[str]:
        """Where it is this file: as it was found, as the file itself, and by its short name beside that."""
        return frozenset((self.path, self.real, f"{self.real.rpartition('/')[0]}/{self.name}"))


class Libraries(Record, frozen=True):
    """Every copy of the CUDA libraries."""

    copies: Fact[tuple[LibraryCopy, ...]] = NOT_OBSERVED
