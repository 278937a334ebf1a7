"""The Python of a Windows machine, read from its files: python.exe and its DLL tell their version themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.host.base import Host
from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown, absent, known, or_unknown, value_or
from gpuwhy.model.facts import Interpreter
from gpuwhy.model.version import major_minor
from gpuwhy.observe.kernels import kernels_in
from gpuwhy.observe.places import FRAMEWORK_FOLDERS
from gpuwhy.observe.scene import Scene
from gpuwhy.observe.target import OWN, conda_version, config_of
from gpuwhy.observe.windows.paths import environ, exists, folders, is_whole, path_folders, tidy

_STORE = re.compile(r"(?i)/WindowsApps/")
_PACKAGE = re.compile(r"(?i)PythonSoftwareFoundation\.Python\.(\d+\.\d+)_(?:.*__)?(\w+)")
_DLL = re.compile(r"(?i)python(\d)(\d+)t?\.dll$")
_MAX_PARENTS = 32
_CONDA = r"anaconda[23]?|miniconda[23]?|miniforge3?|mambaforge"
_USUAL = (
    ("C:", rf"(?i)(Python3\d+(-32)?|{_CONDA})$"),
    ("C:/Program Files", r"(?i)Python3\d+$"),
    ("C:/Program Files (x86)", r"(?i)Python3\d+(-32)?$"),
    ("C:/ProgramData", rf"(?i)({_CONDA})$"),
    ("C:/Program Files/WindowsApps", r"PythonSoftwareFoundation\.Python\.3"),
)
_OF_USERS = (("AppData/Local/Programs/Python", r"(?i)Python3\d+(-32)?$"), ("", rf"(?i)({_CONDA})$"))
_OF_PROGRAMS = r"(?i)(\.?venv|env|python_embedd?ed|python)$"
_PROJECTS = (
    r"(?i)(?!AppData$|Contacts$|Links$|Music$|Pictures$|Videos$|Searches$|Favorites$|\.(?!venv)|Lib(rary)?$"
    r"|node_modules$)"
)
_MOST = 30  # folders of a project's parent that are looked into
_SYSTEM = r"(?i)(?!Windows$|Program|Users$|PerfLogs|Recovery|System Volume|\$|Python3\d)"


def interpreter(scene: Scene) -> Fact[Interpreter]:
    """The Python that --python, the active environment, the project or PATH names, in that order."""
    if scene.options.python:
        return _chosen(scene, _whole(scene, scene.options.python), "--python")
    for path, chosen_by in _candidates(scene):
        found = _chosen(scene, path, chosen_by)
        if isinstance(found, Known) or chosen_by != "PATH":
            return found
    if isinstance(scene.host.environ(), Unknown):
        return Unknown("no Python in the usual places, and PATH is not known", "--python PATH")
    return absent("env", "PATH", "no python.exe in any of its folders")


def _whole(scene: Scene, path: str) -> str:
    path = tidy(path)
    return path if is_whole(path) or path.startswith("/") else f"{tidy(scene.options.folder)}/{path}"


def _candidates(scene: Scene) -> Iterator[tuple[str, str]]:
    host, variables = scene.host, environ(scene.host)
    named = list(_named(scene))
    ours = [one for one in named if _is_ours(host, one[0])]
    others = [one for one in named if one not in ours]
    if not (variables and _is_running(host)):
        others += [(path, "usual place") for path in _usual(host)]
        others.sort(key=lambda one: not _has_framework(host, _prefix(host, one[0])))
    yield from others
    yield from ((path, f"{by}: {OWN}") for path, by in ours)


def _is_ours(host: Host, place: str) -> bool:
    """An environment that was made for gpuwhy: it holds gpuwhy and no framework."""
    above = place.rpartition("/")[0].rpartition("/")[0]
    site = f"{place if _is_environment(host, place) else above}/Lib/site-packages"
    held = value_or(host.list(site, r"(?i)gpuwhy-.*\.dist-info$"), ())
    return bool(held) and not value_or(host.list(site, FRAMEWORK_FOLDERS), ())


def _named(scene: Scene) -> Iterator[tuple[str, str]]:
    """What variables, the project and PATH name, in that order."""
    host, variables = scene.host, environ(scene.host)
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        folder = tidy(variables.get(name, ""))
        if is_whole(folder) and _is_environment(host, folder):
            yield folder, name
    yield from _project(scene)
    for folder in path_folders(host):
        stat = host.stat(f"{folder}/python.exe")
        if isinstance(stat, Known) and stat.value.size:  # the Store's aliases are empty files
            yield f"{folder}/python.exe", "PATH"


def _project(scene: Scene) -> Iterator[tuple[str, str]]:
    folder = tidy(scene.options.folder)
    for _ in range(_MAX_PARENTS if is_whole(folder) else 0):
        for name in (".venv", "venv"):
            if _is_environment(scene.host, f"{folder}/{name}"):
                yield f"{folder}/{name}", name
        if folder.count("/") < 1 or folder.endswith(":"):
            return
        folder = folder.rpartition("/")[0]


def _usual(host: Host) -> list[str]:
    """Where Pythons are, those with a framework first; for a disk, whose variables nobody knows."""
    there = list(dict.fromkeys(_everywhere(host)))
    return sorted(there, key=lambda path: not _has_framework(host, path))


def _everywhere(host: Host) -> Iterator[str]:
    """Where installers put Python, the newest of each place first; then the environments of projects and programs."""
    for parent, match in _USUAL:
        yield from _pythons(host, parent, match)
    users = folders(host, "C:/Users", r"(?!Public$|Default|All Users)")
    for user in users:
        for below, match in _OF_USERS:
            yield from _pythons(host, f"{user}/{below}".rstrip("/"), match)
    programs = folders(host, "C:", _SYSTEM)
    projects = [one for user in users for one in folders(host, user, _PROJECTS)[:_MOST]]
    inside = [one for parent in (*programs, *projects) for one in folders(host, parent, _PROJECTS)[:_MOST]]
    for folder in (*programs, *projects, *inside):
        yield from (one for one in (folder,) if exists(host, f"{one}/pyvenv.cfg"))
        for path in folders(host, folder, _OF_PROGRAMS):
            yield from (path for mark in ("python.exe", "Scripts/python.exe") if exists(host, f"{path}/{mark}"))


def _prefix(host: Host, place: str) -> str:
    """The folder of a Python that is named by its folder or by python.exe."""
    folder, _, name = place.rpartition("/")
    if name.lower() != "python.exe":
        return place
    above = folder.rpartition("/")[0]
    return above if folder.lower().endswith("/scripts") and exists(host, f"{above}/pyvenv.cfg") else folder


def _has_framework(host: Host, path: str) -> bool:
    sites = [f"{path}/Lib/site-packages", *_of_everybody(host, path)]
    return any(value_or(host.list(site, FRAMEWORK_FOLDERS), ()) for site in sites)


def _of_everybody(host: Host, path: str) -> Iterator[str]:
    """The users' own site-packages of a Python: the Store's package, or Roaming."""
    package, short = _PACKAGE.search(path), re.search(r"(?i)python\.?(3)\.?(\d+)", path.rpartition("/")[2])
    if short is None:
        return
    name = f"Python{short[1]}{short[2]}/site-packages"
    below = "AppData/Roaming/Python"
    if package:
        below = f"AppData/Local/Packages/PythonSoftwareFoundation.Python.{package[1]}_{package[2]}"
        below += "/LocalCache/local-packages"
    owner = re.match(r"(?i)C:/Users/[^/]+", path)  # a Python in a user's folder is that user's
    users = [owner[0]] if owner else folders(host, "C:/Users", r"(?!Public$|Default|All Users)")
    yield from (f"{user}/{below}/{name}" for user in users)


def _pythons(host: Host, parent: str, match: str) -> Iterator[str]:
    """The Pythons below a folder; of conda's the environments with a framework come before the base."""
    for path in folders(host, parent, match)[::-1]:
        own = folders(host, f"{path}/envs", "")
        yield from (one for one in own if value_or(host.list(f"{one}/Lib/site-packages", FRAMEWORK_FOLDERS), ()))
        yield from (one for one in (path,) if exists(host, f"{one}/python.exe"))


def _is_environment(host: Host, folder: str) -> bool:
    return any(exists(host, f"{folder}/{mark}") for mark in ("pyvenv.cfg", "conda-meta"))


def _chosen(scene: Scene, path: str, chosen_by: str) -> Fact[Interpreter]:
    """The interpreter at a path that is an environment's folder or an executable."""
    host, path = scene.host, path.rstrip("/")
    stat = host.stat(path)
    if not isinstance(stat, Known):
        return or_unknown(stat, f"{path}: no such file or folder", "--python PATH")
    if stat.value.kind == "folder":
        found = next((f"{path}/{n}" for n in ("Scripts/python.exe", "python.exe") if exists(host, f"{path}/{n}")), "")
        if not found and not _is_environment(host, path):
            return Unknown(f"{path} holds no Python: neither Scripts/python.exe nor python.exe", "--python PATH")
        return _read(host, found or f"{path}/Scripts/python.exe", path, chosen_by)
    return _read(
        host, path, _prefix(host, path) if path.lower().endswith("/python.exe") else path.rpartition("/")[0], chosen_by
    )


def _read(host: Host, path: str, prefix: str, chosen_by: str) -> Fact[Interpreter]:
    config = host.read(f"{prefix}/pyvenv.cfg")
    if isinstance(config, Known):
        version, kind = config_of(config.value)["version"], "venv"
        source = Source("file", f"{prefix}/pyvenv.cfg")
    else:
        version, kind = conda_version(host, prefix), _kind(host, path, prefix)
        source = Source("folder", prefix)
    pe = host.pe(path)
    if not version:
        version = _by_files(host, path, prefix)
        source = Source("file", path, "its version resource")
    if not version:
        return Unknown(f"{path}: neither its files nor its folder tell the Python version", "--python PATH")
    machine = pe.value.machine if isinstance(pe, Known) else ""
    return Known(Interpreter(path, version, prefix, kind, chosen_by, machine), source)


def _by_files(host: Host, path: str, prefix: str) -> str:
    pe = host.pe(path)
    said = re.match(r"3\.\d+\.\d+", pe.value.product) if isinstance(pe, Known) else None
    if said:
        return said.group()
    filed = re.match(r"(3\.\d+)\.(\d+)\.", pe.value.version) if isinstance(pe, Known) else None
    if filed:  # 3.8.10150.1013 is 3.8.10
        return f"{filed[1]}.{int(filed[2]) // 1000 if int(filed[2]) >= 1000 else filed[2]}"
    listed = value_or(host.list(prefix, r"(?i)python3\d+t?\.dll$"), ())
    found = [match for entry in listed if (match := _DLL.match(entry.name))]
    return f"{found[0][1]}.{found[0][2]}" if found else ""


def _kind(host: Host, path: str, prefix: str) -> str:
    if exists(host, f"{prefix}/conda-meta"):
        return "conda"
    if _STORE.search(path):
        return "store"
    embedded = host.list(prefix, r"(?i)python3\d+\._pth$")
    return "embedded" if isinstance(embedded, Known) and embedded.value else "system"


# ---------------------------------------------------------------- site-packages


def site_packages(scene: Scene) -> Fact[tuple[str, ...]]:
    """The folders on the interpreter's path that may hold installed distributions, first winner first."""
    python = scene.facts.target.interpreter.need()
    if python is None:
        return absent("env", "PATH", "no Python")
    variables = environ(scene.host)
    wanted = [tidy(p) for p in variables.get("PYTHONPATH", "").split(";") if is_whole(tidy(p))]
    wanted += _folders(scene.host, python, bool(variables.get("PYTHONNOUSERSITE")))
    kept = {f.casefold(): f for f in reversed(wanted) if exists(scene.host, f)}
    return known(tuple(reversed(kept.values())), "folder", python.prefix)


def _folders(host: Host, python: Interpreter, no_user: bool) -> list[str]:
    own = f"{python.prefix}/Lib/site-packages"
    config = host.read(f"{python.prefix}/pyvenv.cfg")
    if isinstance(config, Known):
        keys = config_of(config.value)
        if keys.get("include-system-site-packages", "").lower() != "true":
            return [own]
        base = tidy(keys.get("home", ""))
        return [own, *_of_user(host, python, no_user), f"{base}/Lib/site-packages"]
    if python.kind == "embedded":
        return [own, python.prefix]
    return [*_of_user(host, python, no_user), own]


def _of_user(host: Host, python: Interpreter, no_user: bool) -> list[str]:
    """What `pip install --user` fills; the Python of the Store always installs into a folder of its package."""
    short = f"Python{major_minor(python.version).replace('.', '')}"
    if python.kind == "store":
        package = _PACKAGE.search(python.path)
        name = f"PythonSoftwareFoundation.Python.{package[1]}_{package[2]}" if package else ""
        own = [f"~/AppData/Local/Packages/{name}/LocalCache/local-packages/{short}/site-packages"] if name else []
        return own if _is_running(host) else [*own, *_of_everybody(host, python.prefix)]
    if no_user:
        return []
    own = [f"~/AppData/Roaming/Python/{short}/site-packages"]
    return own if _is_running(host) else [*own, *_of_everybody(host, python.prefix)]


def _is_running(host: Host) -> bool:
    """Whether one user asks; a disk has the folders of all."""
    return isinstance(host.offline(), Absent)


def kernels(scene: Scene) -> Fact[tuple[str, ...]]:
    """The Jupyter kernels of this user and of the environment, each with the Python that it starts."""
    python = scene.facts.target.interpreter
    prefixes = [f"{python.value.prefix}/share"] if isinstance(python, Known) else []
    return kernels_in(scene, [f"{share}/jupyter/kernels" for share in ("~/AppData/Roaming", *prefixes)])
