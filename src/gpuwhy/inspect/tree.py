"""The load tree of a process on Linux: libraries in load order, copies that lost, what fails."""

from __future__ import annotations

import posixpath
import re

from gpuwhy.facts.fact import Known, value_or
from gpuwhy.facts.loads import Found
from gpuwhy.inspect.inspected import Library, Lost, Missing, Searched, Tree
from gpuwhy.loader import linux, outcome
from gpuwhy.loader.glibc import candidates, look_at
from gpuwhy.loader.loads import tidied, tidy_unmet
from gpuwhy.loader.outcome import FOUND
from gpuwhy.loader.process import Loaded, Process
from gpuwhy.loader.symbols import unmet_symbols, unmet_versions
from gpuwhy.machine.machine import Machine

_SUFFIX = re.compile(r"\.so\.(\d+(?:\.\d+)+)$")  # libstdc++.so.6.0.30, never libz.so.1
_WHEEL = re.compile(r"(.*/(?:site|dist)-packages)/nvidia/([a-z]\w*)/lib/")
_SITE = re.compile(r".*/(?:site|dist)-packages(?=/)")


def tree_of(process: Process, optional: frozenset[str] = frozenset()) -> Tree:
    """The tree without the program itself, and without what is missing but `optional`."""
    machine = process.machine
    missing = [one for one in process.missing if one.name not in optional]
    versions = [one for asker in process.loaded for one in unmet_versions(process, asker.path)]
    return Tree(
        libraries=tuple(_library(process, one) for one in process.loaded[1:]),
        missing=tuple(_missing(machine, one) for one in missing),
        unmet=tuple(tidy_unmet(machine, one) for one in unmet_symbols(process, linux)),
        unmet_versions=tuple(dict.fromkeys(versions)),
    )


def version_of(machine: Machine, path: str, real: str) -> str | None:
    """A CUDA library's version from its bytes or its wheel, else the one in the file's name."""
    if linux.concerns_gpu(path):
        stated = value_or(machine.cuda_version(path), "") or _wheel_version(machine, real)
        if stated:
            return stated
    suffix = _SUFFIX.search(real)
    return suffix[1] if suffix else None


def _wheel_version(machine: Machine, real: str) -> str:
    """The version of the one NVIDIA wheel that fills the folder; "" where several do."""
    place = _WHEEL.match(real)
    if not place:
        return ""
    site, part = place.groups()
    listed = value_or(machine.list(site, rf"nvidia_{part}(_cu\d+)?-[\d.]+\.dist-info$"), ())
    return listed[0].name.removesuffix(".dist-info").rpartition("-")[2] if len(listed) == 1 else ""


def _library(process: Process, one: Loaded) -> Library:
    machine = process.machine
    return Library(
        name=one.name.rpartition("/")[2],
        path=tidied(machine, one.path),
        via=_via(machine, one.rule),
        version=version_of(machine, one.path, one.real),
        needed_by=tidied(machine, one.needed_by),
        lost=_lost(process, one),
        closed=process.closed(one),
    )


def _via(machine: Machine, rule: Found) -> str:
    """How a file was found, the file that has the tag named as everywhere else."""
    return str(Found(rule.rule, tidied(machine, rule.of)))


def _lost(process: Process, one: Loaded) -> tuple[Lost, ...]:
    """The other files that the same search would find, each file once."""
    machine, seen, out = process.machine, {one.real}, []
    if "/" in one.name or one.path.rpartition("/")[2] != one.name:
        return ()
    caller = next((other.asker for other in process.loaded if other.path == one.needed_by), None)
    for path, rule in candidates(process.world, one.name, caller):
        real = value_or(machine.real(path), "")
        if real and real not in seen and look_at(process.world, path) == FOUND:
            seen.add(real)
            version = version_of(machine, path, real)
            out.append(Lost(tidied(machine, path), _via(machine, rule), version))
    return tuple(out)


def _missing(machine: Machine, one: outcome.Missing) -> Missing:
    by = tidied(machine, one.needed_by)
    places = [(tried.path, _via(machine, tried.rule), str(tried.met)) for tried in one.tried]
    elsewhere = _elsewhere(machine, one, by)
    return missing_of(one, by, places, elsewhere)


def missing_of(
    one: outcome.Missing, by: str, places: list[tuple[str, str, str]], elsewhere: list[str]
) -> Missing:
    """The record of what the loader does not find."""
    found = one.refused
    reason = f"{found.path} {found.met}" if found else "not found"
    searched = tuple(Searched(*place) for place in places)
    return Missing(one.name, by, searched, reason, tuple(elsewhere), found is not None)


def _elsewhere(machine: Machine, one: outcome.Missing, by: str) -> list[str]:
    """Copies in the wheels beside the asker and in the system's toolkits, off the search path."""
    folders = []
    site = _SITE.match(by)
    if site:
        wheels = value_or(machine.list(f"{site[0]}/nvidia", r"[a-z]\w*$"), ())
        folders += [f"{site[0]}/nvidia/{entry.name}/lib" for entry in wheels]
        folders.append(f"{site[0]}/torch/lib")
    toolkits = value_or(machine.list("/usr/local", r"cuda-[\d.]+$"), ())
    folders += [f"/usr/local/{entry.name}/lib64" for entry in toolkits]
    tried = {posixpath.normpath(tried.path) for tried in one.tried}
    paths = [f"{folder}/{one.name}" for folder in folders] if "/" not in one.name else []
    return [path for path in paths if path not in tried and isinstance(machine.stat(path), Known)]
