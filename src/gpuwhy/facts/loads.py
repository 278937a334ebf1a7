"""What the dynamic loader would pick."""

from enum import Enum
from typing import Literal

from gpuwhy.facts.fact import NOT_OBSERVED, Fact, Owner, Record
from gpuwhy.facts.libraries import Flaw


class Rule(Enum):
    """By which rule a loader comes to a file."""

    RPATH = "RPATH"
    RUNPATH = "RUNPATH"
    PRELOADED = "preloaded"  # by a program that loads it before it is asked for
    LD_PRELOAD = "LD_PRELOAD"
    LD_LIBRARY_PATH = "LD_LIBRARY_PATH"
    CACHE = "ld.so.cache"
    DEFAULT = "default folder"
    GIVEN = "path given"
    OFF_PATH = "not on the search path"
    CONTAINER = "container runtime"  # a library of the host's driver, brought into the container
    ASSUMED = "assumed driver"  # of a machine that was described with --gpu or --driver
    PROGRAM = "folder of the program"  # from here on: the DLL search of Windows
    LIBRARY = "folder of the library"
    CURRENT = "current folder"
    SYSTEM32 = "System32"
    SYSTEM = "System"
    WINDOWS = "Windows folder"
    PATH = "PATH"
    OTHER = ""  # whatever else a program names


class Found(Record, frozen=True, omit_defaults=True):
    """How a file was found: by which rule, and of which file where the rule is one of a file."""

    rule: Rule
    of: str = ""  # RPATH, RUNPATH: the file that has the tag; PRELOADED: the program; OTHER: words

    def __str__(self) -> str:
        joint = " by " if self.rule is Rule.PRELOADED else " of " if self.rule.value else ""
        return f"{self.rule.value}{joint}{self.of}" if self.of else self.rule.value


class Fate(Enum):
    """What becomes of a library that a framework opens."""

    FOUND = "found"
    MISSING = "missing"  # no copy on this machine
    NOT_SEARCHED = "installed, and not searched"  # in the framework's own environment
    OFF_PATH = "on this machine, off the search path"
    OTHER_VERSION = "only in another version"
    BROKEN = "broken"  # the search ends at a file that the loader does not take
    UNKNOWN = "unknown"


class Outcome(Enum):
    """What a loader does with one file of its search."""

    FOUND = "found"
    NOT_THERE = "not there"
    SKIPPED = "skipped"  # the search goes on
    ENDS_LIST = "ends this list"  # it goes on after the folders of the same tag or variable
    STOPS = "stops the search"


class DriverLibrary(Record, frozen=True, omit_defaults=True):
    """One copy of libcuda or libnvidia-ml that the loader could pick up; tuples of them are in the
    loader's order.
    """

    name: str  # libcuda.so.1
    path: str  # as the loader would open it
    real: str  # after following links
    found: Found
    kind: Literal["driver", "stub", "compat", "wsl"]
    version: Fact[str]  # driver_version of this file: 580.159.04
    health: Fact[Flaw]
    broken: bool = False  # the loader takes it, or stops at it, and it is not whole
    yields: bool = False  # a driver's own copy, once it is there, is found before it
    outranks: bool = False  # an image's copy, newer than the host's that comes beside it

    @property
    def on_path(self) -> bool:
        """Whether the loader finds it by itself."""
        return self.found.rule is not Rule.OFF_PATH


class NeededLibrary(Record, frozen=True, omit_defaults=True):
    """A library that a framework opens, and what the loader would find."""

    framework: str  # Framework.name
    name: str  # libcudnn.so.9
    optional: bool
    needed_by: str  # file that asks for it
    fate: Fate
    path: Fact[str]  # Absent = the loader finds none
    found: Found | None = None
    searched: tuple[str, ...] = ()  # folders in order
    elsewhere: tuple[str, ...] = ()  # copies of that name outside the search
    other_versions: tuple[str, ...] = ()  # copies of the same library with another SONAME
    refused: str = ""  # the file at which the search ends
    not_cached: str = ""  # a folder that ld.so.conf names and holds it, missing in the cache


class LoadedLibrary(Record, frozen=True):
    """One library of a load tree: the file, how it was found, and who asked first."""

    name: str
    path: str
    found: Found
    needed_by: str
    version: Fact[str]
    owner: Fact[Owner]


class MissingLibrary(Record, frozen=True, omit_defaults=True):
    """A library that the loader does not find, with the search in order."""

    name: str
    needed_by: str
    searched: tuple[str, ...] = ()
    outcome: Outcome = Outcome.NOT_THERE  # what becomes of a file that is there and not taken
    refused: str = ""  # its path
    flaw: Flaw = Flaw.NONE  # what is wrong with it
    not_cached: str = ""  # a folder that ld.so.conf names and holds it, missing in the cache


class UnmetSymbol(Record, frozen=True):
    """Symbols that a loaded library needs and that the copy loaded for it does not define."""

    library: str  # path of the library that asks
    provider: str  # path of the copy that should define them
    symbols: tuple[str, ...]  # the first few
    count: int


class OldRuntime(Record, frozen=True):
    """A C or C++ library that is older than a framework's own file needs."""

    name: str  # libstdc++.so.6
    path: str  # the copy that is loaded
    found: Found
    needed_by: str
    version: str  # GLIBCXX_3.4.29: what it lacks


class LoadTree(Record, frozen=True, omit_defaults=True):
    """What a framework's process would load, in order: CUDA libraries and its own."""

    framework: str
    libraries: tuple[LoadedLibrary, ...]
    missing: tuple[MissingLibrary, ...] = ()
    unmet: tuple[UnmetSymbol, ...] = ()
    old: tuple[OldRuntime, ...] = ()


class Extension(Record, frozen=True):
    """A compiled library built against a framework, and the symbols that this one lacks."""

    owner: Owner
    path: str
    symbols: tuple[str, ...]  # the first few
    count: int
    wants: Fact[str] = NOT_OBSERVED  # the release that its metadata asks for: "==2.2.0"


class Loads(Record, frozen=True):
    """What the dynamic loader would pick: filled by loader/, after the rest was observed."""

    libcuda: Fact[tuple[DriverLibrary, ...]] = NOT_OBSERVED  # first = wins, if it is on the path
    libnvml: Fact[tuple[DriverLibrary, ...]] = NOT_OBSERVED
    trees: Fact[tuple[LoadTree, ...]] = NOT_OBSERVED  # one per framework that opens CUDA libraries
    needs: Fact[tuple[NeededLibrary, ...]] = NOT_OBSERVED  # of every framework
    extensions: Fact[tuple[Extension, ...]] = NOT_OBSERVED
