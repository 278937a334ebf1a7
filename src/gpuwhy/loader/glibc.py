"""glibc's search for a library name, in glibc's order.

DT_RPATH of the asker and of those who loaded it (only while the asker has no DT_RUNPATH),
LD_LIBRARY_PATH, DT_RUNPATH of the asker alone, ld.so.cache, default folders. A file for another
machine, a dangling link or an unreadable file is skipped; an empty, truncated or text file stops
the search, as in glibc. docs/loader.md has the proofs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from gpuwhy.facts.fact import Absent, Fact, Known, Source, Unknown
from gpuwhy.facts.libraries import Flaw
from gpuwhy.facts.loads import Found, Outcome, Rule
from gpuwhy.formats.elf import Elf
from gpuwhy.loader.hwcaps import SUBFOLDERS, best_entry, cpu_of, subfolders
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
    secure: bool = False  # the program runs with another user's rights: variables do not count


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
    return Located(name, _nothing(world, name, seen), other(""), tuple(seen))


def _nothing(world: World, name: str, seen: list[Tried]) -> Fact[str]:
    cache = world.machine.ldcache()
    if isinstance(cache, Unknown):
        return Unknown(f"{name}: not in the folders searched, and {cache.reason}")
    if len(seen) > _MOST_FOLDERS:
        return Unknown(f"{name}: not in the first {_MOST_FOLDERS} folders of {seen[0].rule}")
    return Absent(Source("call", "loader search", name))


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
    return _judge(world, elf.value)


def _judge(world: World, elf: Elf) -> Met:
    """glibc's checks of a header, in its order: machine and class, then the rest."""
    if elf.machine != world.processor or (elf.bits == 64) != (world.processor in _LIB64):
        note = f"it is for {elf.machine}, {elf.bits} bit"
        return Met(Outcome.SKIPPED, Flaw.MACHINE, note)
    return Met(Outcome.STOPS, Flaw.FOREIGN, elf.refused) if elf.refused else FOUND


def _inside(world: World, folder: str) -> Fact[tuple[Entry, ...]]:
    """Whether a folder is there, and its preferred subfolders: one question per folder."""
    return world.machine.list(folder, SUBFOLDERS)


# ---------------------------------------------------------------- the steps


def candidates(world: World, name: str, asker: Asker | None) -> Folders:
    """Every path glibc would try, in order, with the rule."""
    for step in (_rpath, _variable, _runpath):
        yield from _files(world, name, step(world, asker))
    yield from _cache(world, name, asker)
    yield from _files(world, name, _defaults(world, asker))


def _rpath(world: World, asker: Asker | None) -> Folders:
    """DT_RPATH of the asker, of who loaded it, and so on, the program's last; a DT_RUNPATH of the
    asker switches it off.
    """
    if asker and not asker.elf.ignores_rpath:
        for link in _chain(asker, world.main):
            if not link.elf.ignores_rpath:
                yield from _split(world, link.elf.rpath, link, Found(Rule.RPATH, link.path))


def _variable(world: World, _asker: Asker | None) -> Folders:
    """LD_LIBRARY_PATH as it was at the start: there $ORIGIN is the program's folder."""
    if not world.secure:
        text = world.library_path.replace(";", ":")
        yield from _split(world, text, world.main, Found(Rule.LD_LIBRARY_PATH))


def _runpath(world: World, asker: Asker | None) -> Folders:
    """DT_RUNPATH of the asker alone."""
    if asker:
        yield from _split(world, asker.elf.runpath, asker, Found(Rule.RUNPATH, asker.path))


def _cache(world: World, name: str, asker: Asker | None) -> Folders:
    """The one entry of ld.so.cache that glibc would take; one that is gone is not replaced."""
    cache = world.machine.ldcache()
    if not isinstance(cache, Known):
        return
    entries = [one for one in cache.value if one.name == name and one.serves(world.processor)]
    chosen = best_entry(world.machine, world.glibc, entries)
    below = tuple(f"{folder}/" for folder in default_folders(world))
    if chosen and not (_no_default(world, asker) and chosen.path.startswith(below)):
        yield chosen.path, Found(Rule.CACHE)


def _defaults(world: World, asker: Asker | None) -> Folders:
    """The folders built into the loader, unless the asker was linked with -z nodefaultlib."""
    if not _no_default(world, asker):
        for folder in default_folders(world):
            yield folder, Found(Rule.DEFAULT)


def _files(world: World, name: str, folders: Folders) -> Folders:
    for folder, rule in folders:
        for below in subfolders(world.machine, world.glibc, _inside(world, folder)):
            yield f"{folder.rstrip('/')}/{below}/{name}", rule
        yield f"{folder.rstrip('/')}/{name}", rule


def _no_default(world: World, asker: Asker | None) -> bool:
    asker = asker or world.main
    return bool(asker and asker.elf.flags_1 & _NODEFLIB)


def _chain(asker: Asker, main: Asker | None) -> Iterator[Asker]:
    """The asker, who loaded it, and so on; the program last."""
    link: Asker | None = asker
    while link:
        yield link
        if main and link.path == main.path:
            main = None
        link = link.loader
    if main:
        yield main


# ---------------------------------------------------------------- lists of folders


def _split(world: World, text: str, asker: Asker | None, rule: Found) -> Folders:
    if not text:
        return
    seen: set[str] = set()
    for element in dict.fromkeys(text.split(":")):
        named = from_folder(world, expand(world, element, asker)) if element else world.folder
        folder = tidy(named)
        if folder and folder not in seen:
            seen.add(folder)
            yield folder, rule
        if len(seen) > _MOST_FOLDERS:
            return


def tidy(path: str) -> str:
    """A folder without trailing slashes."""
    return (path.rstrip("/") or "/") if path else ""


def from_folder(world: World, path: str) -> str:
    """A relative path seen from the current folder."""
    return f"{world.folder.rstrip('/')}/{path}" if path and path[0] != "/" else path


def expand(world: World, element: str, asker: Asker | None) -> str:
    """Replace $ORIGIN, $LIB and $PLATFORM; "" for an element that glibc drops."""
    tokens = {found[1] or found[2] for found in _TOKEN.finditer(element)}
    values = {token: _value(world, token, asker) for token in tokens}
    if not all(values.values()):
        return ""
    path = _TOKEN.sub(lambda found: values[found[1] or found[2]], element)
    if world.secure and "ORIGIN" in values and asker is world.main:
        trusted = tuple(f"{folder}/" for folder in default_folders(world))
        return path if f"{path}/".startswith(trusted) else ""
    return path


def _value(world: World, token: str, asker: Asker | None) -> str:
    if token == "ORIGIN":
        return asker.origin if asker else ""
    if token == "PLATFORM":
        x86 = world.processor == "x86_64"
        return cpu_of(world.machine).platform if x86 else world.processor
    folders = default_folders(world)
    triplet = _TRIPLET.get(world.processor, "")
    multiarch = f"/usr/lib/{triplet}" in folders
    return f"lib/{triplet}" if multiarch else folders[-1].rpartition("/")[2]


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
