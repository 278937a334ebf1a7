"""What is wrong among the installed packages: damage, conflicts, contradictions, shadows, start."""

from enum import Enum
from typing import Literal

from gpuwhy.facts.fact import NOT_OBSERVED, Fact, Owner, Record


class DamageKind(Enum):
    """What is wrong with an installed file, or with a whole package."""

    MISSING = "missing"
    EMPTY = "empty"
    TRUNCATED = "truncated"  # shorter than its headers say
    DANGLING = "dangling link"
    UNREADABLE = "unreadable"
    NOT_A_LIBRARY = "not a library"  # another format
    NOT_EXECUTABLE = "not executable"
    OTHER_SIZE = "other size"
    OTHER_HASH = "other hash"
    EDITED = "edited"  # can be read, and is not what was installed
    ZEROS = "zeros inside"  # whole pages that were never written
    NOT_LOADABLE = "not loadable"  # a changed library that the loader would refuse
    NOT_COMPILING = "does not compile"
    NOEXEC = "mounted noexec"  # a folder
    OTHER_RELEASE = "files of another release"  # from here on: of the whole package
    WRONG_MACHINE = "built for another processor"
    WRONG_SYSTEM = "built for another system"
    WRONG_PYTHON = "built for another Python"
    HALF_UPGRADED = "an upgrade was broken off"


MISFITS = frozenset({DamageKind.WRONG_MACHINE, DamageKind.WRONG_SYSTEM, DamageKind.WRONG_PYTHON})
"""The package was built for something else than the environment is."""


class Part(Enum):
    """What the damaged file is to its package."""

    LIBRARY = "library"
    FIRST_MODULE = "first module"  # an import of the package reads it first
    MODULE = "module"  # nothing may ask for it
    DATA = "data"
    PROGRAM = "program"  # one that the package starts: ptxas
    FOLDER = "folder"
    PACKAGE = "package"


class Damage(Record, frozen=True, omit_defaults=True):
    """An installed file that is not what its RECORD says, or a package that does not fit."""

    path: str
    kind: DamageKind
    part: Part
    owner: Owner
    expected: str = ""  # the release, platform, hash or folder that was meant
    actual: str = ""  # what there is instead, or the system's own words
    size: int = -1  # bytes now
    recorded_size: int = -1  # bytes as installed
    stack: bool = True  # it belongs to the GPU stack, or something of it asks for it

    @property
    def smaller(self) -> bool:
        """A whole library that is smaller than what was installed: its symbols were stripped."""
        return self.kind is DamageKind.OTHER_SIZE and 0 < self.size < self.recorded_size


class Share(Record, frozen=True):
    """How many of the files in dispute are on disk as one package lists them."""

    owner: Owner
    files: int


class Conflict(Record, frozen=True):
    """Files that two installed packages both claim with other contents."""

    owners: tuple[Owner, ...]
    files: int
    example: str
    module: str  # import name whose files are shared
    winners: Fact[tuple[Share, ...]]  # whose bytes are on disk; the largest share first


class Basis(Enum):
    """How it is known that two installed releases do not work together."""

    STATED = "stated"  # in the metadata
    EXTRA = "extra"  # in the metadata, for an extra
    UNSTATED = "unstated"  # a row of knowledge
    LATE = "late"  # the same, and only some uses fail
    SAME_RELEASE = "same release"  # the two are built together
    NO_WHEEL = "wheel"  # a wheel of NVIDIA's that is asked for and not installed


class Contradiction(Record, frozen=True, omit_defaults=True):
    """An installed release that another installed one cannot work with."""

    by: Owner  # jax
    name: str  # jaxlib; what is installed for it may be a flavour: tensorflow-cpu
    wants: str  # "<=0.4.35,>=0.4.34"
    installed: str  # "0.4.31"; "" = not installed
    basis: Basis
    file: str  # the metadata or the library that tells
    effect: str = ""  # for people, from the row that knows it: "so its import fails"
    source: str = ""  # the knowledge row behind it, where there is one
    stops: bool = False  # `by` cannot be imported, or not be used on a GPU, whatever else is right
    stack: bool = True  # `by` belongs to the GPU stack, or something of it needs it


ShadowVia = Literal["script folder", "working folder", "PYTHONPATH", "user site", "pth", "site"]


class Shadow(Record, frozen=True, omit_defaults=True):
    """A file or folder that Python imports instead of the module that was meant."""

    module: str  # torch
    path: str  # what is imported
    via: ShadowVia
    file: str = ""  # the .pth file that puts the folder on the path
    instead: str = ""  # the folder that holds what was meant; "" = only other Pythons have it
    standard: bool = False  # what was meant is Python's own library
    version: str = ""  # of what is imported, where it is an installed package
    package: str = ""  # its name, where that differs from the one meant: tensorflow-cpu
    meant: str = ""  # the version of what was meant
    other_python: str = ""  # the Python that the folder's packages were installed for
    wanted_by: Owner | None = None  # the installed package that does not allow this release
    wants: str = ""  # the range that it states: "<2"


class StartFile(Record, frozen=True, omit_defaults=True):
    """A file of the environment that Python runs before any program: .pth lines, sitecustomize."""

    path: str
    sets: tuple[tuple[str, str], ...] = ()  # variables of the GPU stack
    blocks: tuple[str, ...] = ()  # modules that it makes impossible to import


class StartProblem(Enum):
    """What keeps the environment's Python from starting, or from finding its packages."""

    OTHER_PYTHON = "another Python than the packages are for"
    NO_CONFIG = "no pyvenv.cfg, so that it does not look at its packages"
    VARIABLE = "a variable"  # PYTHONHOME, a value that Python refuses


class Start(Record, frozen=True, omit_defaults=True):
    """One reason why the environment's Python does not start as it should."""

    problem: StartProblem
    path: str = ""  # the folder or file that it is about
    variable: str = ""
    value: str = ""
    version: str = ""  # the Python that starts
    lost: tuple[str, ...] = ()  # installed frameworks that it does not find


class Installs(Record, frozen=True):
    """What is wrong among the installed packages."""

    damage: Fact[tuple[Damage, ...]] = NOT_OBSERVED
    conflicts: Fact[tuple[Conflict, ...]] = NOT_OBSERVED
    contradictions: Fact[tuple[Contradiction, ...]] = NOT_OBSERVED
    shadows: Fact[tuple[Shadow, ...]] = NOT_OBSERVED
    start_files: Fact[tuple[StartFile, ...]] = NOT_OBSERVED
    start: Fact[tuple[Start, ...]] = NOT_OBSERVED
