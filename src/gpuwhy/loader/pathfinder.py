"""cuda-pathfinder: how NVIDIA's own finder opens a library, on top of the loader's search.

NVIDIA's wheels first (`nvidia/cu13/lib` before `nvidia/cublas/lib`), then conda's prefix; what such
a file needs is looked for in the same way before it. Without one the loader's own search, and last
`CUDA_PATH` or `CUDA_HOME`.
"""

from __future__ import annotations

import re

from gpuwhy.facts.fact import Known, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.libraries import LibraryCopy
from gpuwhy.facts.loads import Found
from gpuwhy.loader.outcome import other
from gpuwhy.loader.process import Loaded, Process

FROM_WHEELS = other("cuda-pathfinder, from NVIDIA's wheels")
_FROM_CONDA = other("cuda-pathfinder, from CONDA_PREFIX")
_FROM_CUDA_PATH = other("cuda-pathfinder, from CUDA_PATH")


def by_pathfinder(process: Process, facts: Facts, name: str) -> Loaded | None:
    """What is loaded where cuda-pathfinder is asked: the newest of a folder."""
    found = process.get(name)
    if found is not None and not process.closed(found):
        return found
    early = _wheel(facts, name) or _below(process, ("CONDA_PREFIX",), name)
    if early:
        return _opened(process, facts, early, FROM_WHEELS if "/nvidia/" in early else _FROM_CONDA)
    gaps = len(process.missing)
    found = process.dlopen(name, None)
    late = _below(process, ("CUDA_PATH", "CUDA_HOME"), name) if found is None else ""
    if not late:
        return found
    del process.missing[gaps:]
    return _opened(process, facts, late, _FROM_CUDA_PATH)


def _opened(process: Process, facts: Facts, path: str, rule: Found) -> Loaded | None:
    """A file by its path, after what it needs of its kind."""
    elf = process.world.machine.elf(path)
    for need in elf.value.needed if isinstance(elf, Known) else ():
        if _wheel(facts, need):
            by_pathfinder(process, facts, need)
    return process.dlopen(path, None, rule)


def _wheel(facts: Facts, name: str) -> str:
    """The file of NVIDIA's wheels that it takes: of CUDA 13 and newer first, then by release."""
    copies = value_or(facts.libraries.copies, ())
    same = [
        one
        for one in copies
        if one.where == "wheel" and _stem(one.name) == _stem(name) and "/nvidia/" in one.path
    ]
    return max(same, key=_rank).path if same else ""


def _rank(copy: LibraryCopy) -> tuple[bool, int]:
    number = re.search(r"\.so\.(\d+)", copy.name)
    return "/nvidia/cu1" in copy.path, int(number[1]) if number else 0


def _stem(name: str) -> str:
    return name.partition(".so")[0]


def _below(process: Process, variables: tuple[str, ...], name: str) -> str:
    """The file of that name below the folder that a variable names."""
    machine = process.world.machine
    environ = value_or(machine.environ(), {})
    roots = [root for one in variables if (root := environ.get(one, ""))]
    paths = [f"{root}/{place}/{name}" for root in roots for place in ("lib64", "lib")]
    return next((path for path in paths if isinstance(machine.stat(path), Known)), "")
