"""The copies of the CUDA libraries that the native stages test: those a framework would load."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gpuwhy.facts.fact import Known, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.libraries import LibraryCopy
from gpuwhy.facts.loads import LoadTree
from gpuwhy.facts.version import numbers

ALONE = ("nvrtc", "nccl")
_SYSTEM = ("ld.so.cache", "LD_LIBRARY_PATH", "PATH", "toolkit")
_NAME = re.compile(
    r"(?:lib)?(cudart|cublas|cublasLt|cudnn|nvrtc|nccl)(?:\.so\.\d+|64_[\d_]+\.dll)$"
)
_DEPENDENCY = re.compile(
    r"(lib)?(cudart|cublas|cublasLt|nvrtc|nvrtc-builtins|nvJitLink|z(libwapi)?)(\.so|(64)?_|\.dll)"
)


class Stack(NamedTuple):
    """One set of CUDA libraries: a file per family, and what is opened before, in order."""

    libraries: Mapping[str, str] = {}
    preload: tuple[str, ...] = ()


def stack(facts: Facts) -> Stack:
    """Those of the framework that uses most; without one, the newest that the loader knows."""
    trees = value_or(facts.loads.trees, ())
    found = [_of_tree(tree, facts) for tree in trees]
    if found:
        return max(found, key=lambda one: len(one.libraries))
    return _of_system(value_or(facts.libraries.copies, ()))


def _of_tree(tree: LoadTree, facts: Facts) -> Stack:
    own = _families((one.name, one.path) for one in tree.libraries)
    return Stack(
        {**_beside(own, facts), **own},
        tuple(one.path for one in tree.libraries if _DEPENDENCY.match(one.name)),
    )


def _beside(own: Mapping[str, str], facts: Facts) -> dict[str, str]:
    """Libraries of the same wheels that a framework opens later or never; they stand alone."""
    if not own:
        return {}
    copies = [one for one in value_or(facts.libraries.copies, ()) if one.where == "wheel"]
    found = _families((one.name, one.path) for one in copies)
    return {name: path for name, path in found.items() if name in ALONE}


def _of_system(copies: tuple[LibraryCopy, ...]) -> Stack:
    found = [one for one in copies if one.where in _SYSTEM and isinstance(one.version, Known)]
    found.sort(key=lambda one: numbers(value_or(one.version, "0")), reverse=True)
    return Stack(_families((one.name, one.path) for one in found))


def _families(named: Iterable[tuple[str, str]]) -> dict[str, str]:
    out: dict[str, str] = {}
    for name, path in named:
        if match := _NAME.match(name):
            out.setdefault(match.group(1), path)
    return out
