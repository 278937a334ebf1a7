"""Hardware capabilities: the subfolders that glibc prefers, by its version and the processor.

glibc 2.33 and newer search `glibc-hwcaps/x86-64-v4` and so on; glibc before 2.37 the legacy folders
(`tls/haswell`, …). Of processors other than x86_64 none is computed.
"""

from __future__ import annotations

from itertools import product

import msgspec

from gpuwhy.facts.fact import Fact, Known
from gpuwhy.formats.ldcache import CacheEntry
from gpuwhy.machine.machine import Entry, Machine

NAMED_SINCE, LEGACY_UNTIL = (2, 33), (2, 37)
SUBFOLDERS = r"(glibc-hwcaps|tls|x86_64|haswell|xeon_phi|avx512_1)$"
"""What is asked of a search folder: whether it exists, and its preferred subfolders."""

_LEVELS = (
    ("x86-64-v2", frozenset({"cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"})),
    ("x86-64-v3", frozenset({"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"})),
    ("x86-64-v4", frozenset({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})),
)
_HASWELL = frozenset({"avx2", "bmi1", "bmi2", "abm", "movbe", "popcnt", "fma"})
_AVX512_1 = frozenset({"avx512cd", "avx512bw", "avx512dq", "avx512vl"})
_XEON_PHI = frozenset({"avx512cd", "avx512er", "avx512pf"})
# Bits of a cache entry's legacy `hwcap` (glibc's dl-hwcap.h for x86).
_BITS = {"x86_64": 1 << 1, "avx512_1": 1 << 2, "tls": 1 << 63}
_PLATFORMS = {"haswell": 1 << 50, "xeon_phi": 1 << 51}
_ANY_PLATFORM = 0xF << 48


class Cpu(msgspec.Struct, frozen=True):
    """What glibc makes of a processor: levels, best first, and words of the legacy folders."""

    levels: tuple[str, ...] = ()
    platform: str = "x86_64"
    words: tuple[str, ...] = ("x86_64",)  # highest bit first


def cpu_of(machine: Machine) -> Cpu:
    """The processor by /proc/cpuinfo; one that was not seen counts as the plainest."""
    said = machine.lines("/proc/cpuinfo", "flags\t", "vendor_id\t")
    lines = said.value[:8] if isinstance(said, Known) else ()
    fields = {line.split("\t")[0]: line.partition(": ")[2] for line in lines if ": " in line}
    flags = frozenset(fields.get("flags", "").split())
    levels: list[str] = []
    for level, wanted in _LEVELS:
        if not wanted <= flags:
            break
        levels.insert(0, level)
    if (
        fields.get("vendor_id") != "GenuineIntel"
    ):  # glibc names platforms for Intel's processors only
        return Cpu(tuple(levels))
    phi = flags >= _XEON_PHI
    wide = flags >= _AVX512_1 and "avx512er" not in flags
    platform = "xeon_phi" if phi else "haswell" if flags >= _HASWELL else "x86_64"
    return Cpu(tuple(levels), platform, ("avx512_1", "x86_64") if wide else ("x86_64",))


def subfolders(
    machine: Machine, glibc: tuple[int, int], listed: Fact[tuple[Entry, ...]]
) -> tuple[str, ...]:
    """The subfolders to search before a folder itself, in order, given which of them it has."""
    if not isinstance(listed, Known) or not listed.value:
        return ()
    there = {entry.name for entry in listed.value}
    cpu = cpu_of(machine)
    named = [f"glibc-hwcaps/{level}" for level in cpu.levels] if glibc >= NAMED_SINCE else []
    every = named + (legacy(cpu) if glibc < LEGACY_UNTIL else [])
    return tuple(path for path in dict.fromkeys(every) if path.split("/")[0] in there)


def legacy(cpu: Cpu) -> list[str]:
    """Every choice of the words, longest first: tls/haswell/x86_64, tls/haswell, tls, …"""
    words = ("tls", cpu.platform, *cpu.words)
    chosen = product((True, False), repeat=len(words))
    paths = (
        "/".join(word for word, take in zip(words, choice, strict=True) if take)
        for choice in chosen
    )
    return [path for path in paths if path]


def best_entry(
    machine: Machine, glibc: tuple[int, int], entries: list[CacheEntry]
) -> CacheEntry | None:
    """The entry that glibc takes: the one of the best named level, else the first that fits."""
    if len(entries) == 1 and not entries[0].hwcap:
        return entries[0]
    cpu = cpu_of(machine) if entries else Cpu()
    levels = cpu.levels if glibc >= NAMED_SINCE else ()
    usable = [entry for entry in entries if entry.level in levels]
    if usable:
        return min(usable, key=lambda entry: levels.index(entry.level))
    allowed, platforms = 0, {0}
    if glibc < LEGACY_UNTIL:
        allowed = _BITS["tls"] | _ANY_PLATFORM | sum(_BITS[word] for word in cpu.words)
        platforms = {0, _PLATFORMS.get(cpu.platform, 0)}
    fitting = (
        entry
        for entry in entries
        if not entry.level
        and not entry.hwcap & ~allowed
        and entry.hwcap & _ANY_PLATFORM in platforms
    )
    return next(fitting, None)
