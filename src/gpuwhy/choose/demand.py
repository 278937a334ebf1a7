"""Demand: which packages somebody wants, and the machine that they have to work on."""

from functools import lru_cache
from typing import Literal

import msgspec
from packaging.specifiers import SpecifierSet
from packaging.version import Version

System = Literal["linux", "windows", "wsl"]

PYTHONS = ("3.12", "3.13", "3.11", "3.10", "3.14", "3.9", "3.8", "3.7", "3.6", "3.5", "3.15")
"""In the order they are tried where none is asked for: those with most wheels of others first."""


class Wanted(msgspec.Struct, frozen=True):
    """One package that is wanted, or limited: a requirement, read."""

    name: str  # normalised: flash-attn
    specifier: str = ""  # ">=2.4,<3"; "" = any
    extras: tuple[str, ...] = ()
    marker: str = ""
    url: str = ""  # a direct reference, a path or an editable folder: installed as it is
    where: str = ""  # requirements.txt:12; "" = the command line
    constraint: bool = False  # limits a package, does not ask for it
    text: str = ""  # as it was written, without hashes
    build: str = ""  # cu124: the label of a build, or the index of PyTorch's that the file names


class Card(msgspec.Struct, frozen=True):
    """A GPU to choose for."""

    name: str  # GeForce RTX 4090
    capability: str  # 8.9

    @property
    def sm(self) -> str:
        """How compilers call it: sm_89."""
        return "sm_" + self.capability.replace(".", "")

    def __str__(self) -> str:
        return f"{self.name} ({self.sm})"


class Demand(msgspec.Struct, frozen=True):
    """What is wanted and where; "" and () are not known, and then not checked."""

    packages: tuple[Wanted, ...]
    system: System = "linux"
    arch: str = "x86_64"
    python: str = ""  # 3.11
    python_fixed: bool = True  # False: it is the one that is there, another would do
    driver_version: str = ""  # 535, or 535.183.01
    gpus: tuple[Card, ...] = ()
    glibc: str = ""  # 2.31, or musl
    manager: str = ""  # pip, uv, conda: how it will be installed
    installed: dict[str, str] = {}
    keep_installed: bool = False  # prefer the installed releases
    keep: tuple[str, ...] = ()  # what the nearest change must not touch: driver, python

    @property
    def platform(self) -> str:
        """The platform of the rows: linux-x86_64."""
        return f"{'windows' if self.system == 'windows' else 'linux'}-{self.arch}"

    @property
    def pythons(self) -> tuple[str, ...]:
        """The Pythons to try, best first: beside one that is there, the nearest to it."""
        if not self.python:
            return PYTHONS
        if self.python_fixed:
            return (self.python,)
        own = int(self.python.rstrip("t").split(".")[1])
        near = sorted(PYTHONS, key=lambda one: abs(int(one.split(".")[1]) - own))
        return tuple(dict.fromkeys((self.python, *near)))


@lru_cache(maxsize=8192)
def parsed(version: str) -> Version:
    """A version for comparing; what is no version is older than all."""
    try:
        return Version(version)
    except ValueError:  # no version, or thousands of digits
        return Version("0")


@lru_cache(maxsize=2048)
def specifier(text: str) -> SpecifierSet:
    """A specifier, parsed once; what is none lets everything in."""
    try:
        return SpecifierSet(text)
    except ValueError:
        return SpecifierSet()


@lru_cache(maxsize=1 << 16)
def allows(spec: str, version: str) -> bool:
    """Whether a specifier lets a version in, previews included."""
    return not spec or specifier(spec).contains(parsed(version), prereleases=True)
