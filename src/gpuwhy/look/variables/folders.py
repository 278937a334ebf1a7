"""What is wrong with folders that a variable names; evidence for a search that finds nothing."""

from __future__ import annotations

import re

from gpuwhy.facts.fact import Absent, Known, value_or
from gpuwhy.facts.variables import PathProblem, Problem
from gpuwhy.knowledge.variables import CONTAINER_FOLDERS
from gpuwhy.look.files import exists
from gpuwhy.look.windows_paths import expanded, is_whole, tidy
from gpuwhy.machine.machine import Machine

_CUDA_FOLDER = r"(?i)cuda|cudnn|nvidia|tensorrt|nvcc"
_UNREPLACED = r"~|.*(\$\{?(?!(USER|ORIGIN|LIB|PLATFORM)\b)[A-Za-z_]\w*\}?|\$\(|%[A-Z_]+%)"
_UNREPLACED_WINDOWS = r"(?i)%[^%;]+%|\$env:\w+|\$\{?\w+"
_MOST = 200

Problems = tuple[Problem, ...]


def library_path(machine: Machine, value: str) -> Problems:
    """LD_LIBRARY_PATH, where the loader takes ':' and ';' as separators."""
    folders = dict.fromkeys(one.rstrip("/") or "/" for one in re.split("[:;]", value) if one)
    return tuple(p for one in list(folders)[:_MOST] for p in _searched(machine, one))


def _searched(machine: Machine, folder: str) -> Problems:
    if folder in CONTAINER_FOLDERS or re.search(r"\$\{?(ORIGIN|LIB|PLATFORM)\b", folder):
        return ()
    wrong = _one_folder(machine, folder)
    if wrong and ",/" in folder:
        return (Problem(PathProblem.WRONG_SEPARATOR, folder),)
    if wrong or folder.endswith("/stubs"):
        return wrong or (Problem(PathProblem.STUBS, folder),)
    top = re.search(_CUDA_FOLDER, folder.rpartition("/")[2]) and exists(machine, f"{folder}/lib64")
    return (Problem(PathProblem.TOP_FOLDER, folder),) if top else ()


def toolkit_folder(machine: Machine, value: str) -> Problems:
    """A variable that must name a toolkit with its compiler."""
    root = tidy(value)
    wrong = _one_folder(machine, value)
    programs = [machine.stat(f"{root}/bin/{name}") for name in ("nvcc", "nvcc.exe")]
    if wrong or any(not isinstance(one, Absent) for one in programs):
        return wrong
    return (Problem(PathProblem.NO_COMPILER, root),)


def _one_folder(machine: Machine, value: str) -> Problems:
    """A value that must be one folder, as it is written and where it leads."""
    folder, drive = tidy(value), is_whole(value.replace("\\", "/"))
    if not value.strip():
        return (Problem(PathProblem.EMPTY),)
    if '"' in value:
        return (Problem(PathProblem.QUOTED, value),)
    if re.match(_UNREPLACED, value):
        return (Problem(PathProblem.NOT_EXPANDED, value),)
    if not folder.startswith("/") and not drive:
        return (Problem(PathProblem.RELATIVE, value),)
    found = machine.stat(folder)
    if isinstance(found, Absent):
        link = value_or(machine.link(folder), "")
        kind = PathProblem.DANGLING if link else PathProblem.NOT_THERE
        return (Problem(kind, folder),)
    if isinstance(found, Known) and found.value.kind != "folder":
        return (Problem(PathProblem.NO_FOLDER, folder),)
    return ()


def command_path(machine: Machine, value: str, windows: bool) -> tuple[str, Problems]:
    """PATH cut down to its CUDA entries, the others are nobody's business; on Windows, where
    libraries are searched along it, what is wrong with them.
    """
    tie = ";" if windows else ":"
    entries = dict.fromkeys(one for one in value.split(tie) if re.search(_CUDA_FOLDER, one))
    if not windows:
        return tie.join(one.rstrip("/") for one in entries), ()
    found = [problem for one in list(entries)[:_MOST] for problem in _on_path(machine, one)]
    return tie.join(tidy(expanded(machine, one)) for one in entries), tuple(found)


def _on_path(machine: Machine, entry: str) -> Problems:
    folder = tidy(entry)
    if '"' not in entry and re.search(_UNREPLACED_WINDOWS, entry):
        return (Problem(PathProblem.NOT_EXPANDED, entry.strip()),)
    if wrong := _one_folder(machine, entry):
        return wrong
    if re.search(r"(?i)/cuda/v?\d[\d.]*$", folder):
        return (Problem(PathProblem.TOP_FOLDER, folder),)
    library = re.search(r"(?i)cud(a|nn).*/lib(/x64)?$", folder)
    return (Problem(PathProblem.LIBRARIES, folder),) if library else ()
