"""Names: which packages are chosen together, and which build stands for which name."""

import re
from functools import lru_cache

import msgspec

from gpuwhy.knowledge.guests import is_guest
from gpuwhy.knowledge.releases import projects
from gpuwhy.knowledge.tables import load


class Names(msgspec.Struct, frozen=True):
    """choosing.json: names of packages, and expressions for them."""

    frameworks: dict[str, str]  # each with the names that stand for it
    builds: dict[str, str]  # those published under a name for each CUDA, and these names
    parts: dict[str, tuple[str, ...]]  # what is numbered as they are
    swapped: tuple[tuple[str, str, str], ...]  # a name, what takes its place: what is said
    substitutes: dict[str, dict[str, str]]  # of a system: what does the same as another there
    no_backend: tuple[str, ...]  # they run on a framework and bring none
    numbered_alike: tuple[str, ...]  # numbered after TensorFlow
    bounded: frozenset[str]  # the installer chooses them, within limits that are all known here
    real: frozenset[str]  # they resemble a known name, and are no slip of it
    without_cuda: tuple[str, ...]  # who asks for these uses them on the CPU
    same_files: frozenset[str]  # builds without CUDA that own the files of one with it
    of_torch: tuple[str, ...]  # their GPU code is torch's, and so are their indexes
    newest_python: dict[str, int]  # the last Python 3 with a wheel within a bound
    toolkit_extras: dict[str, str]  # extras of cuda-toolkit that are not called as their wheels
    libraries: str  # NVIDIA's wheels
    maths: str  # those that bring GPU code: the others bring none, or compile where they run
    own_code: str  # whose GPU code is all their own: what others use is torch's
    with_wheels: str  # companions that use wheels of their own CUDA major beside torch's


NAMES = load("choosing.json", Names)
FRAMEWORKS = tuple(NAMES.frameworks)


@lru_cache(maxsize=4096)
def framework(name: str) -> str:
    """The framework that a package name stands for; "" for one that is none."""
    known = NAMES.frameworks.items()
    return next((root for root, names in known if re.fullmatch(names, name)), "")


def planned_as(name: str) -> str:
    """The framework that a name stands for, or the name itself."""
    return framework(name) or name


@lru_cache(maxsize=4096)
def is_library(name: str) -> bool:
    """Whether a package is one of NVIDIA's wheels, which frameworks bring."""
    return bool(re.fullmatch(NAMES.libraries, name)) and not framework(name)


def is_planned(name: str) -> bool:
    """Whether releases of a package are chosen here; all others are left to the installer."""
    guest = is_guest(name) and name not in NAMES.bounded
    return bool(framework(name)) or name in projects() or guest
