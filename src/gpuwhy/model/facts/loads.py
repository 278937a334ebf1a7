"""What the dynamic loader would pick."""

from __future__ import annotations

from enum import Enum
from typing import Literal, NamedTuple

from gpuwhy.model.fact import NOT_OBSERVED, Fact
from gpuwhy.model.facts.record import Record


class Fate(Enum):
    """What a loader does with one file; the value is the word for people."""

    FOUND = "found"
    NOT_THERE = "not there"
    SKIPPED = "skipped"  # the search goes on
    ENDS_LIST = "ends this list"  # it goes on after the folders of the same tag or variable
    STOPS = "stops the search"


class Rule(Enum):
    """By which rule a loader comes to a file; the value is the word for people."""

    RPATH = "RPATH"
    RUNPATH = "RUNPATH"
    PRELOADED = "preloaded"  # by a program that loads it before it is asked for
    LD_PRELOAD = "LD_PRELOAD"
    LD_LIBRARY_PATH = "LD_LIBRARY_PATH"
    CACHE = "ld.so.cache"
    DEFAULT = "default folder"
    GIVEN = "path given"
    OFF_PATH = "not on the search path"
    BROUGHT = "the container runtime"  # a library of the host's driver, in a container that was started with a GPU
    TOLD = "the driver that was told"  # of a machine that is only told of
    PROGRAM = "folder of the program"  # from here on: the DLL search of Windows
    LIBRARY = "folder of the library"
    CURRENT = "current folder"
    SYSTEM32 = "System32"
    SYSTEM = "System"
    WINDOWS = "Windows folder"
    PATH = "PATH"
    NAMED = ""  # whatever else a program names


class DriverLibrary(Record, frozen=True, omit_defaults=True):
    """One copy of libcuda or libnvidia-ml that the loader could pick up; tuples of them are in the loader's order."""

    name: str  # libcuda.so.1
    path: str  # as the loader would open it
    real: str  # after following links
    found_via: str  # the word of a Rule
    kind: Literal["driver", "stub", "compat", "wsl"]
    version: Fact[str]  # driver_version of this file: 580.159.04
    health: Fact[str]  # "ok", or what is wrong with the file
    broken: bool = False  # the loader takes it, or stops at it, and it is not whole
    yields: bool = False  # a driver's own copy, once it is there, is found before it, or takes its place
    outranks: bool = False  # an image's copy, newer than the host's that comes beside it: ldconfig links to the newer

    @property
    def on_path(self) -> bool:
        """Whether the loader finds it by itself."""
        return self.rule is not Rule.OFF_PATH

    @property
    def rule(self) -> Rule:
        """By which rule it is found."""
        return way(self.found_via).rule


class NeededLibrary(Record, frozen=True, omit_defaults=True):
    """A library that a framework opens, and what the loader would find."""

    framework: str  # Framework.name
    name: str  # libcudnn.so.9
    optional: bool
    needed_by: str  # file that asks for it
    found: Fact[str]  # path; Absent = the loader finds none
    found_via: str  # "RUNPATH of …", "LD_LIBRARY_PATH", "ld.so.cache", "default folder"
    searched: tuple[str, ...]  # folders in order, for the not-found story
    elsewhere: tuple[str, ...]  # copies of that name outside the search
    other_versions: tuple[str, ...]  # copies of the same library with another SONAME
    refused: str = ""  # the file at which the search ends
    unlisted: str = ""  # a folder that holds it and that ld.so.conf names, while the cache does not know of it


def by_rpath(path: str) -> str:
    """How a file was found: by the DT_RPATH of another."""
    return f"{Rule.RPATH.value} of {path}"


def by_runpath(path: str) -> str:
    """By the DT_RUNPATH of another."""
    return f"{Rule.RUNPATH.value} of {path}"


def by_preload(path: str) -> str:
    """By a program that loads it before it is asked for."""
    return f"{Rule.PRELOADED.value} by {path}"


class Via(NamedTuple):
    """How a file was found, taken apart: by which rule, and of which file where the rule is one of a file."""

    rule: Rule
    of: str = ""


_OF_A_FILE = {Rule.RPATH: by_rpath, Rule.RUNPATH: by_runpath, Rule.PRELOADED: by_preload}
_WORDS = {rule.value: rule for rule in Rule}


def way(via: str) -> Via:
    """The one reader of what `by_rpath` and its kin write; any other way is the word of a rule."""
    for rule, made in _OF_A_FILE.items():
        if via.startswith(made("")):
            return Via(rule, via.removeprefix(made("")))
    return Via(_WORDS.get(via, Rule.NAMED))


class LoadedLibrary(Record, frozen=True):
    """One library of a load tree: the file, how it was found, and who asked first."""

    name: str
    path: str
    via: str
    needed_by: str
    version: Fact[str]
    owner: Fact[str]

    @property
    def rule(self) -> Rule:
        """By which rule it is found."""
        return way(self.via).rule


class MissingLibrary(Record, frozen=True, omit_defaults=True):
    """A library that the loader does not find, with the search in order."""

    name: str
    needed_by: str
    why: str  # "not found", or what is wrong with the file that stops the search
    searched: tuple[str, ...]
    fate: Fate = Fate.NOT_THERE  # what becomes of the file that is there and not taken
    refused: str = ""  # its path
    unlisted: str = ""  # a folder that holds it and that ld.so.conf names, while the cache does not know of it


class UnmetSymbol(Record, frozen=True):
    """Symbols that a loaded library needs and that the copy loaded for it does not define."""

    library: str  # path of the library that asks
    provider: str  # path of the copy that should define them
    symbols: tuple[str, ...]  # the first few
    count: int


class OldRuntime(Record, frozen=True):
    """A C or C++ library that is older than a framework's own file needs, so that the import fails."""

    name: str  # libstdc++.so.6
    path: str  # the copy that is loaded
    via: str  # how the loader comes to it
    needed_by: str
    version: str  # GLIBCXX_3.4.29: what it lacks

    @property
    def rule(self) -> Rule:
        """By which rule it is found."""
        return way(self.via).rule


class LoadTree(Record, frozen=True, omit_defaults=True):
    """What a framework's process would load, in order; the CUDA libraries and the framework's own."""

    framework: str
    libraries: tuple[LoadedLibrary, ...]
    missing: tuple[MissingLibrary, ...]
    unmet: tuple[UnmetSymbol, ...]
    old: tuple[OldRuntime, ...] = ()


class Extension(Record, frozen=True):
    """A compiled library built against a framework, and the symbols that the installed framework lacks."""

    distribution: str
    version: str
    path: str
    symbols: tuple[str, ...]  # the first few
    count: int
    wants: Fact[str] = NOT_OBSERVED  # the release of the framework that its metadata asks for: "==2.2.0"


class Loads(Record, frozen=True):
    """What the dynamic loader would pick: filled by loader/, after everything else was observed."""

    libcuda: Fact[tuple[DriverLibrary, ...]] = (
        NOT_OBSERVED  # every copy; first = the one that wins, if it is on the path
    )
    libnvml: Fact[tuple[DriverLibrary, ...]] = NOT_OBSERVED
    trees: Fact[tuple[LoadTree, ...]] = NOT_OBSERVED  # one per framework that opens CUDA libraries
    needs: Fact[tuple[NeededLibrary, ...]] = NOT_OBSERVED  # of every framework
    extensions: Fact[tuple[Extension, ...]] = NOT_OBSERVED
