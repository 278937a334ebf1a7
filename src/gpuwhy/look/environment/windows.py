"""The Python of a Windows machine: python.exe and its DLL state their version themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gpuwhy.facts.environment import ChosenBy, Python, PythonKind, Site
from gpuwhy.facts.fact import Absent, Fact, Known, Source, Unknown, known, or_unknown, value_or
from gpuwhy.facts.version import major_minor
from gpuwhy.look.environment.python import (
    FRAMEWORK_FOLDERS,
    Choice,
    conda_version,
    config_of,
    is_environment,
)
from gpuwhy.look.files import exists, names
from gpuwhy.look.look import Options
from gpuwhy.look.windows import environ, folders, is_whole, path_folders, tidy
from gpuwhy.machine.machine import Machine

if TYPE_CHECKING:
    from gpuwhy.formats.pe import Pe

_STORE_PACKAGE = r"(?i)PythonSoftwareFoundation\.Python\.(\d+\.\d+)_(?:.*__)?(\w+)"
_CONDA = r"anaconda[23]?|miniconda[23]?|miniforge3?|mambaforge"
_USUAL = (
    ("C:", rf"(?i)(Python3\d+(-32)?|{_CONDA})$"),
    ("C:/Program Files", r"(?i)Python3\d+$"),
    ("C:/ProgramData", rf"(?i)({_CONDA})$"),
    ("C:/Program Files/WindowsApps", r"PythonSoftwareFoundation\.Python\.3"),
)
_OF_USERS = (("AppData/Local/Programs/Python", r"(?i)Python3\d+(-32)?$"), ("", rf"(?i)({_CONDA})$"))
_PEOPLE = r"(?!Public$|Default|All Users)"
_PROJECTS = r"(?i)(?!Windows$|Program|Users$|PerfLogs|Recovery|System Volume|AppData$|\$)"
_VENVS = r"(?i)(\.?venv|env|python_embedd?ed)$"
_MOST, _MOST_PARENTS = 30, 32


def is_ours(machine: Machine, place: str) -> bool:
    """An environment that was made for gpuwhy: it holds gpuwhy and no framework."""
    above = place.rpartition("/")[0].rpartition("/")[0]
    site = f"{place if is_environment(machine, place) else above}/Lib/site-packages"
    own = names(machine, site, r"(?i)gpuwhy-.*\.dist-info$")
    return bool(own) and not names(machine, site, FRAMEWORK_FOLDERS)


def choices(machine: Machine, options: Options) -> Iterator[Choice]:
    """What --python, variables, the project, PATH and, on a disk, the usual places name."""
    variables, folder = environ(machine), tidy(options.folder)
    if options.python:
        path = tidy(options.python)
        whole = is_whole(path) or path.startswith("/")
        yield Choice(path if whole else f"{folder}/{path}", "--python")
        return
    active: tuple[ChosenBy, ...] = ("VIRTUAL_ENV", "CONDA_PREFIX")
    for name in active:
        place = tidy(variables.get(name, ""))
        if is_whole(place) and is_environment(machine, place):
            yield Choice(place, name)
    parts = folder.split("/") if is_whole(folder) else []
    for count in range(len(parts), 0, -1)[:_MOST_PARENTS]:
        for below in (".venv", "venv"):
            place = "/".join((*parts[:count], below))
            if is_environment(machine, place):
                yield Choice(place, ".venv")
    found = []
    for folder in path_folders(machine):
        stat = machine.stat(f"{folder}/python.exe")
        if isinstance(stat, Known) and stat.value.size:  # the Store's aliases are empty files
            found.append(Choice(f"{folder}/python.exe", "PATH"))
    if not variables or isinstance(machine.offline(), Known):
        found += [Choice(one, "usual place") for one in dict.fromkeys(_everywhere(machine))]
        found.sort(key=lambda one: not _holds_framework(machine, one))
    yield from found


def _everywhere(machine: Machine) -> Iterator[str]:
    """On a disk: where installers put Python, then the environments of projects."""
    users = folders(machine, "C:/Users", _PEOPLE)
    usual = [*_USUAL]
    usual += [(f"{user}/{b}".rstrip("/"), match) for user in users for b, match in _OF_USERS]
    for parent, match in usual:
        for path in folders(machine, parent, match)[::-1]:
            every = [*folders(machine, f"{path}/envs", ""), path]
            yield from (one for one in every if exists(machine, f"{one}/python.exe"))
    projects = [one for top in ("C:", *users) for one in folders(machine, top, _PROJECTS)[:_MOST]]
    for folder in (*users, *projects):
        every = [folder, *folders(machine, folder, _VENVS)]
        yield from (one for one in every if is_environment(machine, one))


def _prefix(machine: Machine, place: str) -> str:
    """The folder of a Python that is named by its folder or by python.exe."""
    folder, _, name = place.rpartition("/")
    if name.lower() != "python.exe":
        return place
    above = folder.rpartition("/")[0]
    venv = folder.lower().endswith("/scripts") and exists(machine, f"{above}/pyvenv.cfg")
    return above if venv else folder


def _holds_framework(machine: Machine, one: Choice) -> bool:
    python = value_or(chosen(machine, one), None)
    found = value_or(sites(machine, python), ()) if python else ()
    return any(names(machine, site.path, FRAMEWORK_FOLDERS) for site in found)


def chosen(machine: Machine, one: Choice) -> Fact[Python]:
    """The Python at a path that is an environment's folder or an executable."""
    path = one.path.rstrip("/")
    stat = machine.stat(path)
    if not isinstance(stat, Known):
        return or_unknown(stat, f"{path}: no such file or folder", "--python PATH")
    prefix = path
    if stat.value.kind != "folder":
        named = path.lower().endswith("/python.exe")
        prefix = _prefix(machine, path) if named else path.rpartition("/")[0]
    else:
        programs = (f"{path}/{name}" for name in ("Scripts/python.exe", "python.exe"))
        found = next((name for name in programs if exists(machine, name)), "")
        if not found and not is_environment(machine, path):
            said = "holds no Python: neither Scripts/python.exe nor python.exe"
            return Unknown(f"{path} {said}", "--python PATH")
        path = found or f"{path}/Scripts/python.exe"
    config = machine.read(f"{prefix}/pyvenv.cfg")
    pe = value_or(machine.pe(path), None)
    kind = "venv" if isinstance(config, Known) else _kind(machine, path, prefix)
    source = config.source if isinstance(config, Known) else Source("folder", prefix)
    version = config_of(value_or(config, ""))["version"] or conda_version(machine, prefix)
    if not version:
        version = _by_files(pe)
        source = Source("file", path, "its version resource")
    if not version:
        said = "neither its files nor its folder state the Python version"
        return Unknown(f"{path}: {said}", "--python PATH")
    return Known(Python(path, version, prefix, kind, one.by, pe.machine if pe else ""), source)


def _by_files(pe: Pe | None) -> str:
    """By its version resource: 3.8.10150.1013 is 3.8.10."""
    stated = re.match(r"3\.\d+\.\d+", pe.product) if pe else None
    filed = re.match(r"(3\.\d+)\.(\d+)\.", pe.version) if pe else None
    if stated or not filed:
        return stated[0] if stated else ""
    number = int(filed[2])
    return f"{filed[1]}.{number // 1000 if number >= 1000 else number}"


def _kind(machine: Machine, path: str, prefix: str) -> PythonKind:
    if exists(machine, f"{prefix}/conda-meta"):
        return "conda"
    if re.search(r"(?i)/WindowsApps/", path):
        return "store"
    return "embedded" if names(machine, prefix, r"(?i)python3\d+\._pth$") else "system"


def sites(machine: Machine, one: Python) -> Fact[tuple[Site, ...]]:
    """The folders on Python's path that may hold packages."""
    own, user = Site(f"{one.prefix}/Lib/site-packages", "own"), _of_user(machine, one)
    config = machine.read(f"{one.prefix}/pyvenv.cfg")
    if isinstance(config, Known):
        keys, wanted = config_of(config.value), [own]
        if keys.get("include-system-site-packages", "").lower() == "true":
            home = tidy(keys.get("home", ""))
            wanted += [*user, Site(f"{home}/Lib/site-packages", "system")]
    else:
        wanted = [own, Site(one.prefix, "own")] if one.kind == "embedded" else [*user, own]
    parts = (tidy(part) for part in environ(machine).get("PYTHONPATH", "").split(";"))
    wanted += [Site(part, "PYTHONPATH") for part in parts if is_whole(part)]
    kept: dict[str, Site] = {}
    for site in wanted:
        if exists(machine, site.path):
            kept.setdefault(site.path.casefold(), site)
    return known(tuple(kept.values()), "folder", one.prefix)


def _of_user(machine: Machine, one: Python) -> list[Site]:
    """The folders of packages of the user, on a disk of every user; the Store's Python always has
    one of its own.
    """
    store, below = re.search(_STORE_PACKAGE, one.path), "Roaming/Python"
    no_user = bool(environ(machine).get("PYTHONNOUSERSITE"))
    if not store if one.kind == "store" else no_user:
        return []
    if store:
        package = f"PythonSoftwareFoundation.Python.{store[1]}_{store[2]}"
        below = f"Local/Packages/{package}/LocalCache/local-packages"
    homes = [machine.home] if machine.home else []
    if not isinstance(machine.offline(), Absent):
        owner = re.match(r"(?i)C:/Users/[^/]+", one.prefix)  # whose folder it lies in
        homes += [owner[0]] if owner else folders(machine, "C:/Users", _PEOPLE)
    short = f"Python{major_minor(one.version).replace('.', '')}"
    return [Site(f"{home}/AppData/{below}/{short}/site-packages", "user") for home in homes]
