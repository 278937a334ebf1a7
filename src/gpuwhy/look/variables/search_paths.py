"""What is wrong in PATH, LD_LIBRARY_PATH and variables that name a folder: entry by entry, then in
their order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

from gpuwhy.facts.fact import Absent, Known, value_or
from gpuwhy.facts.variables import PathProblem, Problem
from gpuwhy.facts.version import numbers
from gpuwhy.knowledge.variables import CONTAINER_FOLDERS
from gpuwhy.look.files import exists
from gpuwhy.look.toolkits import toolkit_root, toolkit_version
from gpuwhy.machine.machine import Machine

CUDA_FOLDER = r"(?i)cuda|cudnn|nvidia|tensorrt|nvcc"
_UNREPLACED = r"\$\{?(?!(?:USER|ORIGIN|LIB|PLATFORM)\b)[A-Za-z_]\w*\}?|\$\(|%[A-Z_]+%"
_LOADERS = r"\$\{?(ORIGIN|LIB|PLATFORM)\b"
_DATA_DIR = r"--xla_gpu_cuda_data_dir=(\S*)"
_MOST = 200

Problems = tuple[Problem, ...]


def _not_expanded(value: str) -> bool:
    return value.startswith("~") or re.search(_UNREPLACED, value) is not None


def not_a_folder(machine: Machine, path: str) -> Problems:
    """The problem of a path that is no folder; () when it is one, or when it was not seen."""
    found = machine.stat(path)
    if isinstance(found, Absent):
        link = value_or(machine.link(path.rstrip("/")), "")
        kind = PathProblem.DANGLING if link else PathProblem.NOT_THERE
        return (Problem(kind, path, detail=link),)
    if isinstance(found, Known) and found.value.kind != "folder":
        return (Problem(PathProblem.NO_FOLDER, path),)
    return ()


# ------------------------------------------------------------ Linux


def library_path(machine: Machine, value: str) -> Problems:
    """LD_LIBRARY_PATH, where the loader takes ':' and ';' as separators."""
    elements = re.split("[:;]", value) if value else []
    folders = [_trimmed(one) for one in elements if one]
    found = [Problem(PathProblem.EMPTY_ENTRY)] if "" in elements else []
    for folder in list(dict.fromkeys(folders))[:_MOST]:
        found += _library_folder(machine, folder)
    return (*found, *_repeated(folders), *_older_first(machine, folders))


def _library_folder(machine: Machine, folder: str) -> Problems:
    if folder in CONTAINER_FOLDERS:
        return ()
    if _not_expanded(folder):
        return (Problem(PathProblem.NOT_EXPANDED, folder),)
    if re.search(_LOADERS, folder):
        return ()
    if not folder.startswith("/"):
        return (Problem(PathProblem.RELATIVE, folder),)
    return _separated(folder, not_a_folder(machine, folder)) or _misplaced(machine, folder)


def _separated(folder: str, wrong: Problems) -> Problems:
    """An entry that is no folder because something else than the separator is in it."""
    if wrong and ",/" in folder:
        return (Problem(PathProblem.WRONG_SEPARATOR, folder, detail=","),)
    return wrong


def _misplaced(machine: Machine, folder: str) -> Problems:
    """A folder that exists, but should not be searched for libraries."""
    rows = (
        (r"/stubs$", PathProblem.STUBS),
        (r"cuda.*/compat$", PathProblem.COMPAT),
        (r"/(lib32|i386-linux-gnu)$", PathProblem.NARROW),
    )
    for match, kind in rows:
        if re.search(match, folder):
            return (Problem(kind, folder),)
    cuda = re.search(CUDA_FOLDER, folder)
    if cuda and folder.endswith("/bin"):
        return (Problem(PathProblem.PROGRAMS, folder),)
    name, lib = folder.rpartition("/")[2], f"{folder}/lib64"
    if re.search(CUDA_FOLDER, name) and exists(machine, lib):
        return (Problem(PathProblem.TOP_FOLDER, folder, meant=lib),)
    return ()


def command_path(machine: Machine, value: str) -> tuple[list[str], Problems]:
    """The CUDA entries of PATH and their problems; nothing is told of the other entries."""
    elements = value.split(":") if value else []
    folders = [_trimmed(one) for one in elements if re.search(CUDA_FOLDER, one)]
    found = [Problem(PathProblem.EMPTY_ENTRY)] if "" in elements else []
    for folder in list(dict.fromkeys(folders))[:_MOST]:
        found += _command_folder(machine, folder)
    return folders, (*found, *_repeated(folders), *_older_first(machine, folders))


def _command_folder(machine: Machine, folder: str) -> Problems:
    if folder in CONTAINER_FOLDERS:
        return ()
    if _not_expanded(folder):
        return (Problem(PathProblem.NOT_EXPANDED, folder),)
    wrong = not_a_folder(machine, folder)
    if wrong and ";" in folder:
        return (Problem(PathProblem.WRONG_SEPARATOR, folder, detail=";"),)
    if wrong:
        return _separated(folder, wrong)
    library = re.search(r"/lib(64)?$", folder)
    return (Problem(PathProblem.LIBRARIES, folder),) if library else ()


def _trimmed(element: str) -> str:
    return element.rstrip("/") or "/"


def _repeated(folders: Sequence[str]) -> Iterator[Problem]:
    for folder, count in Counter(folders).items():
        if count > 1:
            yield Problem(PathProblem.REPEATED, folder, detail=str(count))


def _older_first(machine: Machine, folders: Sequence[str]) -> Iterator[Problem]:
    """An older toolkit that is searched before a newer one."""
    roots: dict[str, str] = {}
    for folder in folders:
        root = toolkit_root(folder)
        real = value_or(machine.real(root), "") if root else ""
        if real:
            roots.setdefault(real, folder)
    if len(roots) < 2:
        return
    found = ((toolkit_version(machine, root), folder) for root, folder in roots.items())
    versions = [(one.value, folder) for one, folder in found if isinstance(one, Known)]
    for (earlier, folder), (later, behind) in combinations(versions, 2):
        if numbers(earlier) < numbers(later):
            detail = f"{earlier}, {later}"
            yield Problem(PathProblem.OLDER_FIRST, folder, meant=behind, detail=detail)
            return


def one_folder(machine: Machine, value: str) -> Problems:
    """A variable that must name one folder."""
    if not value:
        return (Problem(PathProblem.EMPTY),)
    if _not_expanded(value):
        return (Problem(PathProblem.NOT_EXPANDED, value),)
    if ":" in value:
        return (Problem(PathProblem.SEVERAL, value),)
    return not_a_folder(machine, value)


def toolkit_folder(machine: Machine, value: str) -> Problems:
    """A variable that must name a toolkit with its compiler."""
    problems = one_folder(machine, value)
    if problems:
        return problems
    root = value.rstrip("/")
    if isinstance(machine.stat(f"{root}/bin/nvcc"), Absent):
        meant = root.removesuffix("/bin") if root.endswith("/bin") else ""
        return (Problem(PathProblem.NO_COMPILER, root, meant=meant),)
    return _other_compiler(machine, root)


def _other_compiler(machine: Machine, root: str) -> Problems:
    """Whether PATH finds the compiler of another CUDA release."""
    folders = value_or(machine.environ(), {}).get("PATH", "").split(":")
    named = (f"{one}/nvcc" for one in folders if one.startswith("/"))
    nvcc = next((one for one in named if exists(machine, one)), "")
    other = value_or(machine.real(nvcc), "").rpartition("/bin/")[0] if nvcc else ""
    if not other or other in ("/usr", value_or(machine.real(root), root)):
        return ()
    ours, theirs = toolkit_version(machine, root), toolkit_version(machine, other)
    if not isinstance(ours, Known) or not isinstance(theirs, Known) or ours.value == theirs.value:
        return ()
    detail = f"{ours.value}, {theirs.value}"
    return (Problem(PathProblem.OTHER_COMPILER, root, meant=nvcc, detail=detail),)


def xla_flags(machine: Machine, value: str) -> Problems:
    """The folder that XLA_FLAGS names for libdevice."""
    found = re.search(_DATA_DIR, value)
    if not found:
        return ()
    folder = found[1].strip("'\"")
    if _not_expanded(folder):
        return (Problem(PathProblem.NOT_EXPANDED, folder),)
    wrong = not_a_folder(machine, folder)
    if not wrong and isinstance(machine.stat(f"{folder}/nvvm/libdevice"), Absent):
        return (Problem(PathProblem.NO_LIBDEVICE, folder),)
    return wrong
