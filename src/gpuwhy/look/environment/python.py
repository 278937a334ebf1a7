"""The Python under diagnosis, which and why, and its folders of packages: by files alone.

The order is --python, the active environment, the nearest project environment, PATH; on files that
nobody runs, the usual places. gpuwhy's own environment counts only where no other was found.
"""

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from msgspec.structs import replace

from gpuwhy.facts.environment import ChosenBy, Gone, Python, PythonKind, Site, SiteKind
from gpuwhy.facts.fact import Absent, Fact, Known, Source, Unknown, absent, or_unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.version import major_minor, numbers
from gpuwhy.look.files import environ, exists, lines, names, real, text
from gpuwhy.look.look import Options
from gpuwhy.machine.machine import Machine

FRAMEWORK_FOLDERS = (
    r"(torch|tensorflow|jax|jaxlib|onnxruntime|cupy|paddle|mxnet|numba|ctranslate2|faiss|tensorrt"
    r"|llama_cpp|nvidia)$"
)
"""Folders of packages that make an environment one for GPU work."""
_FRAMEWORK_WHEELS = (
    r"(?i)(torch|tensorflow(_gpu|_cpu)?|jax|jaxlib|onnxruntime(_gpu)?|cupy(_cuda\d+x?)?"
    r"|paddlepaddle(_gpu)?|numba|ctranslate2|tensorrt(_cu\d+)?|nvidia_\w+|xformers|flash_attn|vllm"
    r"|triton)-\d.*\.dist-info$"
)
_EXECUTABLE = r"(i?python|pypy)[\d.]*t?(\.exe)?$"
_LIB_FOLDER = r"python\d+\.\d+t?$"
_MOST_PARENTS, _MOST_PTH = 32, 50


class Choice(NamedTuple):
    """An environment's folder or an executable, and what named it."""

    path: str
    by: ChosenBy


def python(machine: Machine, facts: Facts, options: Options) -> Fact[Python]:
    """The Python that --python, the active environment, the project or PATH names."""
    if value_or(facts.system.os, "") == "windows":
        from gpuwhy.look.environment import windows

        return first_of(machine, windows.choices(machine, options), windows.chosen, windows.is_ours)
    return first_of(machine, _choices(machine, options), _chosen, _is_ours)


def first_of(
    machine: Machine,
    choices: Iterable[Choice],
    chosen: Callable[[Machine, Choice], Fact[Python]],
    is_ours: Callable[[Machine, str], bool],
) -> Fact[Python]:
    """The first that is a Python, or that was asked for; gpuwhy's own where there is no other."""
    ours, failed = [], []
    for one in choices:
        if one.by != "--python" and is_ours(machine, one.path):
            ours.append(one)
            continue
        found = chosen(machine, one)
        if isinstance(found, Known) or one.by != "PATH":
            return found
        failed.append(found)
    for one in ours[:1]:
        found = chosen(machine, one)
        if isinstance(found, Known):
            return Known(replace(found.value, own=True), found.source)
        failed.append(found)
    if failed:
        return failed[0]
    if isinstance(machine.environ(), Unknown):
        return Unknown("no Python in the usual places, and PATH is not known", "--python PATH")
    return absent("env", "PATH", "no Python in any of its folders")


def _choices(machine: Machine, options: Options) -> Iterator[Choice]:
    """Environments and executables in the order in which they count: what the shell has activated
    (some conda environments hold no Python), the environment of the uv, poetry or plain project
    that the working folder lies in, PATH; and on a disk the usual places.
    """
    if options.python:
        path = options.python  # links in it stay: a venv's python is a link out of it
        if not path.startswith("/"):
            folder, _, name = f"{options.folder or '.'}/{path.rstrip('/')}".rpartition("/")
            path = f"{real(machine, folder).rstrip('/')}/{name}"
            path = real(machine, path) if name in (".", "..") else path
        yield _behind_shim(machine, Choice(path, "--python"), options.folder)
        return
    variables = environ(machine)
    venv, conda = (variables.get(name, "").rstrip("/") for name in ("VIRTUAL_ENV", "CONDA_PREFIX"))
    if venv and is_environment(machine, venv):
        yield Choice(venv, "VIRTUAL_ENV")
    if conda and is_environment(machine, conda) and exists(machine, f"{conda}/bin/python"):
        yield Choice(conda, "CONDA_PREFIX")
    named = variables.get("UV_PROJECT_ENVIRONMENT", "")
    for above in _parents(machine, options.folder):
        for name in (named, ".venv", "venv") if named else (".venv", "venv"):
            place = name if name.startswith("/") else f"{above}/{name}"
            if is_environment(machine, place):
                yield Choice(place, "UV_PROJECT_ENVIRONMENT" if name == named else ".venv")
    on_path = _on_path(machine, variables.get("PATH", ""))
    found = (_behind_shim(machine, one, options.folder) for one in on_path)
    if variables and not isinstance(machine.offline(), Known):
        yield from found
        return
    every = (*found, *_environments(machine))
    yield from sorted(every, key=lambda one: not _holds_framework(machine, one))


def _parents(machine: Machine, folder: str) -> Iterator[str]:
    """A folder and those above it, without the slash at the end."""
    parts = value_or(machine.real(folder), "").rstrip("/").split("/") if folder else []
    for count in range(len(parts), 0, -1)[:_MOST_PARENTS]:
        yield "/".join(parts[:count])


def _on_path(machine: Machine, path: str) -> Iterator[Choice]:
    """python3 or python on PATH, but of a tool's own environment: uvx and pipx put it there."""
    for folder in dict.fromkeys(path.split(":")):
        names = ("python3", "python") if folder.startswith("/") else ()
        name = next((one for one in names if exists(machine, f"{folder}/{one}")), "")
        prefix = folder.rpartition("/")[0]
        if name and not re.search(r"/uv/(archive|environments)-v\d+/|/pipx/", f"{prefix}/"):
            yield Choice(f"{folder}/{name}", "PATH")


def _is_ours(machine: Machine, place: str) -> bool:
    """An environment that was made for gpuwhy: it holds gpuwhy and no framework."""
    above = posixpath.dirname(posixpath.dirname(place))
    lib = f"{place if is_environment(machine, place) else above}/lib"
    sites = [f"{lib}/{name}/site-packages" for name in names(machine, lib, r"python\d")]
    own = next((one for one in sites if names(machine, one, r"gpuwhy-.*\.dist-info$")), "")
    return bool(own) and not names(machine, own, FRAMEWORK_FOLDERS)


def is_environment(machine: Machine, folder: str) -> bool:
    """Whether a folder is a virtual or a conda environment."""
    return any(exists(machine, f"{folder}/{mark}") for mark in ("pyvenv.cfg", "conda-meta"))


def _chosen(machine: Machine, one: Choice) -> Fact[Python]:
    """The Python at a path that is an environment's folder or an executable."""
    path = one.path.rstrip("/") or "/"
    stat = machine.stat(path)
    if not isinstance(stat, Known):
        return or_unknown(stat, f"{path}: no such file or folder", "--python PATH")
    if stat.value.kind == "folder":
        if is_environment(machine, path):
            return _environment(machine, path, one.by)
        programs = (f"{path}/{name}" for name in ("bin/python3", "bin/python"))
        if program := next((name for name in programs if exists(machine, name)), ""):
            return _chosen(machine, Choice(program, one.by))
        said = "holds no Python: neither pyvenv.cfg, conda-meta nor bin/python"
        return Unknown(f"{path} {said}", "--python PATH")
    folder, _, name = path.rpartition("/")
    prefix = folder.rpartition("/")[0]
    named = re.match(_EXECUTABLE, name) and folder.endswith("/bin")
    if named and is_environment(machine, prefix):
        return _environment(machine, prefix, one.by, path)
    return _executable(machine, path, one.by)


def _environment(machine: Machine, prefix: str, by: ChosenBy, path: str = "") -> Fact[Python]:
    """A venv or conda environment, read from its files."""
    config = machine.read(f"{prefix}/pyvenv.cfg")
    kind: PythonKind = "venv" if isinstance(config, Known) else "conda"
    mark = "pyvenv.cfg" if kind == "venv" else "conda-meta"
    source = Source("file" if kind == "venv" else "folder", f"{prefix}/{mark}")
    programs = (f"{prefix}/bin/python", f"{prefix}/bin/python3")
    path = path or next((one for one in programs if exists(machine, one)), "")
    gone: Gone = ""
    if not path:
        path = programs[0]
        gone = "dangling link" if isinstance(machine.link(path), Known) else "missing"
    else:  # files of another machine may have lost the right on the way
        stat = value_or(machine.stat(path), None)
        plain = stat is not None and stat.kind == "file" and stat.mode.startswith("-")
        if plain and stat and "x" not in stat.mode and isinstance(machine.offline(), Absent):
            gone = "not executable"
    version = config_of(value_or(config, "")).get("version", "") or conda_version(machine, prefix)
    own = f"{prefix}/lib/python{major_minor(version)}"
    if not version or not names(machine, f"{own}/site-packages", FRAMEWORK_FOLDERS):
        # the one with frameworks, where a Python was upgraded away; else the newest folder's
        found = _releases(machine, prefix)
        able = [o for o in found if names(machine, f"{o}/site-packages", FRAMEWORK_FOLDERS)]
        newest = next(reversed(found.values()), "")
        version = (found[able[-1]] if able else version) if version else newest
    if not version:
        said = f"neither {source.where} nor its lib folder names the Python version"
        return Unknown(f"{prefix}: {said}")
    where = machine_of(machine, path)
    return Known(Python(path, version, prefix, kind, by, where, gone), source)


def config_of(text: str) -> dict[str, str]:
    """The keys of pyvenv.cfg; `version` cut to its numbers (some tools write version_info)."""
    pairs = (line.partition("=") for line in text.splitlines())
    found = {key.strip().lower(): value.strip() for key, _, value in pairs}
    said = found.get("version_info") or found.get("version", "")
    version = re.match(r"\d+\.\d+(\.\d+)?", said)
    return {**found, "version": version[0] if version else ""}


def conda_version(machine: Machine, prefix: str) -> str:
    """The Python of a conda environment, by its package list; "" when there is none."""
    found = names(machine, f"{prefix}/conda-meta", r"python-\d+\.\d+[^-]*-[^-]*\.json$")
    return found[0].split("-")[1] if found else ""


def _releases(machine: Machine, prefix: str) -> dict[str, str]:
    """The folders below lib that are a Python's, each with its release."""
    found = names(machine, f"{prefix}/lib", _LIB_FOLDER)
    return {f"{prefix}/lib/{one}": one.removeprefix("python").rstrip("t") for one in found}


def machine_of(machine: Machine, path: str) -> str:
    """The processor that an executable is for; the machine's own where it does not say."""
    elf, uname = value_or(machine.elf(path), None), value_or(machine.uname(), None)
    return elf.machine if elf else uname.machine if uname else ""


def _executable(machine: Machine, path: str, by: ChosenBy) -> Fact[Python]:
    """A Python outside an environment: by the folders that it lies in, and is not started."""
    file = real(machine, path)
    if not any(re.match(_EXECUTABLE, one.rpartition("/")[2]) for one in (path, file)):
        return Unknown(f"{path} is not a Python by its name", "--python PATH", "not tried")
    prefix = posixpath.dirname(posixpath.dirname(file)) or "/"
    if file != path and is_environment(machine, prefix):
        return _environment(machine, prefix, by, path)
    found = _releases(machine, prefix)
    beside = [release for folder, release in found.items() if exists(machine, f"{folder}/os.py")]
    named = re.search(r"python(\d+\.\d+)t?(\.exe)?$", file)
    version = named[1] if named else beside[0] if len(beside) == 1 else ""
    if not version:
        return Unknown(f"{path}: neither its name nor folder tells its version", "--python PATH")
    stated = re.search(rf"[/-]({re.escape(version)}\.\d+)[/-]", file)  # …/versions/3.11.7/bin
    version = stated[1] if stated else version
    kind: PythonKind = "conda" if exists(machine, f"{prefix}/conda-meta") else "system"
    whole = Python(path, version, prefix, kind, by, machine_of(machine, file))
    return Known(whole, Source("file", file, "by its name and folder"))


def _behind_shim(machine: Machine, one: Choice, folder: str) -> Choice:
    """The executable that a shim of pyenv starts, by pyenv's files; other paths as they are.

    What pyenv takes: PYENV_VERSION, else a .python-version, else the general one.
    """
    root, shim, name = one.path.rpartition("/shims/")
    if not shim:
        return one
    said = (
        text(machine, f"{above}/.python-version").split() for above in _parents(machine, folder)
    )
    chosen = environ(machine).get("PYENV_VERSION", "").split(":")
    wanted = chosen if chosen[0] else next(filter(None, said), [])
    for version in wanted or text(machine, f"{root}/version").split() or ["system"]:
        if version == "system":
            path = environ(machine).get("PATH", "")
            found = (other for other in _on_path(machine, path) if "/shims/" not in other.path)
            return next(found, one)
        listed = names(machine, f"{root}/versions", rf"{re.escape(version)}(\.\d+)*$")
        for folder in sorted(listed, key=lambda o: (o == version, numbers(o)), reverse=True):
            if exists(machine, f"{root}/versions/{folder}/bin/{name}"):
                return Choice(f"{root}/versions/{folder}/bin/{name}", one.by)
    return one


def sites(machine: Machine, facts: Facts, options: Options) -> Fact[tuple[Site, ...]]:
    """The folders on Python's path that may hold packages, the environment's own first.

    PYTHONPATH's come first when Python runs: what they put in front is a shadow.
    """
    one = facts.environment.python.need()
    if one is None:
        return absent("env", "PATH", "no Python")
    if value_or(facts.system.os, "") == "windows":
        from gpuwhy.look.environment import windows as windows_python

        return windows_python.sites(machine, one)
    wanted = _folders(machine, one) + _as("PYTHONPATH", *_pythonpath(machine))
    minor = major_minor(one.version).partition(".")[2]
    other = rf".*\.cpython-3(?!{minor}\D)\d+t?-.*\.so$"
    for folder in [found for site in wanted for found in pth_folders(machine, site.path)]:
        if names(machine, folder, _FRAMEWORK_WHEELS):  # others are source code
            modules = names(machine, folder, FRAMEWORK_FOLDERS)
            if not any(names(machine, f"{folder}/{module}", other) for module in modules):
                wanted += _as("pth", folder)
    kept: dict[str, Site] = {}
    for site in wanted:
        stat = machine.stat(site.path)
        if isinstance(stat, Known) and stat.value.kind == "folder":
            kept.setdefault(real(machine, site.path), site)
    return Known(tuple(kept.values()), Source("folder", one.prefix))


def _pythonpath(machine: Machine) -> list[str]:
    value = environ(machine).get("PYTHONPATH", "")
    return [one.rstrip("/") or "/" for one in value.split(":") if one.startswith("/")]


def user_base(machine: Machine) -> str:
    """Where `pip install --user` installs, without the Python's release."""
    base = environ(machine).get("PYTHONUSERBASE", "").rstrip("/")
    return base or f"{machine.home or '/root'}/.local"


def user_sites(machine: Machine, version: str) -> list[str]:
    """The user's own folder of packages; of all people where nobody's machine runs."""
    short = f"python{major_minor(version)}"
    found = [f"{user_base(machine)}/lib/{short}/site-packages"]
    if isinstance(machine.offline(), Known):
        found += [f"{home}/.local/lib/{short}/site-packages" for home in _homes(machine)]
    return found


def _folders(machine: Machine, one: Python) -> list[Site]:
    """Where this Python keeps what is installed."""
    short = f"python{major_minor(one.version)}"
    no_user = bool(environ(machine).get("PYTHONNOUSERSITE"))
    user = _as("user", *([] if no_user else user_sites(machine, one.version)))
    own = _as("own", *(f"{one.prefix}/{lib}/{short}/site-packages" for lib in ("lib", "lib64")))
    config = machine.read(f"{one.prefix}/pyvenv.cfg")
    if isinstance(config, Known):
        keys = config_of(config.value)
        if keys.get("include-system-site-packages", "").lower() != "true":
            return own
        base = keys.get("home", "").rstrip("/").removesuffix("/bin")
        return own + user + _as("system", *_of_system(base, short))
    if one.kind == "conda":
        return own + user  # the user's come first when Python runs: see shadows.py
    return user + _as("own", *_of_system(one.prefix, short))


def _as(kind: SiteKind, *paths: str) -> list[Site]:
    return [Site(path, kind) for path in paths]


def _of_system(prefix: str, short: str) -> list[str]:
    """Of a Python outside an environment; Debian's has folders of its own."""
    own = [f"{prefix}/{lib}/{short}/site-packages" for lib in ("lib", "lib64")]
    if prefix not in ("/usr", ""):
        return own
    debian = [f"/usr/local/lib/{short}/dist-packages", "/usr/lib/python3/dist-packages"]
    return [f"/usr/local/lib/{short}/site-packages", *debian, *own]


def pth_folders(machine: Machine, site: str) -> Iterator[str]:
    """The folders that plain lines of .pth files put behind a folder of packages."""
    for name in names(machine, site, r".*\.pth$")[:_MOST_PTH]:
        for line in lines(machine, f"{site}/{name}", "/", ".", "_")[:_MOST_PTH]:
            path = line.strip().rstrip("/")
            if path and not re.match(r"#|import\s", path):
                yield posixpath.normpath(posixpath.join(site, path))


def on_the_path(machine: Machine, site: str, module: str) -> bool:
    """Whether PYTHONPATH, or a folder that a .pth file of a site names, holds a module."""
    places = (*_pythonpath(machine), *pth_folders(machine, site))
    return any(names(machine, one, rf"{re.escape(module)}(\.py)?$") for one in places)


_FIRST = ("/opt/conda", "/opt/venv", "/venv", "/app/.venv", "/opt/miniconda3")
_CONDA = r"(anaconda|miniconda|miniforge|mambaforge|micromamba)[23]?$"
_PROGRAMS = r"(?!(bin|boot|dev|etc|home|lib\w*|lost\+found|proc|root|run|sbin|sys|tmp|usr|var)$)"
_PLAIN = r"(?!\.|node_modules$|snap$)"
_VENVS = r"(\.?venv|\.?env|\.virtualenv|python[\d.]*)$"
_OF_USERS = (
    *(".conda/envs", ".virtualenvs", ".pyenv/versions", ".cache/pypoetry/virtualenvs"),
    *(".local/share/virtualenvs", ".local/share/pipx/venvs", ".local/pipx/venvs"),
    *(".local/share/uv/tools", ".local/share/uv/python"),
)
"""Where tools keep environments below a home folder."""
_MOST_FOLDERS = 40  # folders of one parent that are looked into


def _environments(machine: Machine) -> Iterator[Choice]:
    """Environments and executables in the order in which they are likely the one that is meant."""
    first = [one for one in _FIRST if _is_environment(machine, one)]
    system, searched = [], []
    for folder in ("/usr/local/bin", "/usr/bin"):
        programs = names(machine, folder, r"python3(\.\d+)?$")
        system += [f"{folder}/{name}" for name in sorted(programs, key=len)]
    people = _homes(machine)
    for home in people:
        for below in _OF_USERS:
            searched += _in(machine, f"{home}/{below}")
    programs = _folders_in(machine, "/", _PROGRAMS)
    for parent in (*programs, "/usr/local", "/var/www", "/var/lib", *people):
        searched += _below(machine, parent, 2)
    every = [Choice(path, "usual place") for path in (*first, *searched, *system)]
    able = [one for one in every if _holds_framework(machine, one)]
    rest = (Choice(path, "usual place") for path in (*first, *system, *searched))
    yield from dict.fromkeys((*able, *rest))


def _homes(machine: Machine) -> list[str]:
    """The home folders of the people on this disk, root's last."""
    return [*_folders_in(machine, "/home", r"(?!lost\+found$)"), "/root"]


def _holds_framework(machine: Machine, one: Choice) -> bool:
    """Whether a Python has a framework among its packages."""
    python = value_or(_chosen(machine, one), None)
    sites = _folders(machine, python) if python else ()
    return any(names(machine, site.path, FRAMEWORK_FOLDERS) for site in sites)


def _below(machine: Machine, folder: str, levels: int) -> Iterator[str]:
    """The environments in a folder, and in those below it."""
    if _is_environment(machine, folder):
        yield folder
        return
    yield from _in(machine, folder, _VENVS)
    for conda in _folders_in(machine, folder, _CONDA):
        yield from (*_in(machine, f"{conda}/envs"), conda)
    for one in _folders_in(machine, folder, _PLAIN) if levels else ():
        yield from _below(machine, one, levels - 1)


def _in(machine: Machine, folder: str, match: str = "") -> list[str]:
    found = _folders_in(machine, folder, match)
    return [one for one in found if _is_environment(machine, one)]


def _is_environment(machine: Machine, folder: str) -> bool:
    marks = ("pyvenv.cfg", "conda-meta", "bin/python3", "bin/python")
    return folder != "/usr/local" and any(exists(machine, f"{folder}/{one}") for one in marks)


def _folders_in(machine: Machine, parent: str, match: str) -> list[str]:
    entries = value_or(machine.list(parent, match), ())[:_MOST_FOLDERS]
    above = parent.rstrip("/")
    return [f"{above}/{one.name}" for one in entries if one.kind in ("folder", "link")]
