"""Plan: what somebody wants installed, the machine it is for, and the set that works there (or why none does)."""

from __future__ import annotations

from typing import Literal

import msgspec

from gpuwhy.model.fact import Source
from gpuwhy.model.rich import Rich

System = Literal["linux", "windows", "wsl"]
Role = Literal["framework", "companion", "library", "other"]
Why = Literal[
    "version", "python", "platform", "driver", "gpu", "library", "yanked", "gone", "broken", "preview", "cpu", "pin",
    "set", "libc", "unknown",
]  # fmt: skip


class Wish(msgspec.Struct, frozen=True):
    """One package that is wanted: a requirement from the command line or from a file."""

    name: str  # normalised: flash-attn
    specifier: str = ""  # ">=2.4,<3"; "" = any
    extras: tuple[str, ...] = ()
    marker: str = ""
    url: str = ""  # a direct reference, a path or an editable folder: installed as it is
    where: str = ""  # requirements.txt:12; "" = the command line
    constraint: bool = False  # limits a package, does not ask for it
    text: str = ""  # as it was written, without hashes
    build: str = ""  # cu124: the label of a build, or the index of PyTorch's that the file names


class Gpu(msgspec.Struct, frozen=True):
    """A GPU to plan for."""

    name: str
    capability: str  # 8.9


class Machine(msgspec.Struct, frozen=True):
    """What the set has to work on; "" and () are not known, and then not checked."""

    system: System = "linux"
    machine: str = "x86_64"
    driver: str = ""  # 535 (the newest of that branch) or 535.183.01
    gpus: tuple[Gpu, ...] = ()
    python: str = ""  # the one to use, if it can be kept
    fixed_python: bool = False
    keep: tuple[str, ...] = ()  # driver, python
    installed: dict[str, str] = {}
    lines: tuple[Line, ...] = ()  # how each value is known: seen, told or assumed
    libc: str = ""  # glibc 2.28, musl

    @property
    def platform(self) -> str:
        """The name that rows of releases have for it."""
        return f"{'windows' if self.system == 'windows' else 'linux'}-{self.machine}"


class Line(msgspec.Struct, frozen=True):
    """One sentence of the explanation: seen on the machine, told by the user, assumed, or known in general."""

    kind: Literal["saw", "told", "assumed", "know"]
    text: str
    source: Source | None = None


class Choice(msgspec.Struct, frozen=True):
    """One release of the set."""

    package: str  # the distribution: tensorflow-gpu
    version: str
    requirement: str  # tensorflow[and-cuda]==2.20.0
    role: Role
    cuda: str = ""
    cudnn: str = ""
    runs: str = ""  # machine code for sm_80; its PTX for compute_90 …
    asked: bool = False
    backend: str = ""  # cu126: only on PyTorch's own index
    build: bool = False  # has no wheel: is compiled where it is installed
    cured: bool = False  # broken as published, and works with the set's `environment`
    needs_first: tuple[str, ...] = ()  # packages that must be there before it is compiled
    variables: tuple[tuple[str, str], ...] = ()  # to set before it is installed
    lines: tuple[Line, ...] = ()


class Passed(msgspec.Struct, frozen=True):
    """Releases that were passed over for one reason, newest first."""

    package: str
    versions: tuple[str, ...]
    kind: Why
    why: str


class Cap(msgspec.Struct, frozen=True):
    """A limit on another package that a release needs and does not state."""

    requirement: str  # protobuf<3.21
    because: str
    source: Source


class SystemPart(msgspec.Struct, frozen=True):
    """Something outside Python that the set needs."""

    name: Literal["CUDA", "cuDNN", "nvcc", "driver"]
    version: str
    why: str


class Way(msgspec.Struct, frozen=True):
    """One way to install the set."""

    kind: Literal[
        "pip", "uv", "requirements", "constraints", "pyproject", "conda", "docker", "apt", "archive", "windows"
    ]
    title: str
    text: str
    file: str = ""  # the name it is written under by --write
    note: str = ""


class Proposal(msgspec.Struct, frozen=True):
    """A set that works together on the machine."""

    python: str  # 3.12
    pythons: tuple[str, ...]  # every Python that the same set has wheels for
    choices: tuple[Choice, ...]
    libraries: tuple[Choice, ...]  # NVIDIA's wheels
    others: tuple[Wish, ...] = ()  # wishes that gpuwhy knows nothing of: left to the installer
    caps: tuple[Cap, ...] = ()
    system: tuple[SystemPart, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()  # variables to set, with what they cure
    passed: tuple[Passed, ...] = ()
    lines: tuple[Line, ...] = ()
    notes: tuple[str, ...] = ()
    ways: tuple[Way, ...] = ()
    unsure: tuple[str, ...] = ()  # what nobody could read of the set: it may work, and is not known to
    removes: tuple[str, ...] = ()  # what others of the set bring, and what owns the files of a chosen release


class Conflict(msgspec.Struct, frozen=True):
    """Why nothing works: the smallest set of demands that cannot be met together, and what comes nearest."""

    text: str
    lines: tuple[Line, ...]
    passed: tuple[Passed, ...] = ()
    gives_up: str = ""  # what the nearest proposal changes
    nearest: Proposal | None = None
    migration: tuple[str, ...] = ()  # what changes in the code


class Plan(msgspec.Struct, Rich, frozen=True):
    """The answer: exactly one of `proposal` and `conflict`."""

    wishes: tuple[Wish, ...]
    machine: Machine
    proposal: Proposal | None = None
    conflict: Conflict | None = None
