"""Inspected: what `gpuwhy inspect` finds out about one file, wheel, folder or environment."""

from typing import Any, Literal

import msgspec

from gpuwhy.facts.loads import UnmetSymbol
from gpuwhy.loader.symbols import UnmetVersion

SCHEMA = "gpuwhy.inspect/1"

Kind = Literal["library", "program", "wheel", "environment"]
Bringer = Literal["driver", "cuda", "framework", "system", "glibc"]
"""Who is expected to bring a library that a bundle does not hold."""


class Gpu(msgspec.Struct, frozen=True):
    """GPU code: every architecture seen, and those that most of the code is compiled for."""

    sass: tuple[str, ...] = ()
    ptx: tuple[str, ...] = ()
    usual_sass: tuple[str, ...] = ()
    usual_ptx: tuple[str, ...] = ()


class Library(msgspec.Struct, frozen=True):
    """One library of the load tree."""

    name: str
    path: str
    via: str
    version: str | None
    needed_by: str
    lost: tuple[str, ...] = ()  # other copies, until 0.1
    closed: bool = False  # a dlopen brought it and failed: something that it needs is missing


class Searched(msgspec.Struct, frozen=True):
    """One place where the loader looks for a library that it does not find."""

    where: str
    why: str
    outcome: str


class Missing(msgspec.Struct, frozen=True):
    """A library that is needed and not found, with the search in order."""

    name: str
    needed_by: str
    searched: tuple[Searched, ...]
    reason: str  # "not there", or what is wrong with the file that stops the search
    elsewhere: tuple[str, ...] = ()  # copies that lie where the loader does not look
    refused: bool = False  # a file of that name is there, and the loader does not take it


class Tree(msgspec.Struct, frozen=True):
    """What would be loaded, in load order, and what stands against it."""

    libraries: tuple[Library, ...] = ()
    missing: tuple[Missing, ...] = ()
    unmet: tuple[UnmetSymbol, ...] = ()
    unmet_versions: tuple[UnmetVersion, ...] = ()
    unsure: tuple[str, ...] = ()  # may lie on Windows' PATH alone, where that is not known

    @property
    def sound(self) -> bool:
        """Whether everything needed is found and fits."""
        return not (self.missing or self.unmet or self.unmet_versions)


class Header(msgspec.Struct, frozen=True):
    """What a file states of itself; what a Windows file has no word for is empty."""

    machine: str
    bits: int
    soname: str = ""
    rpath: str = ""
    runpath: str = ""
    interpreter: str = ""
    build_id: str = ""
    version: str | None = None  # of a CUDA library; of a Windows file, by its resource too
    glibc: str | None = None  # the oldest that offers every symbol version asked for
    versions: dict[str, tuple[str, ...]] = {}  # library → symbol versions asked of it
    delayed: tuple[str, ...] = ()  # of a Windows file: libraries that are loaded when first called


class Part(msgspec.Struct, frozen=True):
    """One library of a wheel."""

    name: str
    size: int
    needed: tuple[str, ...]
    version: str | None
    glibc: str | None
    gpu: Gpu


class Asked(msgspec.Struct, frozen=True):
    """A library that a wheel needs and does not hold."""

    name: str
    kind: Bringer
    needed_by: tuple[str, ...]
    found: str | None = None  # the file that this machine would give it, until 0.1


class Bundle(msgspec.Struct, frozen=True):
    """The libraries of a wheel together."""

    name: str
    version: str
    tags: tuple[str, ...]
    requires: tuple[str, ...]  # the NVIDIA and framework packages that it requires
    members: int
    parts: tuple[Part, ...]
    asks: tuple[Asked, ...]
    glibc: str | None
    glibc_by: str  # the library that sets it
    problems: tuple[str, ...]
    promised: str | None = None  # the glibc of its tag, and of this machine: until 0.1
    here: str | None = None


class FrameworkTree(msgspec.Struct, frozen=True):
    """What the process of one framework would load."""

    name: str
    title: str
    version: str
    gpu: Gpu
    tree: Tree


class MayOpen(msgspec.Struct, frozen=True):
    """A CUDA library that a file names and does not need: it may open it while it runs."""

    name: str
    path: str = ""  # what the loader would find; "" = nothing


class Inspected(msgspec.Struct, frozen=True):
    """The whole answer."""

    path: str
    kind: Kind
    needed: tuple[str, ...] = ()
    gpu: Gpu = Gpu()
    tree: Tree = Tree()
    header: Header | None = None
    bundle: Bundle | None = None
    frameworks: tuple[FrameworkTree, ...] = ()
    variables: dict[str, str] = {}  # what the search took from the environment
    notes: tuple[str, ...] = ()
    opens: tuple[MayOpen, ...] = ()
    searched: bool = True  # False: a Windows file where no Windows is; nothing was searched for

    @property
    def sound(self) -> bool:
        """Whether nothing is missing or unmet."""
        return self.tree.sound and not (self.bundle and self.bundle.problems)


def values(found: Inspected) -> dict[str, Any]:
    """The contract `gpuwhy.inspect/1` (docs/inspect.schema.json): fields are only added."""
    plain = msgspec.to_builtins(found)
    out = {"schema": SCHEMA, **plain, **plain.pop("tree"), **(plain.pop("header") or {})}
    out["frameworks"] = [{**one, **one.pop("tree")} for one in plain["frameworks"]]
    del out["tree"], out["header"]
    empty = [name for name in ("bundle", "delayed", "opens", "unsure") if not out.get(name)]
    empty += ["searched"] if found.searched else []
    empty += ["frameworks"] if found.kind != "environment" else []
    return {name: value for name, value in out.items() if name not in empty}
