"""Loads: which driver library wins, and what the loader finds for every library that is opened."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from msgspec.structs import replace

from gpuwhy.facts.fact import Absent, Fact, Known, Source, Undetermined, Unknown, Why, value_or
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
        filled = replace(facts.loads, **{name: found})
        facts = replace(facts, loads=filled)
    return facts.loads


_EXACTLY = r"([\w.-]+)\s*(?:\[[^]]*\])?\s*\(?==\s*(\d+\.\d+\.\d[\w.]*?)(?:\.\*)?\s*(?:[;)]|$)"


def driver_library(which: str, machine: Machine, facts: Facts) -> Fact[tuple[DriverLibrary, ...]]:
    """Every copy of a driver's library: in the loader's order, then those off its path."""
    system = system_of(facts)
    name = str(getattr(system, which))
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
    trees = {tree.framework: tree for tree in found.value}
    desk = _Desk(machine, facts, system_of(facts), trees, value_or(facts.libraries.copies, ()))
    out = [
        desk.needed(framework, opened)
        for framework in value_or(facts.frameworks.installed, ())
        if framework.name in trees
        for opened in value_or(framework.opens, ())
    ]
    return Known(tuple(out), found.source)


class _Desk(NamedTuple):
    """What every need is judged by."""

    machine: Machine
    facts: Facts
    system: System
    trees: dict[str, LoadTree]
    copies: tuple[LibraryCopy, ...]

    def needed(self, framework: Framework, opened: Opened) -> NeededLibrary:
        """What becomes of one library."""
        system, fold = self.system, self.system.fold
        lost = self.trees[framework.name].missing
        missing = next((one for one in lost if fold(one.name) == fold(opened.name)), None)
        path, found = self._search(framework, opened, missing)
        need = NeededLibrary(
            framework=framework.name,
            name=opened.name,
            optional=opened.optional,
            needed_by=opened.by,
            fate=Fate.UNKNOWN,
            path=path,
            found=found,
            refused=missing.refused if missing and isinstance(path, Unknown) else "",
        )
        if isinstance(path, Known):
            return replace(need, fate=Fate.FOUND)
        if isinstance(path, Unknown):
            return replace(need, fate=Fate.BROKEN) if path.kind == "refused" else need
        same = [one for one in self.copies if fold(one.name) == fold(opened.name)]
        usable = [one.path for one in same if value_or(one.health, Flaw.NONE) is Flaw.NONE]
        processor = value_or(self.facts.system.machine, "")
        not_cached = system.not_cached(self.machine, opened.name, processor)
        seen = isinstance(self.facts.libraries.copies, Known) and not usable
        doubt = system.doubt(isinstance(self.machine.environ(), Known), missing is not None)
        if doubt and not not_cached and not seen:
            return replace(need, path=Unknown(f"{opened.name}: {doubt}"))
        other = [one for one in self.copies if system.stem(one.name) == system.stem(opened.name)]
        others = [one.path for one in other if one not in same]
        return replace(
            need,
            fate=_fate(framework, opened.name, usable, others, not_cached),
            searched=missing.searched if missing else (),
            elsewhere=tuple(one.path for one in same),
            other_versions=tuple(others),
            not_cached=not_cached,
        )

    def _search(
        self, framework: Framework, opened: Opened, missing: MissingLibrary | None
    ) -> tuple[Fact[str], Found | None]:
        """Where a library is found, and how: in the process, or because PyTorch came first."""
        search = Source("call", self.system.SEARCH, opened.name)
        if one := self._mapped(framework.name, opened.name):
            return Known(one.path, Source("file", one.path, str(one.found))), one.found
        if missing and missing.outcome is not Outcome.NOT_THERE:
            kind: Why = "refused" if missing.outcome in self.system.REFUSES else ""
            flawed = f"{missing.outcome.value}: {missing.flaw.value}"
            return Unknown(f"{opened.name}: {flawed}", kind=kind), None
        after_torch = framework.name.replace("-", "_") in _AFTER_TORCH
        if after_torch and (one := self._mapped("torch", opened.name)):
            return Known(one.path, search), one.found
        return Absent(search), None

    def _mapped(self, framework: str, name: str) -> LoadedLibrary | None:
        """What a framework's process has loaded under a name."""
        tree, fold = self.trees.get(framework), self.system.fold
        found = (one for one in tree.libraries if fold(one.name) == fold(name)) if tree else ()
        return next(iter(found), None)


def _fate(
    framework: Framework, name: str, usable: list[str], others: list[str], not_cached: str
) -> Fate:
    """What becomes of a library, by where copies of it lie that the search does not reach."""
    if any(path.startswith(f"{framework.path.rpartition('/')[0]}/") for path in usable):
        return Fate.NOT_SEARCHED
    if usable or not_cached:
        return Fate.OFF_PATH
    names = (path.rpartition("/")[2] for path in others)
    other = any(not one.startswith(f"{name}.") for one in names)  # not its own full name
    return Fate.OTHER_VERSION if other else Fate.MISSING


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
    "libcuda": partial(driver_library, "LIBCUDA"),
    "libnvml": partial(driver_library, "LIBNVML"),
    "trees": trees,
    "needs": needs,
    "extensions": extensions,
}
