"""The Python of a Windows machine: python.exe and its DLL state their version themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import replace

from gpuwhy.facts.environment import ChosenBy, Python, PythonKind, Site
from gpuwhy.facts.fact import (
    Absent,
    Fact,
    Known,
    Source,
    Unknown,
    absent,
    known,
    or_unknown,
    value_or,
)
from gpuwhy.facts.version import major_minor
from gpuwhy.look.environment.python import (
    FRAMEWORK_FOLDERS,
    Choice,
    conda_version,
    config_of,
    is_environment,
)
from gpuwhy.look.files import exists
from gpuwhy.look.look import Options
from gpuwhy.look.windows_paths import environ, folders, is_whole, path_folders, tidy
from gpuwhy.machine.machine import Machine

_STORE_PACKAGE = r"(?i)PythonSoftwareFoundation\.Python\.(\d+\.\d+)_(?:.*__)?(\w+)"
_CONDA = r"anaconda[23]?|miniconda[23]?|miniforge3?|mambaforge"
_USUAL = (
    ("C:", rf"(?i)(Python3\d+(-32)?|{_CONDA})$"),
    ("C:/Program Files", r"(?i)Python3\d+$"),
    ("C:/Program Files (x86)", r"(?i)Python3\d+(-32)?$"),
    ("C:/ProgramData", rf"(?i)({_CONDA})$"),
    ("C:/Program Files/WindowsApps", r"PythonSoftwareFoundation\.Python\.3"),
)
_OF_USERS = (
    ("AppData/Local/Programs/Python", r"(?i)Python3\d+(-32)?$"),
    ("", rf"(?i)({_CONDA})$"),
)
_OF_PROGRAMS = r"(?i)(\.?venv|env|python_embedd?ed|python)$"
_PROJECTS = (
    r"(?i)(?!AppData$|Contacts$|Links$|Music$|Pictures$|Videos$|Searches$|Favorites$|\.(?!venv)"
    r"|Lib(rary)?$|node_modules$)"
)
_NO_PROGRAMS = r"(?i)(?!Windows$|Program|Users$|PerfLogs|Recovery|System Volume|\$|Python3\d)"
_PEOPLE = r"(?!Public$|Default|All Users)"
_MOST, _MOST_PARENTS = 30, 32


class Place(NamedTuple):
    """python.exe and the folder of its environment."""

    path: str
    prefix: str


def python(machine: Machine, options: Options) -> Fact[Python]:
    """The Python that --python, the active environment, the project or PATH names."""
    if options.python:
        path = tidy(options.python)
        whole = is_whole(path) or path.startswith("/")
        path = path if whole else f"{tidy(options.folder)}/{path}"
        return _chosen(machine, Choice(path, "--python"))
    ours: list[Choice] = []
    for one in _choices(machine, options):
        if _is_ours(machine, one.path):
            ours.append(one)
            continue
        found = _chosen(machine, one)
        if isinstance(found, Known) or one.by != "PATH":
            return found
    for one in ours:
        found = _chosen(machine, one)
        if isinstance(found, Known):
            return Known(replace(found.value, own=True), found.source)
    if isinstance(machine.environ(), Unknown):
        return Unknown("no Python in the usual places, and PATH is not known", "--python PATH")
    return absent("env", "PATH", "no python.exe in any of its folders")


def _choices(machine: Machine, options: Options) -> Iterator[Choice]:
    """What variables, the project, PATH and, on a disk, the usual places name."""
    variables = environ(machine)
    names: tuple[ChosenBy, ...] = ("VIRTUAL_ENV", "CONDA_PREFIX")
    for name in names:
        folder = tidy(variables.get(name, ""))
        if is_whole(folder) and is_environment(machine, folder):
            yield Choice(folder, name)
    yield from _project(machine, tidy(options.folder))
    found = [Choice(one, "PATH") for one in _on_path(machine)]
    if not variables or isinstance(machine.offline(), Known):
        found += [Choice(one, "usual place") for one in dict.fromkeys(_everywhere(machine))]
        found.sort(key=lambda one: not _has_framework(machine, _prefix(machine, one.path)))
    yield from found


def _on_path(machine: Machine) -> Iterator[str]:
    for folder in path_folders(machine):
        stat = machine.stat(f"{folder}/python.exe")
        if isinstance(stat, Known) and stat.value.size:  # the Store's aliases are empty files
            yield f"{folder}/python.exe"


def _project(machine: Machine, folder: str) -> Iterator[Choice]:
    for _ in range(_MOST_PARENTS if is_whole(folder) else 0):
        for name in (".venv", "venv"):
            if is_environment(machine, f"{folder}/{name}"):
                yield Choice(f"{folder}/{name}", ".venv")
        if folder.count("/") < 1 or folder.endswith(":"):
            return
        folder = folder.rpartition("/")[0]


def _is_ours(machine: Machine, place: str) -> bool:
    """An environment that was made for gpuwhy: it holds gpuwhy and no framework."""
    above = place.rpartition("/")[0].rpartition("/")[0]
    site = f"{place if is_environment(machine, place) else above}/Lib/site-packages"
    held = value_or(machine.list(site, r"(?i)gpuwhy-.*\.dist-info$"), ())
    return bool(held) and not value_or(machine.list(site, FRAMEWORK_FOLDERS), ())


# ------------------------------------------------------------ a disk


def _everywhere(machine: Machine) -> Iterator[str]:
    """Where installers put Python, the newest of each place first; then those of projects."""
    for parent, match in _USUAL:
        yield from _pythons(machine, parent, match)
    users = folders(machine, "C:/Users", _PEOPLE)
    for user in users:
        for below, match in _OF_USERS:
            yield from _pythons(machine, f"{user}/{below}".rstrip("/"), match)
    programs = folders(machine, "C:", _NO_PROGRAMS)
    projects = [one for user in users for one in folders(machine, user, _PROJECTS)[:_MOST]]
    inside = [
        one
        for parent in (*programs, *projects)
        for one in folders(machine, parent, _PROJECTS)[:_MOST]
    ]
    for folder in (*programs, *projects, *inside):
        if exists(machine, f"{folder}/pyvenv.cfg"):
            yield folder
        for path in folders(machine, folder, _OF_PROGRAMS):
            for mark in ("python.exe", "Scripts/python.exe"):
                if exists(machine, f"{path}/{mark}"):
                    yield path


def _pythons(machine: Machine, parent: str, match: str) -> Iterator[str]:
    """The Pythons below a folder; conda's environments with a framework before its base."""
    for path in folders(machine, parent, match)[::-1]:
        for one in folders(machine, f"{path}/envs", ""):
            if value_or(machine.list(f"{one}/Lib/site-packages", FRAMEWORK_FOLDERS), ()):
                yield one
        if exists(machine, f"{path}/python.exe"):
            yield path


def _prefix(machine: Machine, place: str) -> str:
    """The folder of a Python that is named by its folder or by python.exe."""
    folder, _, name = place.rpartition("/")
    if name.lower() != "python.exe":
        return place
    above = folder.rpartition("/")[0]
    venv = folder.lower().endswith("/scripts") and exists(machine, f"{above}/pyvenv.cfg")
    return above if venv else folder


def _has_framework(machine: Machine, path: str) -> bool:
    places = [f"{path}/Lib/site-packages", *_of_everybody(machine, path)]
    return any(value_or(machine.list(site, FRAMEWORK_FOLDERS), ()) for site in places)


def _of_everybody(machine: Machine, path: str) -> Iterator[str]:
    """The users' own folders of packages of a Python: of the Store's, or in Roaming."""
    package = re.search(_STORE_PACKAGE, path)
    short = re.search(r"(?i)python\.?(3)\.?(\d+)", path.rpartition("/")[2])
    if short is None:
        return
    below = "AppData/Roaming/Python"
    if package:
        below = _of_store(package) + "/LocalCache/local-packages"
    owner = re.match(r"(?i)C:/Users/[^/]+", path)  # a Python in a user's folder is that user's
    users = [owner[0]] if owner else folders(machine, "C:/Users", _PEOPLE)
    name = f"Python{short[1]}{short[2]}/site-packages"
    yield from (f"{user}/{below}/{name}" for user in users)


def _of_store(package: re.Match[str]) -> str:
    return f"AppData/Local/Packages/PythonSoftwareFoundation.Python.{package[1]}_{package[2]}"


# ------------------------------------------------------------ what it is


def _chosen(machine: Machine, one: Choice) -> Fact[Python]:
    """The Python at a path that is an environment's folder or an executable."""
    path = one.path.rstrip("/")
    stat = machine.stat(path)
    if not isinstance(stat, Known):
        return or_unknown(stat, f"{path}: no such file or folder", "--python PATH")
    if stat.value.kind == "folder":
        names = (f"{path}/{name}" for name in ("Scripts/python.exe", "python.exe"))
        found = next((name for name in names if exists(machine, name)), "")
        if not found and not is_environment(machine, path):
            said = "holds no Python: neither Scripts/python.exe nor python.exe"
            return Unknown(f"{path} {said}", "--python PATH")
        return _read(machine, Place(found or f"{path}/Scripts/python.exe", path), one.by)
    named = path.lower().endswith("/python.exe")
    prefix = _prefix(machine, path) if named else path.rpartition("/")[0]
    return _read(machine, Place(path, prefix), one.by)


def _read(machine: Machine, place: Place, by: ChosenBy) -> Fact[Python]:
    path, prefix = place
    config = machine.read(f"{prefix}/pyvenv.cfg")
    kind: PythonKind = "venv"
    if isinstance(config, Known):
        version = config_of(config.value)["version"]
        source = Source("file", f"{prefix}/pyvenv.cfg")
    else:
        version, kind = conda_version(machine, prefix), _kind(machine, path, prefix)
        source = Source("folder", prefix)
    if not version:
        version = _by_files(machine, path, prefix)
        source = Source("file", path, "its version resource")
    if not version:
        said = "neither its files nor its folder state the Python version"
        return Unknown(f"{path}: {said}", "--python PATH")
    pe = machine.pe(path)
    where = pe.value.machine if isinstance(pe, Known) else ""
    return Known(Python(path, version, prefix, kind, by, where), source)


def _by_files(machine: Machine, path: str, prefix: str) -> str:
    pe = machine.pe(path)
    product, file = (pe.value.product, pe.value.version) if isinstance(pe, Known) else ("", "")
    stated = re.match(r"3\.\d+\.\d+", product)
    if stated:
        return stated[0]
    filed = re.match(r"(3\.\d+)\.(\d+)\.", file)
    if filed:  # 3.8.10150.1013 is 3.8.10
        number = int(filed[2]) // 1000 if int(filed[2]) >= 1000 else int(filed[2])
        return f"{filed[1]}.{number}"
    for entry in value_or(machine.list(prefix, r"(?i)python3\d+t?\.dll$"), ()):
        found = re.match(r"(?i)python(\d)(\d+)t?\.dll$", entry.name)
        if found:
            return f"{found[1]}.{found[2]}"
    return ""


def _kind(machine: Machine, path: str, prefix: str) -> PythonKind:
    if exists(machine, f"{prefix}/conda-meta"):
        return "conda"
    if re.search(r"(?i)/WindowsApps/", path):
        return "store"
    embedded = value_or(machine.list(prefix, r"(?i)python3\d+\._pth$"), ())
    return "embedded" if embedded else "system"


# ------------------------------------------------------------ folders of packages


def sites(machine: Machine, one: Python) -> Fact[tuple[Site, ...]]:
    """The folders on Python's path that may hold packages."""
    variables = environ(machine)
    parts = (tidy(part) for part in variables.get("PYTHONPATH", "").split(";"))
    wanted = _folders(machine, one, bool(variables.get("PYTHONNOUSERSITE")))
    wanted += [Site(part, "PYTHONPATH") for part in parts if is_whole(part)]
    kept: dict[str, Site] = {}
    for site in wanted:
        if exists(machine, site.path):
            kept.setdefault(site.path.casefold(), site)
    return known(tuple(kept.values()), "folder", one.prefix)


def _folders(machine: Machine, one: Python, no_user: bool) -> list[Site]:
    own = Site(f"{one.prefix}/Lib/site-packages", "own")
    user = [Site(path, "user") for path in _of_user(machine, one, no_user)]
    config = machine.read(f"{one.prefix}/pyvenv.cfg")
    if isinstance(config, Known):
        keys = config_of(config.value)
        if keys.get("include-system-site-packages", "").lower() != "true":
            return [own]
        return [own, *user, Site(f"{tidy(keys.get('home', ''))}/Lib/site-packages", "system")]
    if one.kind == "embedded":
        return [own, Site(one.prefix, "own")]
    return [*user, own]


def _of_user(machine: Machine, one: Python, no_user: bool) -> list[str]:
    """What `pip install --user` fills; the Store's Python always installs below its package."""
    short = f"Python{major_minor(one.version).replace('.', '')}/site-packages"
    package = re.search(_STORE_PACKAGE, one.path) if one.kind == "store" else None
    below = (
        f"{_of_store(package)}/LocalCache/local-packages" if package else "AppData/Roaming/Python"
    )
    if (one.kind == "store" and not package) or (one.kind != "store" and no_user):
        return []
    own = [f"{machine.home}/{below}/{short}"] if machine.home else []
    running = isinstance(machine.offline(), Absent)
    return own if running else [*own, *_of_everybody(machine, one.prefix)]
