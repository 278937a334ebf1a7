"""Where the environments of a Linux disk or image lie, those with a framework first: for files that
nobody runs, where no variable names one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.facts.fact import Known, value_or
from gpuwhy.look.environment.python import FRAMEWORK_FOLDERS
from gpuwhy.look.files import exists, names
from gpuwhy.machine.machine import Machine

_FIRST = ("/opt/conda", "/opt/venv", "/venv", "/app/.venv", "/opt/miniconda3")
_CONDA = r"(anaconda|miniconda|miniforge|mambaforge|micromamba)[23]?$"
_PROGRAMS = r"(?!(bin|boot|dev|etc|home|lib\w*|lost\+found|proc|root|run|sbin|sys|tmp|usr|var)$)"
_PLAIN = r"(?!\.|node_modules$|snap$)"
_VENVS = r"(\.?venv|\.?env|\.virtualenv|python[\d.]*)$"
_OF_USERS = (
    ".conda/envs",
    ".virtualenvs",
    ".pyenv/versions",
    ".cache/pypoetry/virtualenvs",
    ".local/share/virtualenvs",
    ".local/share/pipx/venvs",
    ".local/pipx/venvs",
    ".local/share/uv/tools",
    ".local/share/uv/python",
)
"""Where tools keep environments below a home folder."""
_MOST = 40  # folders of one parent that are looked into


def environments(machine: Machine) -> Iterator[str]:
    """Environments and executables in the order in which they are likely the one that is meant."""
    first = [one for one in _FIRST if _is_environment(machine, one)]
    system, searched = [], []
    for folder in ("/usr/local/bin", "/usr/bin"):
        programs = names(machine, folder, r"python3(\.\d+)?$")
        system += [f"{folder}/{name}" for name in sorted(programs, key=len)]
    people = homes(machine)
    for home in people:
        for below in _OF_USERS:
            searched += _in(machine, f"{home}/{below}")
    programs = _folders(machine, "/", _PROGRAMS)
    for parent in (*programs, "/usr/local", "/var/www", "/var/lib", *people):
        searched += _below(machine, parent, 2)
    able = [o for o in (*first, *searched, *system) if holds_framework(machine, o)]
    yield from dict.fromkeys((*able, *first, *system, *searched))


def homes(machine: Machine) -> list[str]:
    """The home folders of the people on this disk, root's last."""
    return [*_folders(machine, "/home", r"(?!lost\+found$)"), "/root"]


def holds_framework(machine: Machine, place: str) -> bool:
    """Whether a Python, by its folder or its executable, has a framework among its packages."""
    stat = machine.stat(place)
    folder = isinstance(stat, Known) and stat.value.kind == "folder"
    prefix = place if folder else place.rpartition("/bin/")[0] or "/usr"
    config = value_or(machine.read(f"{prefix}/pyvenv.cfg"), "")
    sites = list(_sites(machine, prefix))
    if re.search(r"(?im)^include-system-site-packages\s*=\s*true", config):
        base = re.search(r"(?im)^home\s*=\s*(\S+?)(?:/bin)?/?\s*$", config)
        sites += _sites(machine, base[1] if base else "/usr")
    return any(names(machine, site, FRAMEWORK_FOLDERS) for site in sites)


def _sites(machine: Machine, prefix: str) -> Iterator[str]:
    system = ("/usr", "/usr/local")
    prefixes = (*system, *(f"{home}/.local" for home in homes(machine)))
    for one in prefixes if prefix in system else (prefix,):
        for short in names(machine, f"{one}/lib", r"python3[\d.]*t?$"):
            for name in ("site-packages", "dist-packages"):
                yield f"{one}/lib/{short}/{name}"


def _below(machine: Machine, folder: str, levels: int) -> Iterator[str]:
    """The environments in a folder, and in those below it."""
    if _is_environment(machine, folder):
        yield folder
        return
    yield from _in(machine, folder, _VENVS)
    for conda in _folders(machine, folder, _CONDA):
        yield from (*_in(machine, f"{conda}/envs"), conda)
    for one in _folders(machine, folder, _PLAIN) if levels else ():
        yield from _below(machine, one, levels - 1)


def _in(machine: Machine, folder: str, match: str = "") -> list[str]:
    found = _folders(machine, folder, match)
    return [one for one in found if _is_environment(machine, one)]


def _is_environment(machine: Machine, folder: str) -> bool:
    marks = ("pyvenv.cfg", "conda-meta", "bin/python3", "bin/python")
    return folder != "/usr/local" and any(exists(machine, f"{folder}/{one}") for one in marks)


def _folders(machine: Machine, parent: str, match: str) -> list[str]:
    entries = value_or(machine.list(parent, match), ())[:_MOST]
    above = parent.rstrip("/")
    return [f"{above}/{one.name}" for one in entries if one.kind in ("folder", "link")]
