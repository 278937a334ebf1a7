"""What a process has loaded and has not found, as a tree: for Linux and for Windows."""

import posixpath
import re

from gpuwhy.facts.fact import Known, value_or
from gpuwhy.facts.loads import Found
from gpuwhy.inspect.inspected import Library, Missing, Searched, Tree
from gpuwhy.loader import linux, outcome, systems, windows_system
from gpuwhy.loader.loads import tidied, tidy_unmet
from gpuwhy.loader.process import Loaded, Process
from gpuwhy.loader.symbols import unmet_symbols, unmet_versions
from gpuwhy.loader.windows import WindowsProcess
from gpuwhy.machine.machine import Machine

_SUFFIX = re.compile(r"\.so\.(\d+(?:\.\d+)+)$")  # libstdc++.so.6.0.30, never libz.so.1
_WHEEL = re.compile(r"(.*/(?:site|dist)-packages)/nvidia/([a-z]\w*)/lib/")
_SITE = re.compile(r".*/(?:site|dist)-packages(?=/)", re.IGNORECASE)
_ON_WINDOWS = "C:/Program Files/NVIDIA GPU Computing Toolkit/CUDA"


def tree_of(process: systems.Process, optional: frozenset[str] = frozenset()) -> Tree:
    """The tree without the program itself, and without what is missing but `optional`."""
    machine, versions, unsure = process.machine, [], []
    system: systems.System = linux
    if isinstance(process, WindowsProcess):
        system = windows_system
        unsure = [one.name for one in process.unsure if one.name not in optional]
    elif isinstance(process, Process):
        versions = [one for asker in process.loaded for one in unmet_versions(process, asker.path)]
    return Tree(
        libraries=tuple(_library(process, one) for one in process.loaded[1:]),
        missing=tuple(_missing(machine, o) for o in process.missing if o.name not in optional),
        unmet=tuple(tidy_unmet(machine, one) for one in unmet_symbols(process, system)),
        unmet_versions=tuple(dict.fromkeys(versions)),
        unsure=tuple(dict.fromkeys(unsure)),
    )


def version_of(machine: Machine, path: str, real: str) -> str | None:
    """A CUDA library's version from its bytes or its wheel, else that of its resource or name."""
    windows = path.lower().endswith((".dll", ".pyd", ".exe", ".sys"))
    system = windows_system if windows else linux
    stated = value_or(machine.cuda_version(path), "") if system.concerns_gpu(path) else ""
    if stated or windows:
        pe = machine.pe(path)
        return stated or (pe.value.version if isinstance(pe, Known) else "") or None
    place = _WHEEL.match(real) if linux.concerns_gpu(path) else None
    if place:  # the one NVIDIA wheel that fills the folder
        name = rf"nvidia_{place[2]}(_cu\d+)?-[\d.]+\.dist-info$"
        listed = value_or(machine.list(place[1], name), ())
        if len(listed) == 1:
            return listed[0].name.removesuffix(".dist-info").rpartition("-")[2]
    suffix = _SUFFIX.search(real)
    return suffix[1] if suffix else None


def _library(process: systems.Process, one: outcome.Library) -> Library:
    machine = process.machine
    if isinstance(process, WindowsProcess):
        closed = one.path in process.failed
    else:
        closed = isinstance(one, Loaded) and isinstance(process, Process) and process.closed(one)
    return Library(
        name=one.name.rpartition("/")[2],
        path=tidied(machine, one.path),
        via=_via(machine, one.rule),
        version=version_of(machine, one.path, one.real),
        needed_by=tidied(machine, one.needed_by),
        closed=closed,
    )


def _via(machine: Machine, rule: Found) -> str:
    """How a file was found, the file that has the tag named as everywhere else."""
    return str(Found(rule.rule, tidied(machine, rule.of)))


def _missing(machine: Machine, one: outcome.Missing) -> Missing:
    """With copies in the wheels beside the asker and in the toolkits, off the search path."""
    by, site = tidied(machine, one.needed_by), _SITE.match(tidied(machine, one.needed_by))
    windows = one.name.lower().endswith(".dll")
    inner = "bin" if windows else "lib"
    tops = [(f"{site[0]}/nvidia", r"[a-z]\w*$", inner)] if site else []
    tops.append((_ON_WINDOWS, ".*", "bin") if windows else ("/usr/local", r"cuda-[\d.]+$", "lib64"))
    folders = [
        f"{top}/{entry.name}/{inner}"
        for top, match, inner in tops
        for entry in value_or(machine.list(top, match), ())
    ]
    folders += [f"{site[0]}/torch/lib"] if site else []
    tried = {posixpath.normpath(place.path).lower() for place in one.tried}
    paths = [f"{folder}/{one.name}" for folder in folders if "/" not in one.name]
    paths = [path for path in paths if path.lower() not in tried]
    searched = (Searched(t.path, _via(machine, t.rule), str(t.met)) for t in one.tried)
    reason = f"{one.refused.path} {one.refused.met}" if one.refused else "not found"
    elsewhere = (path for path in paths if isinstance(machine.stat(path), Known))
    return Missing(one.name, by, tuple(searched), reason, tuple(elsewhere), bool(one.refused))
