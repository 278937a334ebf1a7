"""Pythons: where the environments of a Linux disk or image lie, those with a framework first; for files at rest."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.host.base import Host
from gpuwhy.model.fact import Known, value_or
from gpuwhy.observe.places import FRAMEWORK_FOLDERS

_FIRST = ("/opt/conda", "/opt/venv", "/venv", "/app/.venv", "/opt/miniconda3")
_CONDA = r"(anaconda|miniconda|miniforge|mambaforge|micromamba)[23]?"
_NOT_A_PROGRAM = r"(?!(bin|boot|dev|etc|home|lib\w*|lost\+found|proc|run|sbin|sys|tmp|usr|var)$)"
_PLAIN = r"(?!\.|node_modules$|snap$)"
_OWN = r"(\.?venv|\.?env|\.virtualenv|python[\d.]*)$"
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


def environments(host: Host) -> Iterator[str]:
    """Folders of environments and executables, in the order in which they are likely the one that is meant.

    One that was found by searching counts for its framework: without any, it is not what a disk is asked about.
    """
    first, system = [one for one in _FIRST if _is_environment(host, one)], list(_of_system(host))
    searched = list(_everywhere(host))
    able = [one for one in (*first, *searched, *system) if holds_framework(host, one)]
    yield from dict.fromkeys((*able, *first, *system, *searched))


def homes(host: Host) -> list[str]:
    """The home folders of the people on this disk, root's last."""
    return [*_folders(host, "/home", r"(?!lost\+found$)"), "/root"]


def holds_framework(host: Host, place: str) -> bool:
    """Whether a Python, by its folder or its executable, has a framework among its packages."""
    prefix = place if _is_folder(host, place) else place.rpartition("/bin/")[0] or "/usr"
    config = value_or(host.read(f"{prefix}/pyvenv.cfg"), "")
    sites = list(_sites(host, prefix))
    if re.search(r"(?im)^include-system-site-packages\s*=\s*true", config):
        base = re.search(r"(?im)^home\s*=\s*(\S+?)(?:/bin)?/?\s*$", config)
        sites += _sites(host, base[1] if base else "/usr")
    return any(value_or(host.list(site, FRAMEWORK_FOLDERS), ()) for site in sites)


def release_beside(host: Host, prefix: str) -> str:
    """The release whose standard library lies below a prefix, where that is one alone; "" else."""
    listed = value_or(host.list(f"{prefix}/lib", r"python\d+\.\d+t?$"), ())
    own = [one.name for one in listed if isinstance(host.stat(f"{prefix}/lib/{one.name}/os.py"), Known)]
    return own[0].removeprefix("python").rstrip("t") if len(own) == 1 else ""


def user_sites(host: Host, short: str) -> list[str]:
    """What `pip install --user` filled for `python3.10`, in every home folder."""
    return [f"{home}/.local/lib/{short}/site-packages" for home in homes(host)]


def _sites(host: Host, prefix: str) -> Iterator[str]:
    prefixes = ("/usr", "/usr/local", *(f"{home}/.local" for home in homes(host)))
    for one in prefixes if prefix in ("/usr", "/usr/local") else (prefix,):
        for entry in value_or(host.list(f"{one}/lib", r"python3[\d.]*t?$"), ()):
            yield from (f"{one}/lib/{entry.name}/{name}" for name in ("site-packages", "dist-packages"))


def _of_system(host: Host) -> Iterator[str]:
    """The system's own executables; the newest release of each place where it has no plain name."""
    for folder in ("/usr/local/bin", "/usr/bin"):
        names = [entry.name for entry in value_or(host.list(folder, r"python3(\.\d+)?$"), ())]
        yield from (f"{folder}/{name}" for name in sorted(names, key=len))


def _everywhere(host: Host) -> Iterator[str]:
    programs = [one for one in _folders(host, "/", _NOT_A_PROGRAM) if one != "/root"]
    for home in homes(host):
        yield from (one for below in _OF_USERS for one in _in(host, f"{home}/{below}"))
    parents = [*programs, "/usr/local", "/var/www", "/var/lib", *homes(host)]
    for parent in parents:
        yield from _below(host, parent, 2)


def _below(host: Host, folder: str, levels: int) -> Iterator[str]:
    """The environments in a folder, and in those below it."""
    if _is_environment(host, folder):
        yield folder
        return
    yield from (f"{folder}/{n}" for n in _names(host, folder, _OWN) if _is_environment(host, f"{folder}/{n}"))
    for conda in _folders(host, folder, rf"{_CONDA}$"):
        yield from (*_in(host, f"{conda}/envs"), conda)
    for one in _folders(host, folder, _PLAIN) if levels else ():
        yield from _below(host, one, levels - 1)


def _in(host: Host, folder: str) -> list[str]:
    return [one for one in _folders(host, folder, "") if _is_environment(host, one)]


def _is_environment(host: Host, folder: str) -> bool:
    marks = ("pyvenv.cfg", "conda-meta", "bin/python3", "bin/python")
    return folder != "/usr/local" and any(isinstance(host.stat(f"{folder}/{mark}"), Known) for mark in marks)


def _is_folder(host: Host, place: str) -> bool:
    stat = host.stat(place)
    return isinstance(stat, Known) and stat.value.kind == "folder"


def _names(host: Host, folder: str, match: str) -> list[str]:
    return [entry.name for entry in value_or(host.list(folder, match), ())][:_MOST]


def _folders(host: Host, parent: str, match: str) -> list[str]:
    above = parent.rstrip("/")
    entries = value_or(host.list(parent, match), ())[:_MOST]
    return [f"{above}/{entry.name}" for entry in entries if entry.kind in ("folder", "link")]
