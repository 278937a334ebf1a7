"""Loads: which driver library wins, and what the loader finds for every library that is opened."""

import posixpath
import re
from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec.structs import replace

from gpuwhy.facts.fact import Absent, Fact, Known, Source, Undetermined, Unknown, Why, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.frameworks import Framework, Opened
from gpuwhy.facts.libraries import Flaw
from gpuwhy.facts.loads import (
    DriverLibrary,
    Fate,
    LoadedLibrary,
    Loads,
    LoadTree,
    MissingLibrary,
    NeededLibrary,
    Outcome,
    UnmetSymbol,
)
from gpuwhy.loader.outcome import NOT_THERE, Library, Tried
from gpuwhy.loader.symbols import extensions, old_runtimes, unmet_symbols
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


def driver_library(which: str, machine: Machine, facts: Facts) -> Fact[tuple[DriverLibrary, ...]]:
    """Every copy of a driver's library: in the loader's order, then those off its path."""
    system = system_of(facts)
    name = str(getattr(system, which))
    world: Fact[Any] = system.world_of(machine, facts)
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
    world: Fact[Any] = system.world_of(machine, facts)
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
    machine, processor = process.machine, value_or(facts.system.machine, "")
    copies = {system.fold(one.real): one for one in value_or(facts.libraries.copies, ())}
    unlisted = Unknown("not among the CUDA libraries")
    libraries = []
    for one in process.loaded:
        if not system.concerns_gpu(one.path):
            continue
        path, copy = tidied(machine, one.path), copies.get(system.fold(one.real))
        stated: Fact[str] = copy.version if copy else unlisted
        own = machine.cuda_version(path) if system.tells(one.name, copy) else stated
        version, owner = own if isinstance(own, Known) else stated, copy.owner if copy else unlisted
        short = one.name.rpartition("/")[2]
        libraries.append(LoadedLibrary(short, path, one.rule, one.needed_by, version, owner))
    # without the C library these are not the files of a whole system
    partial_system = any(lost.name == "libc.so.6" for lost in process.missing)
    missing = []
    for lost in process.missing:
        if not system.matters(lost) or (partial_system and not system.concerns_gpu(lost.name)):
            continue
        at = tidied(machine, lost.refused.path) if lost.refused else ""
        named = "" if at else system.not_cached(machine, lost.name, processor)
        folders, met = _folders(lost.tried), lost.met
        missing.append(
            MissingLibrary(lost.name, lost.needed_by, folders, met.outcome, at, met.flaw, named)
        )
    unmet = unmet_symbols(process, system, _pinned(facts, name))
    return LoadTree(
        framework=name,
        libraries=tuple(libraries),
        missing=tuple(missing),
        unmet=tuple(tidy_unmet(machine, one) for one in unmet),
        old=old_runtimes(process),
    )


_EXACTLY = r"([\w.-]+)\s*(?:\[[^]]*\])?\s*\(?==\s*(\d+\.\d+\.\d[\w.]*?)(?:\.\*)?\s*(?:[;)]|$)"


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


def tidy_unmet(machine: Machine, one: UnmetSymbol) -> UnmetSymbol:
    """The same, its two files named as everywhere else."""
    asker, provider = tidied(machine, one.library), tidied(machine, one.provider)
    return UnmetSymbol(asker, provider, one.symbols, one.count)


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


# ---------------------------------------------------------------- what each need becomes


def needs(machine: Machine, facts: Facts) -> Fact[tuple[NeededLibrary, ...]]:
    """Every library that a framework opens by name, and what its load tree says of it."""
    found = facts.loads.trees
    if not isinstance(found, Known):
        return found
    trees = {tree.framework: tree for tree in found.value}
    out = [
        _needed(machine, facts, trees, framework, opened)
        for framework in value_or(facts.frameworks.installed, ())
        if framework.name in trees
        for opened in value_or(framework.opens, ())
    ]
    return Known(tuple(out), found.source)


def _needed(
    machine: Machine,
    facts: Facts,
    trees: dict[str, LoadTree],
    framework: Framework,
    opened: Opened,
) -> NeededLibrary:
    """What becomes of one library: it is in the process, refused, or where copies of it lie."""
    system = system_of(facts)
    fold, name = system.fold, opened.name
    search = Source("call", system.SEARCH, name)
    need = NeededLibrary(
        framework=framework.name,
        name=name,
        optional=opened.optional,
        needed_by=opened.by,
        fate=Fate.FOUND,
        path=Absent(search),
    )
    tree = trees[framework.name]
    if one := _mapped(tree, system, name):
        path = Known(one.path, Source("file", one.path, str(one.found)))
        return replace(need, path=path, found=one.found)
    missing = next((one for one in tree.missing if fold(one.name) == fold(name)), None)
    if missing and missing.outcome is not Outcome.NOT_THERE:
        refused = missing.outcome in system.REFUSES
        kind: Why = "refused" if refused else ""
        flawed = f"{name}: {missing.outcome.value}: {missing.flaw.value}"
        fate = Fate.BROKEN if refused else Fate.UNKNOWN
        return replace(need, fate=fate, path=Unknown(flawed, kind=kind), refused=missing.refused)
    torch = trees.get("torch") if framework.name.replace("-", "_") in _AFTER_TORCH else None
    if torch and (one := _mapped(torch, system, name)):
        return replace(need, path=Known(one.path, search), found=one.found)
    processor = value_or(facts.system.machine, "")
    not_cached = system.not_cached(machine, name, processor)
    searched = isinstance(machine.environ(), Known) or (missing is not None and is_windows(facts))
    need = replace(need, searched=missing.searched if missing else (), not_cached=not_cached)
    return _lost(need, framework, facts, "" if searched else system.UNSEEN)


def _lost(need: NeededLibrary, framework: Framework, facts: Facts, unseen: str) -> NeededLibrary:
    """The same of what is not found: by where copies of it lie that the search does not reach."""
    system, name, known = system_of(facts), need.name, facts.libraries.copies
    stem, folded = system.stem(name), system.fold(name)
    alike = [one for one in value_or(known, ()) if system.stem(one.name) == stem]
    same = [one for one in value_or(known, ()) if system.fold(one.name) == folded]
    usable = [one.path for one in same if value_or(one.health, Flaw.NONE) is Flaw.NONE]
    if unseen and not need.not_cached and (usable or not isinstance(known, Known)):
        unknown = Unknown(f"{name}: {unseen}")
        return replace(need, fate=Fate.UNKNOWN, path=unknown, searched=())
    others = [one.path for one in alike if one not in same]
    # libx.so.1.2 is libx.so.1 by its own full name
    another = any(not path.rpartition("/")[2].startswith(f"{name}.") for path in others)
    fate = Fate.OTHER_VERSION if another else Fate.MISSING
    if any(path.startswith(f"{framework.path.rpartition('/')[0]}/") for path in usable):
        fate = Fate.NOT_SEARCHED
    elif usable or need.not_cached:
        fate = Fate.OFF_PATH
    elsewhere = tuple(one.path for one in same)
    return replace(need, fate=fate, elsewhere=elsewhere, other_versions=tuple(others))


def _mapped(tree: LoadTree, system: System, name: str) -> LoadedLibrary | None:
    """What a framework's process has loaded under a name."""
    return next((x for x in tree.libraries if system.fold(x.name) == system.fold(name)), None)


_STEPS: dict[str, Callable[[Machine, Facts], Fact[Any]]] = {
    "libcuda": partial(driver_library, "LIBCUDA"),
    "libnvml": partial(driver_library, "LIBNVML"),
    "trees": trees,
    "needs": needs,
    "extensions": extensions,
}
