"""Loads: which driver library wins, and what the loader finds for every library that is opened."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from gpuwhy.facts.fact import (
    Absent,
    Fact,
    Known,
    Source,
    Undetermined,
    Unknown,
    Why,
    known,
    value_or,
)
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.frameworks import Framework, Opened
from gpuwhy.facts.libraries import Flaw, LibraryCopy
from gpuwhy.facts.loads import (
    DriverLibrary,
    Fate,
    Found,
    LoadedLibrary,
    Loads,
    LoadTree,
    MissingLibrary,
    NeededLibrary,
    Outcome,
    UnmetSymbol,
)
from gpuwhy.loader.extensions import extensions
from gpuwhy.loader.outcome import NOT_THERE, Library, Missing, Tried
from gpuwhy.loader.symbols import old_runtimes, unmet_symbols
from gpuwhy.loader.systems import Process, System, is_windows, system_of
from gpuwhy.machine.machine import Machine

_AFTER_TORCH = (
    *("xformers", "flash_attn", "bitsandbytes", "torchvision", "torchaudio"),
    *("vllm", "torch_tensorrt"),
)
"""Packages that import PyTorch before they open anything of their own."""


def loads(machine: Machine, facts: Facts) -> Loads:
    """Everything of the subject; a step that fails leaves its field Unknown."""
    for name, step in _STEPS.items():
        try:
            found: Fact[Any] = step(machine, facts)
        except Undetermined as missing:
            found = missing.unknown
        except Exception as error:
            found = Unknown(f"gpuwhy failed here: {type(error).__name__}: {error}")
        filled = msgspec.structs.replace(facts.loads, **{name: found})
        facts = msgspec.structs.replace(facts, loads=filled)
    return facts.loads


_EXACTLY = r"([\w.-]+)\s*(?:\[[^]]*\])?\s*\(?==\s*(\d+\.\d+\.\d[\w.]*?)(?:\.\*)?\s*(?:[;)]|$)"


def libcuda(machine: Machine, facts: Facts) -> Fact[tuple[DriverLibrary, ...]]:
    """Every copy of the driver's CUDA library: in the loader's order, then those off its path."""
    return _driver_library(machine, facts, system_of(facts).LIBCUDA)


def libnvml(machine: Machine, facts: Facts) -> Fact[tuple[DriverLibrary, ...]]:
    """The same of the driver's management library."""
    return _driver_library(machine, facts, system_of(facts).LIBNVML)


def _driver_library(machine: Machine, facts: Facts, name: str) -> Fact[tuple[DriverLibrary, ...]]:
    system = system_of(facts)
    world = system.world_of(machine, facts)
    if not isinstance(world, Known):
        return world
    found: dict[str, DriverLibrary] = {}
    for one in system.driver_copies(world.value, facts, name):
        found.setdefault(system.fold(one.real), one)
    return Known(tuple(found.values()), Source("call", system.SEARCH, name))


# ---------------------------------------------------------------- what frameworks open


def trees(machine: Machine, facts: Facts) -> Fact[tuple[LoadTree, ...]]:
    """What the process of each framework would load; on Windows also of a CPU build, which needs
    the C++ runtime.
    """
    frameworks, system = facts.frameworks.installed, system_of(facts)
    if not isinstance(frameworks, Known):
        return frameworks
    world = system.world_of(machine, facts)
    if not isinstance(world, Known):
        return world
    out = [
        tree_of(system.run(world.value, facts, one), system, facts, one.name)
        for one in frameworks.value
        if isinstance(one.opens, Known) and (one.opens.value or is_windows(facts))
    ]
    return Known(tuple(out), Source("call", system.SEARCH, "per framework"))


def tree_of(process: Process, system: System, facts: Facts, name: str) -> LoadTree:
    """The record of a process: its GPU libraries, what is missing, which symbols are unmet."""
    machine, pinned = process.machine, _pinned(facts, name)
    copies = {system.fold(one.real): one for one in value_or(facts.libraries.copies, ())}
    kept = [one for one in process.loaded if system.concerns_gpu(one.path)]
    lost = process.missing
    if any(one.name == "libc.so.6" for one in lost):  # not the files of a whole system
        lost = [one for one in lost if system.concerns_gpu(one.name)]
    return LoadTree(
        framework=name,
        libraries=tuple(
            _loaded(machine, system, one, copies.get(system.fold(one.real))) for one in kept
        ),
        missing=tuple(_missing(machine, system, facts, one) for one in lost if system.matters(one)),
        unmet=tuple(tidy_unmet(machine, one) for one in unmet_symbols(process, system, pinned)),
        old=old_runtimes(process),
    )


def _pinned(facts: Facts, name: str) -> Callable[[Library], bool]:
    """Whether a library is one of the framework, or of a wheel in the very release that another
    installed package requires by `==`, and as it was installed.
    """
    packages = facts.environment.by_name
    found = set()
    for package in packages.values():
        for line in value_or(package.requires, ()):
            match = re.match(_EXACTLY, line)
            wanted = packages.get(match[1].lower().replace("_", "-")) if match else None
            if match and wanted and f"{wanted.version}.".startswith(f"{match[2]}."):
                found.add(wanted.name)
    changed = {one.path for one in value_or(facts.installs.damage, ())}
    owners = ((one, value_or(one.owner, None)) for one in value_or(facts.libraries.copies, ()))
    paths = {copy.real for copy, owner in owners if owner and owner.name in found} - changed
    installed = value_or(facts.frameworks.installed, ())
    own = next((f"{one.path}/" for one in installed if one.name == name), "\0")
    intact = not any(path.startswith(own) for path in changed)
    return lambda one: one.real in paths or (intact and one.real.startswith(own))


def _missing(machine: Machine, system: System, facts: Facts, one: Missing) -> MissingLibrary:
    at = tidied(machine, one.refused.path) if one.refused else ""
    named = "" if at else system.not_cached(machine, one.name, value_or(facts.system.machine, ""))
    searched = _folders(one.tried)
    met = one.met
    return MissingLibrary(one.name, one.needed_by, searched, met.outcome, at, met.flaw, named)


def tidy_unmet(machine: Machine, one: UnmetSymbol) -> UnmetSymbol:
    """The same, its two files named as everywhere else."""
    asker, provider = tidied(machine, one.library), tidied(machine, one.provider)
    return UnmetSymbol(asker, provider, one.symbols, one.count)


def _loaded(
    machine: Machine, system: System, one: Library, copy: LibraryCopy | None
) -> LoadedLibrary:
    name, path = one.name.rpartition("/")[2], tidied(machine, one.path)
    unlisted = Unknown("not among the CUDA libraries")
    stated: Fact[str] = copy.version if copy else unlisted
    own = machine.cuda_version(path) if system.tells(name, copy) else stated
    return LoadedLibrary(
        name=name,
        path=path,
        found=one.rule,
        needed_by=one.needed_by,
        version=own if isinstance(own, Known) else stated,
        owner=copy.owner if copy else unlisted,
    )


# ---------------------------------------------------------------- what each need becomes


def needs(machine: Machine, facts: Facts) -> Fact[tuple[NeededLibrary, ...]]:
    """Every library that a framework opens by name, and what its load tree says of it."""
    found = facts.loads.trees
    if not isinstance(found, Known):
        return found
    desk = _Desk(
        machine=machine,
        facts=facts,
        system=system_of(facts),
        trees={tree.framework: tree for tree in found.value},
        copies=value_or(facts.libraries.copies, ()),
        sees_variables=isinstance(machine.environ(), Known),
    )
    out = [
        _needed(desk, framework, opened)
        for framework in value_or(facts.frameworks.installed, ())
        if framework.name in desk.trees and isinstance(framework.opens, Known)
        for opened in framework.opens.value
    ]
    return Known(tuple(out), found.source)


@dataclass(frozen=True)
class _Desk:
    """What every need is judged by."""

    machine: Machine
    facts: Facts
    system: System
    trees: dict[str, LoadTree]
    copies: tuple[LibraryCopy, ...]
    sees_variables: bool

    def same(self, name: str) -> tuple[LibraryCopy, ...]:
        """The copies of that very name."""
        fold = self.system.fold
        return tuple(one for one in self.copies if fold(one.name) == fold(name))


def _needed(desk: _Desk, framework: Framework, opened: Opened) -> NeededLibrary:
    system, fold = desk.system, desk.system.fold
    lost = desk.trees[framework.name].missing
    missing = next((one for one in lost if fold(one.name) == fold(opened.name)), None)
    path, found = _search(desk, framework, opened, missing)
    more: dict[str, Any] = {}
    if isinstance(path, Absent):
        processor = value_or(desk.facts.system.machine, "")
        not_cached = system.not_cached(desk.machine, opened.name, processor)
        doubt = system.doubt(desk.sees_variables, missing is not None)
        if doubt and not not_cached and not _no_copy(desk, opened.name):
            path = Unknown(f"{opened.name}: {doubt}")
        else:
            more = {
                "searched": missing.searched if missing else (),
                "elsewhere": tuple(one.path for one in desk.same(opened.name)),
                "other_versions": _others(desk, opened.name),
                "not_cached": not_cached,
            }
    elif isinstance(path, Unknown) and missing:
        more = {"refused": missing.refused}
    need = NeededLibrary(
        framework=framework.name,
        name=opened.name,
        optional=opened.optional,
        needed_by=opened.by,
        fate=Fate.UNKNOWN,
        path=path,
        found=found,
        **more,
    )
    return msgspec.structs.replace(need, fate=_fate(desk, framework, need))


def _fate(desk: _Desk, framework: Framework, need: NeededLibrary) -> Fate:
    """What becomes of a library, by where copies of it lie that the search does not reach."""
    if isinstance(need.path, Known):
        return Fate.FOUND
    if isinstance(need.path, Unknown):
        return Fate.BROKEN if need.path.kind == "refused" else Fate.UNKNOWN
    usable = [one.path for one in desk.same(need.name) if not _flawed(one)]
    if any(path.startswith(f"{framework.path.rpartition('/')[0]}/") for path in usable):
        return Fate.NOT_SEARCHED
    if usable or need.not_cached:
        return Fate.OFF_PATH
    names = (path.rpartition("/")[2] for path in need.other_versions)
    other = any(not name.startswith(f"{need.name}.") for name in names)  # not its own full name
    return Fate.OTHER_VERSION if other else Fate.MISSING


def _flawed(copy: LibraryCopy) -> bool:
    return value_or(copy.health, Flaw.NONE) is not Flaw.NONE


def _no_copy(desk: _Desk, name: str) -> bool:
    """Whether every usual place was looked at, and none has a copy that would do."""
    copies = desk.facts.libraries.copies
    return isinstance(copies, Known) and all(map(_flawed, desk.same(name)))


def _search(
    desk: _Desk, framework: Framework, opened: Opened, missing: MissingLibrary | None
) -> tuple[Fact[str], Found | None]:
    """Where a library is found, and how: in the process, or because PyTorch came first."""
    search = Source("call", desk.system.SEARCH, opened.name)
    wanted = desk.system.fold(opened.name)
    if one := _mapped(desk, framework.name, wanted):
        return known(one.path, "file", one.path, str(one.found)), one.found
    if missing and missing.outcome is not Outcome.NOT_THERE:
        kind: Why = "refused" if missing.outcome in desk.system.REFUSES else ""
        flawed = f"{missing.outcome.value}: {missing.flaw.value}"
        return Unknown(f"{opened.name}: {flawed}", kind=kind), None
    if framework.name.replace("-", "_") in _AFTER_TORCH and (one := _mapped(desk, "torch", wanted)):
        return Known(one.path, search), one.found
    return Absent(search), None


def _mapped(desk: _Desk, framework: str, wanted: str) -> LoadedLibrary | None:
    """What a framework's process has loaded under a name."""
    tree = desk.trees.get(framework)
    fold = desk.system.fold
    return next((one for one in tree.libraries if fold(one.name) == wanted), None) if tree else None


def _others(desk: _Desk, name: str) -> tuple[str, ...]:
    """Copies of the same library with another SONAME."""
    stem, fold = desk.system.stem, desk.system.fold
    return tuple(
        one.path
        for one in desk.copies
        if stem(one.name) == stem(name) and fold(one.name) != fold(name)
    )


def _folders(tries: tuple[Tried, ...]) -> tuple[str, ...]:
    """Each folder once, in order, with why it was searched and what was skipped there."""
    out: dict[str, None] = {}
    for tried in tries:
        note = "" if tried.met == NOT_THERE else f", {tried.met}"
        folder = posixpath.normpath(tried.path.rpartition("/")[0] or "/")
        out.setdefault(f"{folder} ({tried.rule}{note})")
    return tuple(out)


def tidied(machine: Machine, path: str) -> str:
    """`…/tensorflow/../nvidia/lib/x` as `…/nvidia/lib/x`, where both lead to the same file."""
    if "/../" not in path:
        return path
    short = posixpath.normpath(path)
    left, right = machine.real(path), machine.real(short)
    same = isinstance(left, Known) and isinstance(right, Known) and left.value == right.value
    return short if same else path


_STEPS: dict[str, Callable[[Machine, Facts], Fact[Any]]] = {
    "libcuda": libcuda,
    "libnvml": libnvml,
    "trees": trees,
    "needs": needs,
    "extensions": extensions,
}
