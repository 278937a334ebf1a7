"""Choice: what was chosen for a demand, what was not and why, and the nearest change that helps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from gpuwhy.choose.demand import Demand, Wanted
from gpuwhy.choose.names import planned_as
from gpuwhy.facts.fact import Source

Role = Literal["framework", "companion", "library", "other"]
OfMachine = Literal["cpu", "driver", "gpu", "libc", "library", "platform", "python"]
OfRelease = Literal["broken", "gone", "pin", "preview", "set", "unknown", "version", "yanked"]
Kind = Literal[OfMachine, OfRelease]
Part = Literal["python", "driver", "release", "name", "system", "glibc", "gpu"]


class Judged(msgspec.Struct, frozen=True):
    """Why a release cannot be chosen; `kind` is None where it can."""

    kind: Kind | None = None
    why: str = ""
    doubt: str = ""  # it may be chosen, and this is not known

    @property
    def fits(self) -> Literal["yes", "no", "unknown"]:
        """In a word."""
        return "no" if self.kind else "unknown" if self.doubt else "yes"


FITS = Judged()


def worst(found: Iterable[Judged | None]) -> Judged:
    """The first reason against a release, else the first doubt."""
    doubt = FITS
    for one in filter(None, found):
        if one.kind:
            return one
        doubt = doubt if doubt.doubt else one
    return doubt


class Pick(msgspec.Struct, frozen=True):
    """A release that was chosen."""

    package: str  # tensorflow-gpu
    version: str
    requirement: str  # tensorflow[and-cuda]==2.20.0
    role: Role
    asked: bool = False  # somebody named it; else another one needs it
    file: str = ""  # a wheel of it
    backend: str = ""  # cu126: it is on PyTorch's own index; "" = the package index
    cuda: str = ""  # built for
    cudnn: str = ""
    driver: str = ""  # the oldest driver that runs it
    runs: str = ""  # by which of its code it runs on the GPU (the first of several)
    pythons: tuple[str, ...] = ()
    glibc: str = ""  # the oldest that its wheels need
    system: bool = False  # opens the system's CUDA: it brings none
    build: bool = False  # compiled where it is installed
    sdist: bool = False  # it has no wheel
    needs_first: tuple[str, ...] = ()  # what must be installed before it is compiled
    variables: tuple[tuple[str, str], ...] = ()  # to set before it is installed
    cured: bool = False  # broken as published; works with a variable
    doubt: str = ""  # what is not known of it
    notes: tuple[str, ...] = ()
    source: Source | None = None  # where its CUDA was read
    code_source: Source | None = None  # where its GPU code was read


class Bound(msgspec.Struct, frozen=True):
    """A limit on another package that a release needs and does not state."""

    requirement: str
    because: str
    source: Source


class Needed(msgspec.Struct, frozen=True):
    """Something outside Python that the set needs."""

    name: Literal["CUDA", "cuDNN", "driver", "nvcc"]
    version: str
    why: str


class Passed(msgspec.Struct, frozen=True):
    """Releases that were passed over for one reason, newest first."""

    package: str
    versions: tuple[str, ...]
    kind: Kind
    why: str

    @property
    def span(self) -> str:
        """2.11.0 … 2.14.1."""
        oldest = f"{self.versions[-1]} … " if len(self.versions) > 1 else ""
        return f"{oldest}{self.versions[0]}"


class Change(msgspec.Struct, frozen=True):
    """The smallest change after which something works."""

    parts: tuple[Part, ...]
    text: str  # Python 3.11 instead of 3.14
    to: Choice


class Choice(msgspec.Struct, frozen=True):
    """The answer to a demand."""

    demand: Demand
    unplanned: tuple[str, ...] = ()  # named packages that no table knows: the installer chooses
    python: str = ""  # the Python to install into
    pythons: tuple[str, ...] = ()  # those that would do
    picks: tuple[Pick, ...] = ()  # frameworks and companions, also those that nobody named
    libraries: tuple[Pick, ...] = ()  # NVIDIA's wheels; `asked` where the installer must be held
    bounds: tuple[Bound, ...] = ()
    needs: tuple[Needed, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    passed: tuple[Passed, ...] = ()
    others: tuple[Wanted, ...] = ()  # left to the installer
    removes: tuple[str, ...] = ()  # brought by something of the set, and owns the same files
    notes: tuple[str, ...] = ()
    why_not: str = ""  # why nothing fits
    nearest: Change | None = None
    migration: tuple[str, ...] = ()  # what changes in a program with the nearest releases
    beside: tuple[tuple[str, Source], ...] = ()  # builds that are published elsewhere

    @property
    def fits(self) -> bool:
        """Whether there is a set."""
        return not self.why_not

    @property
    def doubts(self) -> tuple[str, ...]:
        """What is not known of the releases that were chosen."""
        return tuple(f"{one.package}: {one.doubt}" for one in self.picks if one.doubt)

    @property
    def certain(self) -> bool:
        """Whether ✓ may stand: a set, every named package planned, and no doubt."""
        chosen = bool(self.picks or self.libraries)
        return self.fits and chosen and not self.unplanned and not self.doubts

    def pick(self, package: str) -> Pick | None:
        """The release that was chosen for a package, or for what takes its place."""
        every, root = (*self.picks, *self.libraries), planned_as(package)
        return next((one for one in every if planned_as(one.package) == root), None)
