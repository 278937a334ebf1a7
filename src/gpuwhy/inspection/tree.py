"""The load tree of a process: every library in load order, the copies that lost, what is missing, what does not fit."""

from __future__ import annotations

import posixpath
import re

from gpuwhy.host.base import Host
from gpuwhy.observe.loader_v0 import linux
from gpuwhy.observe.loader_v0.glibc import candidates, look_at
from gpuwhy.observe.loader_v0.linux import concerns_gpu
from gpuwhy.observe.loader_v0.outcome import FOUND, Missing
from gpuwhy.observe.loader_v0.process import Loaded, Process
from gpuwhy.observe.loader_v0.unmet import unmet_symbols
from gpuwhy.observe.loader_v0.versions import unmet_versions
from gpuwhy.model import inspected
from gpuwhy.model.fact import Known, value_or
from gpuwhy.model.facts import UnmetSymbol
from gpuwhy.model.inspected import Library, Lost, Searched, Tree, UnmetVersion

_SUFFIX = re.compile(r"\.so\.(\d+(?:\.\d+)+)$")  # libstdc++.so.6.0.30, never libz.so.1
_WHEEL = re.compile(r"(.*/(?:site|dist)-packages)/nvidia/([a-z]\w*)/lib/")
_SITE = re.compile(r".*/(?:site|dist)-packages(?=/)")


def tree_of(process: Process, optional: frozenset[str] = frozenset()) -> Tree:
    """The record of a process; the program itself is left out, and so is what is missing but `optional`."""
    host = process.world.host
    names = {one.path: neat(host, one.path) for one in process.loaded}
    missing = [one for one in process.missing if one.name not in optional]
    return Tree(
        libraries=tuple(_library(process, one, names) for one in process.loaded[1:]),
        missing=tuple(_missing(host, one, names) for one in missing),
        unmet=tuple(_unmet(one, names) for one in unmet_symbols(process, linux)),
        unmet_versions=_unmet_versions(process, names),
    )


def _unmet(one: UnmetSymbol, names: dict[str, str]) -> UnmetSymbol:
    library, provider = names.get(one.library, one.library), names.get(one.provider, one.provider)
    return UnmetSymbol(library, provider, one.symbols, one.count)


def version_of(host: Host, path: str, real: str) -> str | None:
    """The version of a library: a CUDA library's from its bytes or its wheel, else the one in the file's name."""
    if concerns_gpu(path):
        exact = host.cuda_version(path)
        said = exact.value if isinstance(exact, Known) else _wheel_version(host, real)
        if said:
            return said
    match = _SUFFIX.search(real)
    return match.group(1) if match else None


def _wheel_version(host: Host, real: str) -> str:
    """The version of the one nvidia wheel that fills the folder; nothing where several do."""
    place = _WHEEL.match(real)
    if not place:
        return ""
    site, part = place.groups()
    listed = value_or(host.list(site, rf"nvidia_{part}(_cu\d+)?-[\d.]+\.dist-info$"), ())
    return listed[0].name.removesuffix(".dist-info").rpartition("-")[2] if len(listed) == 1 else ""


def _library(process: Process, one: Loaded, names: dict[str, str]) -> Library:
    return Library(
        name=one.name.rpartition("/")[2],
        path=names[one.path],
        via=_via(one.via, names),
        version=version_of(process.world.host, one.path, one.real),
        needed_by=names.get(one.needed_by, one.needed_by),
        lost=_lost(process, one, names),
        closed=process.closed(one),
    )


def _via(via: str, names: dict[str, str]) -> str:
    """`RUNPATH of …/torch/lib/../../x` with the path as it is listed."""
    what, of, path = via.partition(" of ")
    return f"{what}{of}{names.get(path, path)}"


def neat(host: Host, path: str) -> str:
    """`…/torch/lib/../../nvidia/x` as `…/nvidia/x`, where both lead to the same file."""
    short = posixpath.normpath(path)
    if short == path:
        return path
    left, right = host.real(path), host.real(short)
    same = isinstance(left, Known) and isinstance(right, Known) and left.value == right.value
    return short if same else path


def _lost(process: Process, one: Loaded, names: dict[str, str]) -> tuple[Lost, ...]:
    """The other files that the same search would find, each file once."""
    host, seen, out = process.world.host, {one.real}, []
    if "/" in one.name or one.path.rpartition("/")[2] != one.name:
        return ()
    caller = next((other.asker for other in process.loaded if other.path == one.needed_by), None)
    for path, via in candidates(process.world, one.name, caller):
        real = value_or(host.real(path), "")
        if real and real not in seen and look_at(process.world, path) == FOUND:
            seen.add(real)
            out.append(Lost(neat(host, path), _via(via, names), version_of(host, path, real)))
    return tuple(out)


def _missing(host: Host, one: Missing, names: dict[str, str]) -> inspected.Missing:
    searched = tuple(Searched(tried.path, _via(tried.why, names), str(tried.outcome)) for tried in one.tried)
    by = names.get(one.needed_by, one.needed_by)
    return inspected.Missing(one.name, by, one.why, searched, tuple(_elsewhere(host, one, by)), one.refused is not None)


def _elsewhere(host: Host, one: Missing, by: str) -> list[str]:
    """Copies in the wheels beside the asker and in the system's toolkits: places that the loader was not told of."""
    folders = []
    site = _SITE.match(by)
    if site:
        wheels = value_or(host.list(f"{site.group()}/nvidia", r"[a-z]\w*$"), ())
        folders += [f"{site.group()}/nvidia/{entry.name}/lib" for entry in wheels]
        folders.append(f"{site.group()}/torch/lib")
    toolkits = value_or(host.list("/usr/local", r"cuda-[\d.]+$"), ())
    folders += [f"/usr/local/{entry.name}/lib64" for entry in toolkits]
    tried = {posixpath.normpath(tried.path) for tried in one.tried}
    paths = [f"{folder}/{one.name}" for folder in folders] if "/" not in one.name else []
    return [path for path in paths if path not in tried and isinstance(host.stat(path), Known)]


def _unmet_versions(process: Process, names: dict[str, str]) -> tuple[UnmetVersion, ...]:
    found = unmet_versions(process)
    return tuple(UnmetVersion(names[one.asker], names[one.provider], one.version) for one in found)
