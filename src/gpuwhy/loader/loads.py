"""Loads: which driver library wins, and what the loader finds for every library that a framework opens."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Literal

from gpuwhy.host.base import Host
from gpuwhy.loader.frameworks import run
from gpuwhy.loader.glibc import Tried, World, candidates, glibc_version, look_at, tidy
from gpuwhy.loader.process import Loaded, Process
from gpuwhy.loader.unmet import concerns_gpu, unmet_symbols
from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown, known
from gpuwhy.model.facts import (
    DriverLibrary,
    Facts,
    Framework,
    LibraryCopy,
    LoadedLibrary,
    LoadTree,
    MissingLibrary,
    NeededLibrary,
    Opened,
    UnmetSymbol,
)

_SUFFIX = re.compile(r"\.so\.(\d[\d.]*\.\d[\d.]*)$")  # libcuda.so.580.159.04, never libcuda.so.1
_STUB_BYTES = 1 << 20  # a real driver library has tens of MB, the toolkit's stub some 70 KB
_WSL = "/usr/lib/wsl/"
_ASIDE = ("/usr/lib/wsl/lib", "/usr/local/nvidia/lib64", "/usr/local/nvidia/lib", "/usr/local/cuda/compat")
_CUDNN_TELLS = re.compile(r"libcudnn_(graph|ops|adv|ops_infer|cnn_infer|adv_infer)\.so")
_AFTER_TORCH = frozenset(
    {"xformers", "flash_attn", "bitsandbytes", "torchvision", "torchaudio", "vllm", "torch_tensorrt"}
)
"""Packages that import PyTorch before they open anything of their own."""
_BY_PATHFINDER = frozenset({"cupy"})  # frameworks that look through the nvidia wheels by themselves


def world_of(host: Host, facts: Facts) -> Fact[World]:
    """What the search depends on; Unknown where the C library is not glibc or its variables were not seen."""
    libc, machine = facts.surroundings.libc, facts.surroundings.machine
    if isinstance(libc, Known) and libc.value.startswith("musl"):
        return Unknown("the C library is musl, whose loader searches in another way")
    if not isinstance(machine, Known):
        return Unknown("this machine's architecture is not known")
    environ = host.environ()
    variables = environ.value if isinstance(environ, Known) else {}
    world = World(
        host,
        machine.value,
        library_path=variables.get("LD_LIBRARY_PATH", ""),
        preload=variables.get("LD_PRELOAD", ""),
        glibc=glibc_version(libc.value if isinstance(libc, Known) else ""),
    )
    return known(world, "call", "loader", "LD_LIBRARY_PATH, ld.so.cache, default folders")


# ---------------------------------------------------------------- driver libraries


def libcuda(host: Host, facts: Facts) -> Fact[tuple[DriverLibrary, ...]]:
    """Every copy of libcuda, in the loader's order, then those it would not find."""
    return _driver_library(host, facts, "libcuda.so.1")


def libnvml(host: Host, facts: Facts) -> Fact[tuple[DriverLibrary, ...]]:
    """Every copy of libnvidia-ml, in the loader's order, then those it would not find."""
    return _driver_library(host, facts, "libnvidia-ml.so.1")


def _driver_library(host: Host, facts: Facts, name: str) -> Fact[tuple[DriverLibrary, ...]]:
    world = world_of(host, facts)
    if not isinstance(world, Known):
        return world if isinstance(world, Unknown) else Unknown("no loader")
    found: dict[str, DriverLibrary] = {}
    for path, via in (*candidates(world.value, name, None), *_aside(facts, name)):
        one = _copy(world.value, name, path, via)
        if one and one.real not in found:
            found[one.real] = one
    return Known(tuple(found.values()), Source("call", "loader search", name))


def _aside(facts: Facts, name: str) -> Iterator[tuple[str, str]]:
    """Places where copies lie that no loader finds by itself: WSL, compat packages, toolkit stubs."""
    plain = name.removesuffix(".1")
    for folder in _ASIDE:
        yield f"{folder}/{name}", "not on the search path"
    toolkits = facts.toolkits.toolkits
    for toolkit in toolkits.value if isinstance(toolkits, Known) else ():
        yield f"{toolkit.path}/compat/{name}", "not on the search path"
        yield f"{toolkit.path}/lib64/stubs/{plain}", "not on the search path"


def _copy(world: World, name: str, path: str, via: str) -> DriverLibrary | None:
    stat = world.host.stat(path)
    if isinstance(stat, Absent):
        return None
    resolved = world.host.real(path)
    real = resolved.value if isinstance(resolved, Known) else path
    size = stat.value.size if isinstance(stat, Known) else 0
    outcome = look_at(world, path)
    health = "ok" if outcome == "found" else outcome
    elf = world.host.elf(path)
    if outcome == "found" and isinstance(elf, Known) and elf.value.extent > size:
        health = f"truncated: needs {elf.value.extent} bytes, has {size}"
    return DriverLibrary(
        name=name,
        path=path,
        real=real,
        found_via=via,
        kind=_kind(path, real, size),
        version=_version(world.host, real),
        health=known(health, "file", real),
    )


def _kind(path: str, real: str, size: int) -> Literal["driver", "stub", "compat", "wsl"]:
    both = f"{path} {real}"
    if "/stubs/" in both:
        return "stub"
    if _WSL in both:
        return "wsl"
    if "/compat/" in both or "/cuda-compat" in both or "/forward-compat" in both:
        return "compat"
    return "stub" if 0 < size < _STUB_BYTES else "driver"


def _version(host: Host, real: str) -> Fact[str]:
    """The version in the file's own name, or in that of its only versioned sibling."""
    match = _SUFFIX.search(real)
    if match:
        return known(match.group(1), "file", real)
    folder, _, name = real.rpartition("/")
    stem = name.split(".so")[0]
    siblings = host.list(folder, re.escape(stem) + r"\.so\.\d+\.\d")
    versions = (
        {m.group(1) for e in siblings.value if (m := _SUFFIX.search(e.name))} if isinstance(siblings, Known) else set()
    )
    if len(versions) == 1:
        return known(versions.pop(), "folder", folder, "the versioned file beside it")
    return Unknown(f"{real}: no version in its name")


# ---------------------------------------------------------------- what frameworks open


def trees(host: Host, facts: Facts) -> Fact[tuple[LoadTree, ...]]:
    """What the process of each framework would load."""
    frameworks = facts.target.frameworks
    if not isinstance(frameworks, Known):
        return frameworks
    world = world_of(host, facts)
    if not isinstance(world, Known):
        return world
    out = [
        tree_of(run(world.value, facts, one), facts, one.name)
        for one in frameworks.value
        if isinstance(one.opens, Known) and one.opens.value
    ]
    return Known(tuple(out), Source("call", "loader search", "per framework"))


def tree_of(process: Process, facts: Facts, name: str) -> LoadTree:
    """The record of a process: its GPU libraries, what is missing, and which symbols are unmet."""
    copies = facts.libraries.copies.value if isinstance(facts.libraries.copies, Known) else ()
    by_real = {c.real: c for c in copies}
    kept = [one for one in process.loaded if concerns_gpu(one.path)]
    return LoadTree(
        framework=name,
        libraries=tuple(_loaded(process.world.host, one, by_real.get(one.real)) for one in kept),
        missing=tuple(
            MissingLibrary(m.name, m.needed_by, m.why, _folders(m.tried))
            for m in process.missing
            if concerns_gpu(m.name) or "/libcudnn" in m.needed_by
        ),
        unmet=tuple(neat_unmet(process.world.host, one) for one in unmet_symbols(process)),
    )


def neat_unmet(host: Host, one: UnmetSymbol) -> UnmetSymbol:
    """The same, its two files named as everywhere else."""
    asker, provider = (_neat(host, known(path, "file", path)).need() or path for path in (one.library, one.provider))
    return UnmetSymbol(asker, provider, one.symbols, one.count)


def _loaded(host: Host, one: Loaded, copy: LibraryCopy | None) -> LoadedLibrary:
    path = _neat(host, known(one.path, "file", one.path)).need() or one.path
    via = posixpath.normpath(one.via) if one.via.startswith("/") else one.via
    return LoadedLibrary(
        name=one.name.rpartition("/")[2],
        path=path,
        via=via,
        needed_by=one.needed_by,
        version=_exact(host, path, copy),
        owner=copy.owner if copy else Unknown("not among the CUDA libraries"),
    )


def _exact(host: Host, path: str, copy: LibraryCopy | None) -> Fact[str]:
    """The file's own word for those parts of cuDNN that carry their version, and where nothing else tells."""
    if copy is None:
        return Unknown("not among the CUDA libraries")
    if isinstance(copy.version, Known) and not _CUDNN_TELLS.match(copy.name):
        return copy.version
    own = host.cuda_version(path)
    return own if isinstance(own, Known) else copy.version


def needs(host: Host, facts: Facts) -> Fact[tuple[NeededLibrary, ...]]:
    """Every library that a framework opens by name, and what its load tree says of it."""
    found = facts.loads.trees
    if not isinstance(found, Known):
        return found
    by_name = {tree.framework: tree for tree in found.value}
    frameworks = facts.target.frameworks
    sure = isinstance(host.environ(), Known)
    out = [
        _needed(facts, framework, opened, by_name[framework.name], sure, by_name.get("torch"))
        for framework in (frameworks.value if isinstance(frameworks, Known) else ())
        if framework.name in by_name and isinstance(framework.opens, Known)
        for opened in framework.opens.value
    ]
    return Known(tuple(out), found.source)


def _needed(
    facts: Facts, framework: Framework, opened: Opened, tree: LoadTree, sure: bool, torch: LoadTree | None
) -> NeededLibrary:
    loaded = next((one for one in tree.libraries if one.name == opened.name), None)
    missing = next((one for one in tree.missing if one.name == opened.name), None)
    copies = facts.libraries.copies.value if isinstance(facts.libraries.copies, Known) else ()
    same = [c for c in copies if c.name == opened.name]
    found, via = _outcome(framework, opened, loaded, missing, same)
    if isinstance(found, Absent) and torch is not None and framework.name.replace("-", "_") in _AFTER_TORCH:
        mapped = next((one for one in torch.libraries if one.name == opened.name), None)
        found, via = (Known(mapped.path, found.source), "already loaded by PyTorch") if mapped else (found, via)
    if isinstance(found, Absent) and not sure:
        found = Unknown(f"{opened.name}: not in the cache or default folders, and LD_LIBRARY_PATH was not seen")
    lost = isinstance(found, Absent)
    return NeededLibrary(
        framework=framework.name,
        name=opened.name,
        optional=opened.optional,
        needed_by=opened.by,
        found=found,
        found_via=via,
        searched=missing.searched if lost and missing else (),
        elsewhere=tuple(c.path for c in same) if lost else (),
        other_versions=_others(copies, opened.name) if lost else (),
    )


def _outcome(
    framework: Framework,
    opened: Opened,
    loaded: LoadedLibrary | None,
    missing: MissingLibrary | None,
    same: list[LibraryCopy],
) -> tuple[Fact[str], str]:
    if loaded:
        return known(loaded.path, "file", loaded.path, loaded.via), loaded.via
    same = [c for c in same if c.where == "wheel" and isinstance(c.health, Known) and c.health.value == "ok"]
    if framework.name in _BY_PATHFINDER and same:
        return known(same[0].path, "file", same[0].path), "the framework's own search through the nvidia wheels"
    if missing and missing.why.startswith("stops"):
        return Unknown(f"{opened.name}: {missing.why}"), ""
    return Absent(Source("call", "loader search", opened.name)), ""


def _folders(tries: tuple[Tried, ...]) -> tuple[str, ...]:
    """Each folder once, in order, with why it was searched and what was skipped there."""
    out: dict[str, None] = {}
    for tried in tries:
        note = "" if tried.outcome == "not there" else f", {tried.outcome}"
        folder = posixpath.normpath(tried.path.rpartition("/")[0] or "/")
        out.setdefault(f"{folder} ({tried.why}{note})")
    return tuple(out)


def _others(copies: tuple[LibraryCopy, ...], name: str) -> tuple[str, ...]:
    stem = name.split(".so")[0]
    return tuple(c.path for c in copies if c.name.split(".so")[0] == stem and c.name != name)


def _neat(host: Host, found: Fact[str]) -> Fact[str]:
    """`…/tensorflow/../nvidia/cudnn/lib/x` as `…/nvidia/cudnn/lib/x`, where both lead to the same file."""
    if not isinstance(found, Known) or "/../" not in found.value:
        return found
    neat = tidy(posixpath.normpath(found.value))
    left, right = host.real(found.value), host.real(neat)
    same = isinstance(left, Known) and isinstance(right, Known) and left.value == right.value
    return Known(neat, found.source) if same else found
