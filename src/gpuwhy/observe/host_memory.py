"""Host memory: RAM, the control group's limit, /dev/shm, and the disks that caches are written to."""

from __future__ import annotations

import re

from gpuwhy.host.base import Disk, Host
from gpuwhy.model.fact import Fact, Known, Unknown, absent, known, value_or
from gpuwhy.model.facts import Memory, Space
from gpuwhy.observe.cgroup import own_folders
from gpuwhy.observe.scene import Scene

_FILES = (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes"))  # version 2, 1
_PLACES = ("~/.nv/ComputeCache", "~/.cache", "/tmp")
_PLACE_VARIABLES = (
    "CUDA_CACHE_PATH", "CUPY_CACHE_DIR", "JAX_COMPILATION_CACHE_DIR", "NUMBA_CACHE_DIR", "TORCH_EXTENSIONS_DIR",
    "TORCH_HOME", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR",
)  # fmt: skip
_DRIFT = 64 << 20  # free space may change this much between two questions to one file system


def memory(scene: Scene) -> Fact[Memory]:
    """RAM in total and available to new programs, and how much of the group's limit is used."""
    said = scene.host.lines("/proc/meminfo", "MemTotal:", "MemAvailable:", "MemFree:", "Buffers:", "Cached:")
    if not isinstance(said, Known):
        return said
    kib = {m[1]: int(m[2]) << 10 for m in (re.match(r"(\w+):\s+(\d{1,15}) kB", line) for line in said.value) if m}
    if "MemTotal" not in kib:
        return Unknown("/proc/meminfo: no MemTotal")
    old = sum(kib.get(name, 0) for name in ("MemFree", "Buffers", "Cached"))  # kernels before 3.14
    limit, used = _limit(scene.host, kib["MemTotal"])
    return Known(Memory(kib["MemTotal"], kib.get("MemAvailable", old), limit, used), said.source)


def _limit(host: Host, total: int) -> tuple[Fact[int], Fact[int]]:
    """The tightest limit among our group and its parents, and what cannot be freed of its use."""
    tightest: tuple[int, Fact[int], Fact[int]] | None = None
    for folder in own_folders(host, "memory"):
        for limit_file, used_file in _FILES:
            limit = _bytes(host.read(f"{folder}/{limit_file}"))
            if isinstance(limit, Unknown):
                return limit, limit
            if isinstance(limit, Known) and limit.value < total:
                used = _held(host, folder, used_file)
                left = limit.value - used.value if isinstance(used, Known) else limit.value
                if tightest is None or left < tightest[0]:
                    tightest = (left, limit, used)
    if tightest is None:
        none = absent("file", "memory.max", "no limit below the host's memory")
        return none, none
    return tightest[1], tightest[2]


def _bytes(fact: Fact[str]) -> Fact[int]:
    if not isinstance(fact, Known):
        return fact
    text = fact.value.strip()
    if text == "max":
        return absent("file", fact.source.where, "max")
    return Known(int(text), fact.source) if re.fullmatch(r"\d{1,20}", text) else Unknown(f"{fact.source}: no number")


def _held(host: Host, folder: str, used_file: str) -> Fact[int]:
    """Use without the file cache, which the kernel drops before it kills."""
    used = _bytes(host.read(f"{folder}/{used_file}"))
    stat = host.lines(f"{folder}/memory.stat", "active_file ")
    if not isinstance(used, Known) or not isinstance(stat, Known):
        return used
    fields = {m[1]: int(m[2]) for m in (re.match(r"(\w+) (\d{1,20})$", line) for line in stat.value) if m}
    prefix = "total_" if "total_active_file" in fields else ""
    cache = fields.get(f"{prefix}active_file", 0) + fields.get(f"{prefix}inactive_file", 0)
    return Known(max(0, used.value - cache), used.source)


def shm(scene: Scene) -> Fact[Space]:
    """Shared memory, through which data loaders and NCCL pass tensors."""
    return _space(scene.host.disk("/dev/shm"), "/dev/shm")


def _space(fact: Fact[Disk], path: str) -> Fact[Space]:
    return Known(Space(path, fact.value.total, fact.value.free), fact.source) if isinstance(fact, Known) else fact


def disks(scene: Scene) -> Fact[tuple[Space, ...]]:
    """The distinct file systems that CUDA and the frameworks write their caches to."""
    kept: list[Space] = []
    unseen: list[Unknown] = []
    for place in dict.fromkeys((*_PLACES, *_named_places(scene))):
        found = _nearest(scene.host, place)
        if isinstance(found, Unknown):
            unseen.append(found)
        elif isinstance(found, Known) and not any(_same(found.value, other) for other in kept):
            kept.append(found.value)
    if unseen and not kept:
        return unseen[0]
    return known(tuple(kept), "call", "statvfs", ", ".join(space.path for space in kept))


def _named_places(scene: Scene) -> list[str]:
    """Folders that variables name."""
    variables = value_or(scene.host.environ(), {})
    named = [variables.get(name, "") for name in _PLACE_VARIABLES]
    return [place for place in named if place.startswith(("/", "~/"))]


def _nearest(host: Host, path: str) -> Fact[Space]:
    """The file system of a path, or of the nearest folder above it that exists."""
    while True:
        found = _space(host.disk(path), path)
        above = path.rpartition("/")[0]
        if isinstance(found, (Known, Unknown)) or not above:
            return found
        path = above


def _same(one: Space, other: Space) -> bool:
    return one.total == other.total and abs(one.free - other.free) < _DRIFT
