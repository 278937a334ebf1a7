"""Every copy of the CUDA libraries that something on this machine could load, and the toolkits."""

from enum import Enum
from typing import Literal

from gpuwhy.facts.fact import NOT_OBSERVED, Fact, Owner, Record

Where = Literal[
    "ld.so.cache", "LD_LIBRARY_PATH", "PATH", "default folder", "toolkit", "conda", "wheel"
]
"""Among whose folders a copy was found."""


class Flaw(Enum):
    """What is wrong with a library's file; the source's detail says it in figures."""

    NONE = "ok"
    MISSING = "missing"
    DANGLING = "dangling link"
    UNREADABLE = "unreadable"
    EMPTY = "empty"
    FOREIGN = "not a library"  # another format
    TRUNCATED = "truncated"
    MACHINE = "wrong architecture"


class LibraryCopy(Record, frozen=True):
    """One file of a CUDA library that something on this machine could load."""

    family: str  # cudart, cublas, cublasLt, cudnn, cufft, curand, cusolver, cusparse, nccl, nvrtc …
    name: str  # file name as a program would ask for it: libcudnn.so.9
    path: str
    real: str  # after following links
    where: Where
    version: Fact[str]
    size: Fact[int]
    owner: Fact[Owner]
    health: Fact[Flaw]

    @property
    def paths(self) -> frozenset[str]:
        """Its paths: as found, after links, and its short name beside the file itself."""
        return frozenset((self.path, self.real, f"{self.real.rpartition('/')[0]}/{self.name}"))


class Toolkit(Record, frozen=True):
    """One CUDA toolkit, or the part of one, on disk."""

    path: str
    kind: Literal["system", "distribution", "conda", "wheel"]
    toolkit_cuda: Fact[str]


class Libraries(Record, frozen=True):
    """The CUDA libraries and toolkits of this machine."""

    copies: Fact[tuple[LibraryCopy, ...]] = NOT_OBSERVED
    toolkits: Fact[tuple[Toolkit, ...]] = NOT_OBSERVED
