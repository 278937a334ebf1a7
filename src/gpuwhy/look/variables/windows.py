"""PATH and variables that name a folder, on Windows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations

from gpuwhy.facts.fact import Absent, Known, value_or
from gpuwhy.facts.variables import PathProblem, Problem
from gpuwhy.facts.version import numbers
from gpuwhy.look.variables.search_paths import CUDA_FOLDER, Problems, not_a_folder
from gpuwhy.look.windows import environ, tidy
from gpuwhy.machine.machine import Machine

_UNREPLACED = r"(?i)%[^%;]+%|\$env:\w+|\$\{?\w+"
_EDITOR, _PROMPT, LONGEST = 2047, 8191, 32767
"""Characters that the old dialog and `setx` keep at most, that a command line of cmd.exe may have,
and that a variable may have at all.
"""
_APP_PATHS = "HKLM/SOFTWARE/Microsoft/Windows/CurrentVersion/App Paths/python.exe"


def _is_whole(path: str) -> bool:
    return re.match(r"[A-Za-z]:/|//", path) is not None


def expanded(text: str, variables: dict[str, str]) -> str:
    """%NAME% replaced where the variable is known."""
    return re.sub(r"%([^%;]+)%", lambda found: variables.get(found[1].upper(), found[0]), text)


def one_folder(machine: Machine, value: str) -> Problems:
    """A variable that must name one folder."""
    if not value.strip():
        return (Problem(PathProblem.EMPTY),)
    if '"' in value:
        return (Problem(PathProblem.QUOTED, value, meant=tidy(value)),)
    if ";" in value.rstrip("; "):
        return (Problem(PathProblem.SEVERAL, value),)
    folder = tidy(value)
    if not _is_whole(folder):
        return (Problem(PathProblem.RELATIVE, value),)
    return not_a_folder(machine, folder)


def toolkit_folder(machine: Machine, value: str) -> Problems:
    """A variable that must name a toolkit's top folder."""
    problems, root = one_folder(machine, value), tidy(value)
    if not problems and isinstance(machine.stat(f"{root}/bin/nvcc.exe"), Absent):
        meant = root[:-4] if root.lower().endswith("/bin") else ""
        return (Problem(PathProblem.NO_COMPILER, root, meant=meant),)
    return problems


def command_path(machine: Machine, value: str) -> tuple[list[str], Problems]:
    """The CUDA entries of PATH, and what is wrong with them and with its length."""
    known = environ(machine)
    entries = [one for one in value.split(";") if re.search(CUDA_FOLDER, one)]
    folders = list(dict.fromkeys(tidy(expanded(one, known)) for one in entries))
    found = [p for one in dict.fromkeys(entries) for p in _entry(machine, one, known)]
    found += _cut(machine, value)
    found += _length(value)
    found += _older_on_windows(machine, folders)
    found += _app_paths(machine, folders)
    return folders, tuple(found)


def _entry(machine: Machine, entry: str, known: dict[str, str]) -> Iterator[Problem]:
    """The problem of one entry: how it is written, else what it leads to."""
    folder = tidy(entry)
    meant = tidy(expanded(entry.replace('"', "").strip(), known))
    if '"' in entry:
        yield Problem(PathProblem.QUOTED, entry.strip(), meant=meant)
    elif re.search(_UNREPLACED, entry):
        meant = meant if meant != folder else ""
        yield Problem(PathProblem.NOT_EXPANDED, entry.strip(), meant=meant)
    elif entry != entry.strip():
        yield Problem(PathProblem.BLANK, folder, meant=meant)
    elif not _is_whole(folder):
        yield Problem(PathProblem.RELATIVE, folder)
    else:
        yield from _leads_to(machine, folder)


def _leads_to(machine: Machine, folder: str) -> Iterator[Problem]:
    wrong = not_a_folder(machine, folder)
    if wrong:
        yield from wrong
    elif re.search(r"(?i)/cuda/v?\d[\d.]*$", folder):
        yield Problem(PathProblem.TOP_FOLDER, folder, meant=f"{folder}/bin")
    elif re.search(r"(?i)cud(a|nn).*/lib(/x64)?$", folder):
        meant = folder.rpartition("/lib")[0] + "/bin"
        yield Problem(PathProblem.LIBRARIES, folder, meant=meant)


def _length(value: str) -> Iterator[Problem]:
    size = str(len(value))
    if len(value) > LONGEST:
        lost = [tidy(one) for one in value[LONGEST:].split(";") if re.search(CUDA_FOLDER, one)]
        yield Problem(PathProblem.TOO_LONG, next(iter(lost), ""), detail=f"{size} > {LONGEST}")
    elif len(value) > _PROMPT:
        yield Problem(PathProblem.CUT, detail=f"{size} > {_PROMPT}")
    elif len(value) in (1024, _EDITOR, _EDITOR + 1):
        yield Problem(PathProblem.CUT, detail=size)


def _cut(machine: Machine, value: str) -> Iterator[Problem]:
    """The last entry, where it is no folder and an existing folder begins so."""
    last = value.rpartition(";")[2]
    folder = tidy(last)
    parent, _, start = folder.rpartition("/")
    if not _is_whole(folder) or not start or '"' in last:
        return
    if isinstance(machine.stat(folder), Absent):
        listed = value_or(machine.list(parent, rf"(?i){re.escape(start)}."), ())
        for one in [entry for entry in listed if entry.kind != "file"][:1]:
            meant, size = f"{parent}/{one.name}", str(len(value))
            yield Problem(PathProblem.CUT, folder, meant=meant, detail=size)


def _older_on_windows(machine: Machine, folders: Sequence[str]) -> Iterator[Problem]:
    found = [(re.search(r"(?i)cuda/v?(\d+\.\d+)/bin$", one), one) for one in folders]
    versions = [(named[1], folder) for named, folder in found if named]
    for (earlier, folder), (later, behind) in combinations(versions, 2):
        if numbers(earlier) < numbers(later):
            detail = f"{earlier}, {later}"
            yield Problem(PathProblem.OLDER_FIRST, folder, meant=behind, detail=detail)
            return


def _app_paths(machine: Machine, folders: Sequence[str]) -> Iterator[Problem]:
    """Folders that only ShellExecute puts on PATH: the Start menu and Explorer, never a prompt."""
    key = machine.registry(_APP_PATHS)
    added = key.value.values.get("Path", "") if isinstance(key, Known) else ""
    there = {one.casefold() for one in folders}
    for one in added.split(";"):
        if re.search(CUDA_FOLDER, one) and tidy(one).casefold() not in there:
            yield Problem(PathProblem.START_MENU_ONLY, tidy(one))
