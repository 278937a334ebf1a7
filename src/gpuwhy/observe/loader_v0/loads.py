"""Loads: which driver library wins, and what the loader finds for every library that a framework opens."""

from __future__ import annotations

import posixpath

from gpuwhy.host.base import Host
from gpuwhy.observe.loader_v0.outcome import NOT_THERE, Library, Missing, Tried
from gpuwhy.observe.loader_v0.runtimes import old_runtimes
from gpuwhy.observe.loader_v0.systems import Process, System, is_windows, system_of
from gpuwhy.observe.loader_v0.unmet import unmet_symbols
from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown, Why, known, value_or
from gpuwhy.model.facts import (
    DriverLibrary,
    Facts,
    Fate,
    Framework,
    LibraryCopy,
    LoadedLibrary,
    LoadTree,
    MissingLibrary,
    NeededLibrary,
    Opened,
    UnmetSymbol,
)

_AFTER_TORCH = frozenset(
    {"xformers", "flash_attn", "bitsandbytes", "torchvision", "torchaudio", "vllm", "torch_tensorrt"}
)
"""Packages that import PyTorch before they open anything of their own."""


def libcuda(host: Host, facts: Facts) -> Fact[tuple[DriverLibrary, ...]]:
    """Every copy of the driver's CUDA library, in the loader's order, then those it would not find."""
    return _driver_library(host, facts, system_of(facts).LIBCUDA)


def libnvml(host: Host, facts: Facts) -> Fact[tuple[DriverLibrary, ...]]:
    """Every copy of the driver's management library, in the loader's order, then those it would not find."""
    return _driver_library(host, facts, system_of(facts).LIBNVML)


def _driver_library(host: Host, facts: Facts, name: str) -> Fact[tuple[DriverLibrary, ...]]:
    system = system_of(facts)
    world = system.world_of(host, facts)
    if not isinstance(world, Known):
        return world
    found: dict[str, DriverLibrary] = {}
    for one in system.driver_copies(world.value, facts, name):
        found.setdefault(system.fold(one.real), one)
    return Known(tuple(found.values()), Source("call", system.SEARCH, name))


# ---------------------------------------------------------------- what frameworks open


def trees(host: Host, facts: Facts) -> Fact[tuple[LoadTree, ...]]:
    """What the process of each framework would load; on Windows also of a CPU build, which needs the C++ runtime."""
    frameworks, system = facts.target.frameworks, system_of(facts)
    if not isinstance(frameworks, Known):
        return frameworks
    world = system.world_of(host, facts)
    if not isinstance(world, Known):
        return world
    out = [
        tree_of(system.run(world.value, facts, one), system, facts, one.name)
        for one in frameworks.value
        if isinstance(one.opens, Known) and (one.opens.value or is_windows(facts))
    ]
    return Known(tuple(out), Source("call", system.SEARCH, "per framework"))


def tree_of(process: Process, system: System, facts: Facts, name: str) -> LoadTree:
    """The record of a process: its GPU libraries, what is missing, and which symbols are unmet."""
    copies = {system.fold(copy.real): copy for copy in _copies(facts)}
    kept = [one for one in process.loaded if system.concerns_gpu(one.path)]
    missing = [one for one in _seriously(process, system) if system.matters(one)]
    return LoadTree(
        framework=name,
        libraries=tuple(_loaded(process.host, system, one, copies.get(system.fold(one.real))) for one in kept),
        missing=tuple(_missing(process.host, system, facts, one) for one in missing),
        unmet=tuple(neat_unmet(process.host, one) for one in unmet_symbols(process, system)),
        old=old_runtimes(process),
    )


def _seriously(process: Process, system: System) -> list[Missing]:
    """What is missing; without even the C library these are no whole system's files, and its libraries do not count."""
    if all(one.name != "libc.so.6" for one in process.missing):
        return process.missing
    return [one for one in process.missing if system.concerns_gpu(one.name)]


def _missing(host: Host, system: System, facts: Facts, one: Missing) -> MissingLibrary:
    at = _neat(host, one.refused.path) if one.refused else ""
    named = system.unlisted(host, one.name, value_or(facts.surroundings.machine, "")) if not at else ""
    return MissingLibrary(one.name, one.needed_by, one.why, _folders(one.tried), one.fate, at, named)


def _copies(facts: Facts) -> tuple[LibraryCopy, ...]:
    return value_or(facts.libraries.copies, ())


def neat_unmet(host: Host, one: UnmetSymbol) -> UnmetSymbol:
    """The same, its two files named as everywhere else."""
    return UnmetSymbol(_neat(host, one.library), _neat(host, one.provider), one.symbols, one.count)


def _loaded(host: Host, system: System, one: Library, copy: LibraryCopy | None) -> LoadedLibrary:
    name, path = one.name.rpartition("/")[2], _neat(host, one.path)
    told: Fact[str] = copy.version if copy else Unknown("not among the CUDA libraries")
    own = host.cuda_version(path) if system.tells(name, copy) else told
    return LoadedLibrary(
        name=name,
        path=path,
        via=posixpath.normpath(one.via) if one.via.startswith("/") else one.via,
        needed_by=one.needed_by,
        version=own if isinstance(own, Known) else told,
        owner=copy.owner if copy else Unknown("not among the CUDA libraries"),
    )


def needs(host: Host, facts: Facts) -> Fact[tuple[NeededLibrary, ...]]:
    """Every library that a framework opens by name, and what its load tree says of it."""
    found = facts.loads.trees
    if not isinstance(found, Known):
        return found
    by_name = {tree.framework: tree for tree in found.value}
    frameworks = facts.target.frameworks
    sees_variables = isinstance(host.environ(), Known)
    out = [
        _needed(host, facts, framework, opened, by_name, sees_variables)
        for framework in value_or(frameworks, ())
        if framework.name in by_name and isinstance(framework.opens, Known)
        for opened in framework.opens.value
    ]
    return Known(tuple(out), found.source)


def _needed(
    host: Host, facts: Facts, framework: Framework, opened: Opened, trees: dict[str, LoadTree], sees_variables: bool
) -> NeededLibrary:
    system, copies = system_of(facts), _copies(facts)
    missing = _missing_of(trees[framework.name], system, opened.name)
    found, via = _search(facts, framework, opened, trees, missing)
    forgotten = ""
    if isinstance(found, Absent) and not via:
        forgotten = system.unlisted(host, opened.name, value_or(facts.surroundings.machine, ""))
        doubt = system.doubt(sees_variables, missing is not None)
        if doubt and not forgotten and not _no_copy(facts, system, opened.name):
            found = Unknown(f"{opened.name}: {doubt}")
    lost = isinstance(found, Absent)
    return NeededLibrary(
        framework=framework.name,
        name=opened.name,
        optional=opened.optional,
        needed_by=opened.by,
        found=found,
        found_via=via,
        searched=missing.searched if lost and missing else (),
        elsewhere=_elsewhere(system, copies, opened.name) if lost else (),
        other_versions=_others(system, copies, opened.name) if lost else (),
        refused=missing.refused if missing and isinstance(found, Unknown) else "",
        unlisted=forgotten if lost else "",
    )


def _no_copy(facts: Facts, system: System, name: str) -> bool:
    """Whether every usual place was looked at, and none has a copy that would do, wherever the search may lead."""
    copies = facts.libraries.copies
    same = [one for one in value_or(copies, ()) if system.fold(one.name) == system.fold(name)]
    return isinstance(copies, Known) and all(one.fault for one in same)


def _missing_of(tree: LoadTree, system: System, name: str) -> MissingLibrary | None:
    return next((one for one in tree.missing if system.fold(one.name) == system.fold(name)), None)


def _elsewhere(system: System, copies: tuple[LibraryCopy, ...], name: str) -> tuple[str, ...]:
    """The copies of that very name."""
    return tuple(copy.path for copy in copies if system.fold(copy.name) == system.fold(name))


def _search(
    facts: Facts, framework: Framework, opened: Opened, trees: dict[str, LoadTree], missing: MissingLibrary | None
) -> tuple[Fact[str], str]:
    """Where a library is found, and how: in the process, by the framework itself, or because PyTorch came first."""
    system, search = system_of(facts), Source("call", system_of(facts).SEARCH, opened.name)
    wanted = system.fold(opened.name)
    if loaded := _mapped(system, trees[framework.name], wanted):
        return known(loaded.path, "file", loaded.path, loaded.via), loaded.via
    if missing and missing.fate is not Fate.NOT_THERE:
        kind: Why = "refused" if missing.fate in system.REFUSES else ""
        return Unknown(f"{opened.name}: {missing.why}", kind=kind), ""
    follows = framework.name.replace("-", "_") in _AFTER_TORCH
    if follows and (torch := _mapped(system, trees.get("torch"), wanted)):
        return Known(torch.path, search), "already loaded by PyTorch"
    return Absent(search), ""


def _mapped(system: System, tree: LoadTree | None, wanted: str) -> LoadedLibrary | None:
    """What a process has loaded under a name."""
    return next((one for one in tree.libraries if system.fold(one.name) == wanted), None) if tree else None


def _folders(tries: tuple[Tried, ...]) -> tuple[str, ...]:
    """Each folder once, in order, with why it was searched and what was skipped there."""
    out: dict[str, None] = {}
    for tried in tries:
        note = "" if tried.outcome == NOT_THERE else f", {tried.outcome}"
        folder = posixpath.normpath(tried.path.rpartition("/")[0] or "/")
        out.setdefault(f"{folder} ({tried.why}{note})")
    return tuple(out)


def _others(system: System, copies: tuple[LibraryCopy, ...], name: str) -> tuple[str, ...]:
    """Copies of the same library with another SONAME."""
    return tuple(
        copy.path
        for copy in copies
        if system.stem(copy.name) == system.stem(name) and system.fold(copy.name) != system.fold(name)
    )


def _neat(host: Host, path: str) -> str:
    """`…/tensorflow/../nvidia/cudnn/lib/x` as `…/nvidia/cudnn/lib/x`, where both lead to the same file."""
    if "/../" not in path:
        return path
    neat = posixpath.normpath(path)
    left, right = host.real(path), host.real(neat)
    same = isinstance(left, Known) and isinstance(right, Known) and left.value == right.value
    return neat if same else path
