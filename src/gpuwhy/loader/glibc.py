"""glibc's search for a library name, in glibc's order.

DT_RPATH of the asker and of those who loaded it (only while the asker has no DT_RUNPATH),
LD_LIBRARY_PATH, DT_RUNPATH of the asker alone, ld.so.cache, default folders. A file for another
machine, a dangling link or an unreadable file is skipped; an empty, truncated or text file stops
the search, as in glibc. docs/loader.md has the proofs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

import msgspec

from gpuwhy.facts.fact import Absent, Fact, Known, Source, Unknown
from gpuwhy.facts.libraries import Flaw
from gpuwhy.facts.loads import Found, Outcome, Rule
from gpuwhy.formats.elf import Elf
from gpuwhy.formats.ldcache import CacheEntry
from gpuwhy.loader.outcome import FOUND, NOT_THERE, Located, Met, Tried, ended, flaw_of, other
from gpuwhy.machine.machine import Entry, Machine

_NODEFLIB = 0x800
_LIB64 = ("x86_64", "aarch64", "ppc64", "riscv64")
_TRIPLET = {
    "x86_64": "x86_64-linux-gnu",
    "aarch64": "aarch64-linux-gnu",
    "ppc64": "powerpc64le-linux-gnu",
}
_MOST_FOLDERS = 1000  # of one tag or variable; TensorFlow's longest RUNPATH has 668
_TOKEN = re.compile(r"\$(ORIGIN|LIB|PLATFORM)(?!\w)|\$\{(ORIGIN|LIB|PLATFORM)\}", re.ASCII)

Folders = Iterator[tuple[str, Found]]


class Asker(msgspec.Struct, frozen=True):
    """The file that asks for a library, and who loaded that file."""

    path: str
    elf: Elf
    loader: Asker | None = None

    @property
    def origin(self) -> str:
        """What $ORIGIN stands for: the folder of the path used, links not resolved."""
        return self.path.rpartition("/")[0] or "/"


class World(msgspec.Struct, frozen=True):
    """What the search depends on besides the asker."""

    machine: Machine
    processor: str
    library_path: str = ""
    main: Asker | None = None  # the program: its DT_RPATH counts for all without a DT_RUNPATH
    folder: str = "/"  # current folder: what an empty path element means
    glibc: tuple[int, int] = (2, 37)
    preload: str = ""  # LD_PRELOAD


def glibc_version(text: str) -> tuple[int, int]:
    """(2, 36) of "2.36"; where it is not known, the rules of today's releases."""
    found = re.search(r"(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else (2, 37)


def search(world: World, name: str, asker: Asker | None) -> Located:
    """Find `name` as glibc would for a NEEDED entry or dlopen of `asker`."""
    if "/" in name:
        path = from_folder(world, expand(world, name, asker))
        return ended(name, (Tried(path, Found(Rule.GIVEN), look_at(world, path)),))
    seen: list[Tried] = []
    closed: Found | None = None  # the tag or variable whose further folders are not looked at
    for path, rule in candidates(world, name, asker):
        if rule == closed:
            continue
        seen.append(Tried(path, rule, look_at(world, path)))
        outcome = seen[-1].met.outcome
        if outcome in (Outcome.FOUND, Outcome.STOPS):
            return ended(name, tuple(seen))
        if outcome is Outcome.ENDS_LIST:
            closed = rule
    cache = world.machine.ldcache()
    left: Fact[str] = Absent(Source("call", "loader search", name))
    if isinstance(cache, Unknown):
        left = Unknown(f"{name}: not in the folders searched, and {cache.reason}")
    elif len(seen) > _MOST_FOLDERS:
        left = Unknown(f"{name}: not in the first {_MOST_FOLDERS} folders of {seen[0].rule}")
    return Located(name, left, other(""), tuple(seen))


def look_at(world: World, path: str) -> Met:
    """What glibc does with the file at `path`."""
    if isinstance(_inside(world, path.rpartition("/")[0] or "/"), Absent):
        return NOT_THERE
    stat = world.machine.stat(path)
    if isinstance(stat, Absent):
        return NOT_THERE
    if isinstance(stat, Unknown):
        ends = stat.kind in ("loop", "long")
        flaw = Flaw.DANGLING if ends else Flaw.UNREADABLE
        return Met(Outcome.ENDS_LIST if ends else Outcome.SKIPPED, flaw, stat.reason)
    if stat.value.kind == "folder":
        return Met(Outcome.STOPS, Flaw.FOREIGN, "it is a folder")
    elf = world.machine.elf(path)
    if isinstance(elf, Absent):
        return NOT_THERE
    if isinstance(elf, Unknown):
        outcome = Outcome.SKIPPED if elf.kind == "denied" else Outcome.STOPS
        note = elf.reason.removeprefix(f"{path}: ")
        return Met(outcome, flaw_of(elf, stat.value.size), note)
    # glibc's checks of a header, in its order: machine and class, then the rest
    header = elf.value
    if header.machine != world.processor or (header.bits == 64) != (world.processor in _LIB64):
        note = f"it is for {header.machine}, {header.bits} bit"
        return Met(Outcome.SKIPPED, Flaw.MACHINE, note)
    return Met(Outcome.STOPS, Flaw.FOREIGN, header.refused) if header.refused else FOUND


def _inside(world: World, folder: str) -> Fact[tuple[Entry, ...]]:
    """Whether a folder is there, and its preferred subfolders: one question per folder."""
    return world.machine.list(folder, SUBFOLDERS)


# ---------------------------------------------------------------- the steps


def candidates(world: World, name: str, asker: Asker | None) -> Folders:
    """Every path glibc would try, in order, with the rule."""
    for step in (_rpath, _variable, _runpath):
        yield from _files(world, name, step(world, asker))
    # of ld.so.cache the one entry that glibc would take; one that is gone is not replaced
    named = asker or world.main
    no_default = bool(named and named.elf.flags_1 & _NODEFLIB)  # linked with -z nodefaultlib
    cache, folders = world.machine.ldcache(), default_folders(world)
    cached = cache.value if isinstance(cache, Known) else ()
    entries = [one for one in cached if one.name == name and one.serves(world.processor)]
    chosen = best_entry(world.machine, world.glibc, entries)
    below = tuple(f"{folder}/" for folder in folders)
    if chosen and not (no_default and chosen.path.startswith(below)):
        yield chosen.path, Found(Rule.CACHE)
    if not no_default:
        yield from _files(world, name, ((folder, Found(Rule.DEFAULT)) for folder in folders))


def _rpath(world: World, asker: Asker | None) -> Folders:
    """DT_RPATH of the asker, of who loaded it, and so on, the program's last; a DT_RUNPATH of the
    asker switches it off.
    """
    chain: list[Asker] = []
    link = None if asker and asker.elf.ignores_rpath else asker
    while link:
        chain.append(link)
        link = link.loader
    if chain and world.main and all(one.path != world.main.path for one in chain):
        chain.append(world.main)
    for one in chain:
        if not one.elf.ignores_rpath:
            yield from _split(world, one.elf.rpath, one, Found(Rule.RPATH, one.path))


def _variable(world: World, _asker: Asker | None) -> Folders:
    """LD_LIBRARY_PATH as it was at the start: there $ORIGIN is the program's folder."""
    text = world.library_path.replace(";", ":")
    yield from _split(world, text, world.main, Found(Rule.LD_LIBRARY_PATH))


def _runpath(world: World, asker: Asker | None) -> Folders:
    """DT_RUNPATH of the asker alone."""
    if asker:
        yield from _split(world, asker.elf.runpath, asker, Found(Rule.RUNPATH, asker.path))


def _files(world: World, name: str, folders: Folders) -> Folders:
    for folder, rule in folders:
        for below in subfolders(world.machine, world.glibc, _inside(world, folder)):
            yield f"{folder.rstrip('/')}/{below}/{name}", rule
        yield f"{folder.rstrip('/')}/{name}", rule


def _split(world: World, text: str, asker: Asker | None, rule: Found) -> Folders:
    seen: set[str] = set()
    for element in dict.fromkeys(text.split(":")) if text else ():
        named = from_folder(world, expand(world, element, asker)) if element else world.folder
        folder = (named.rstrip("/") or "/") if named else ""
        if folder and folder not in seen:
            seen.add(folder)
            yield folder, rule
        if len(seen) > _MOST_FOLDERS:
            return


def from_folder(world: World, path: str) -> str:
    """A relative path seen from the current folder."""
    return f"{world.folder.rstrip('/')}/{path}" if path and path[0] != "/" else path


def expand(world: World, element: str, asker: Asker | None) -> str:
    """Replace $ORIGIN, $LIB and $PLATFORM; "" for an element that glibc drops."""
    values: dict[str, str] = {}
    for found in _TOKEN.finditer(element):
        token = found[1] or found[2]
        if token == "ORIGIN":
            values[token] = asker.origin if asker else ""
        elif token == "PLATFORM":
            x86 = world.processor == "x86_64"
            values[token] = cpu_of(world.machine).platform if x86 else world.processor
        else:
            folders, triplet = default_folders(world), _TRIPLET.get(world.processor, "")
            multiarch = f"/usr/lib/{triplet}" in folders
            values[token] = f"lib/{triplet}" if multiarch else folders[-1].rpartition("/")[2]
    if not all(values.values()):
        return ""
    return _TOKEN.sub(lambda found: values[found[1] or found[2]], element)


def default_folders(world: World) -> tuple[str, ...]:
    """glibc's built-in folders: Debian's multiarch ones where they exist, its own on NixOS."""
    interpreter = world.main.elf.interpreter if world.main else ""
    if interpreter.startswith(("/nix/", "/gnu/")):
        return (interpreter.rpartition("/")[0],)
    triplet, stat = _TRIPLET.get(world.processor, ""), world.machine.stat
    if triplet and any(isinstance(stat(f"{a}/{triplet}"), Known) for a in ("/usr/lib", "/lib")):
        return (f"/lib/{triplet}", f"/usr/lib/{triplet}", "/lib", "/usr/lib")
    if world.processor not in _LIB64:
        return ("/lib", "/usr/lib")
    linked = world.machine.link("/usr/lib64")  # Arch: one folder for everything
    arch = isinstance(linked, Known) and linked.value == "lib"
    return ("/usr/lib",) if arch else ("/lib64", "/usr/lib64")


# ---------------------------------------------------------------- hardware capabilities
# Subfolders that glibc prefers: 2.33 and newer search `glibc-hwcaps/x86-64-v4` and so on; before
# 2.37 the legacy folders (`tls/haswell`, …). Of processors other than x86_64 none is computed.

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
