"""Inspected: what `gpuwhy inspect` tells of one file, wheel or environment."""

from __future__ import annotations

from typing import Literal

import msgspec

from gpuwhy.model.facts import UnmetSymbol
from gpuwhy.model.rich import Rich

SCHEMA = "gpuwhy.inspect/1"

Kind = Literal["library", "program", "wheel", "environment", "folder"]
Asker = Literal["driver", "cuda", "framework", "glibc", "system"]


class Gpu(msgspec.Struct, frozen=True):
    """GPU code: every architecture seen, and those that most of the code is compiled for."""

    sass: tuple[str, ...] = ()
    ptx: tuple[str, ...] = ()
    usual_sass: tuple[str, ...] = ()
    usual_ptx: tuple[str, ...] = ()


class Lost(msgspec.Struct, frozen=True):
    """A copy that would be loaded if those before it were not there."""

    path: str
    via: str
    version: str | None


class Library(msgspec.Struct, frozen=True):
    """One library of the load tree."""

    name: str
    path: str
    via: str
    version: str | None
    needed_by: str
    lost: tuple[Lost, ...] = ()
    closed: bool = False  # a dlopen brought it, and failed, because something it needs is missing


class Searched(msgspec.Struct, frozen=True):
    """One place where the loader looks for a library that it does not find."""

    where: str
    why: str
    outcome: str


class Missing(msgspec.Struct, frozen=True):
    """A library that is needed and not found, with the search in order."""

    name: str
    needed_by: str
    why: str  # "not found", or what is wrong with the file that stops the search
    searched: tuple[Searched, ...]
    elsewhere: tuple[str, ...] = ()  # copies that lie where the loader does not look
    refused: bool = False  # a file of that name is there, and the loader does not take it


class UnmetVersion(msgspec.Struct, frozen=True):
    """A symbol version that a file needs and the library loaded for it does not define: the loader refuses it."""

    asker: str
    provider: str
    version: str


class Tree(msgspec.Struct, frozen=True):
    """What would be loaded, in load order, and what stands against it."""

    libraries: tuple[Library, ...] = ()
    missing: tuple[Missing, ...] = ()
    unmet: tuple[UnmetSymbol, ...] = ()
    unmet_versions: tuple[UnmetVersion, ...] = ()
    unsure: tuple[str, ...] = ()  # libraries that could lie on Windows' PATH alone, where that is not known

    @property
    def sound(self) -> bool:
        """Whether everything needed is found and fits."""
        return not (self.missing or self.unmet or self.unmet_versions)


class VersionsNeeded(msgspec.Struct, frozen=True):
    """The symbol versions asked of one library."""

    library: str
    versions: tuple[str, ...]


class Header(msgspec.Struct, frozen=True):
    """What a file says of itself; of a Windows file, what it has no word for is empty."""

    machine: str
    bits: int
    soname: str
    rpath: str
    runpath: str
    interpreter: str
    build_id: str
    version: str | None  # of a CUDA library; of a Windows file, by its version resource too
    glibc: str | None  # the oldest that offers every symbol version asked for
    versions: tuple[VersionsNeeded, ...]
    delayed: tuple[str, ...] = ()  # of a Windows file: libraries that are loaded when first called


class Part(msgspec.Struct, frozen=True):
    """One library of a wheel or folder."""

    name: str
    size: int
    needed: tuple[str, ...]
    version: str | None
    glibc: str | None
    gpu: Gpu


class Asked(msgspec.Struct, frozen=True):
    """A library that a bundle needs and does not hold; `found` is the file this machine would give it."""

    name: str
    kind: Asker
    needed_by: tuple[str, ...]
    found: str | None


class Bundle(msgspec.Struct, frozen=True):
    """Many libraries together: a wheel, or a folder."""

    name: str
    version: str
    tags: tuple[str, ...]
    requires: tuple[str, ...]  # the nvidia-* and framework packages it brings along
    members: int
    parts: tuple[Part, ...]
    asks: tuple[Asked, ...]
    glibc: str | None
    glibc_by: str  # the library that sets it
    promised: str | None  # the glibc that the wheel's tag says is enough
    here: str | None  # the glibc of this machine, where the bundle is for it
    problems: tuple[str, ...]

    @property
    def sound(self) -> bool:
        """Whether it could be read, and this machine's glibc is new enough for it."""
        return not self.problems and not newer(self.glibc, self.here)


def newer(needed: str | None, offered: str | None) -> bool:
    """Whether a version is needed that is newer than the one offered; not where either is unknown."""
    if not needed or not offered:
        return False
    left, right = (tuple(map(int, text.split("."))) for text in (needed, offered))
    return left > right


class FrameworkTree(msgspec.Struct, frozen=True):
    """What the process of one framework would load."""

    name: str
    title: str
    version: str
    gpu: Gpu
    tree: Tree


class Listed(msgspec.Struct, frozen=True):
    """One library as the system's own loader lists it."""

    name: str
    path: str | None  # None: it does not find it


class Probed(msgspec.Struct, frozen=True):
    """What the system's own loader does with a file, and where that is not what was predicted."""

    loader: str = ""
    libraries: tuple[Listed, ...] = ()
    differences: tuple[str, ...] = ()
    said: str = ""  # its complaints
    skipped: str = ""  # why it was not asked


class MayOpen(msgspec.Struct, frozen=True):
    """A CUDA library whose name stands in a file that does not need it: it may be opened while the program runs."""

    name: str
    path: str = ""  # what the loader would find; "" where nothing


class Inspected(msgspec.Struct, Rich, frozen=True):
    """The whole answer."""

    path: str
    kind: Kind
    needed: tuple[str, ...] = ()
    gpu: Gpu = Gpu()
    tree: Tree = Tree()
    header: Header | None = None
    bundle: Bundle | None = None
    frameworks: tuple[FrameworkTree, ...] = ()
    variables: tuple[str, ...] = ()  # "LD_LIBRARY_PATH=…": what the search took from the environment
    notes: tuple[str, ...] = ()
    probe: Probed | None = None  # --probe
    opens: tuple[MayOpen, ...] = ()  # by name, while it runs
    searched: bool = True  # False: a Windows file where no Windows is; what it would get was not looked for

    @property
    def sound(self) -> bool:
        """Whether nothing is missing or unmet, and the loader, where it was asked, does as predicted."""
        predicted = self.probe is None or not self.probe.differences
        return predicted and self.tree.sound and (self.bundle is None or self.bundle.sound)
