"""glibc's search for a library name, as a tuple of steps in glibc's order.

DT_RPATH of the asker and of those who loaded it (only while the asker has no DT_RUNPATH), LD_LIBRARY_PATH, DT_RUNPATH
of the asker alone, ld.so.cache, default folders. A file for another machine, a dangling link or an unreadable file is
skipped; an empty, truncated-header or text file stops the search, as in glibc. docs/loader.md has the proofs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import msgspec

from gpuwhy.formats.elf import Elf
from gpuwhy.host.base import Entry, Host
from gpuwhy.observe.loader_v0.hwcaps import SUBFOLDERS, best_entry, cpu_of, subfolders
from gpuwhy.observe.loader_v0.outcome import FOUND, NOT_THERE, Located, Outcome, Tried, ended
from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown
from gpuwhy.model.facts import Fate, Rule, by_rpath, by_runpath

_NODEFLIB = 0x800
_LIB64 = frozenset({"x86_64", "aarch64", "ppc64", "riscv64"})
_TRIPLET = {"x86_64": "x86_64-linux-gnu", "aarch64": "aarch64-linux-gnu", "ppc64": "powerpc64le-linux-gnu"}
_MOST_FOLDERS = 1000  # of one tag or variable; TensorFlow's longest RUNPATH has 668, 18 of them different
_TOKEN = re.compile(r"\$(ORIGIN|LIB|PLATFORM)(?!\w)|\$\{(ORIGIN|LIB|PLATFORM)\}", re.ASCII)


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
    """What the search depends on besides the asker: the host, its machine and C library, the variables."""

    host: Host
    machine: str
    library_path: str = ""
    main: Asker | None = None  # the program, whose DT_RPATH counts for everyone without a DT_RUNPATH
    folder: str = "/"  # current folder: what an empty path element means
    glibc: tuple[int, int] = (2, 37)
    preload: str = ""  # LD_PRELOAD
    secure: bool = False  # the program runs with another user's rights: variables do not count


def glibc_version(text: str) -> tuple[int, int]:
    """(2, 36) of "glibc 2.36"; where it is not told, the rules of today's releases."""
    found = re.search(r"(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else (2, 37)


def search(world: World, name: str, asker: Asker | None) -> Located:
    """Find `name` as glibc would for a NEEDED entry or dlopen of `asker` (None: a program without RPATHs)."""
    if "/" in name:
        path = from_folder(world, expand(world, name, asker))
        return ended(name, (Tried(path, Rule.GIVEN.value, look_at(world, path)),))
    seen: list[Tried] = []
    closed = ""  # the tag or variable whose further folders are not looked at
    for path, why in candidates(world, name, asker):
        if why == closed:
            continue
        seen.append(Tried(path, why, look_at(world, path)))
        fate = seen[-1].outcome.fate
        if fate in (Fate.FOUND, Fate.STOPS):
            return ended(name, tuple(seen))
        if fate is Fate.ENDS_LIST:
            closed = why
    return Located(name, _nothing(world, name, seen), "", tuple(seen))


def _nothing(world: World, name: str, seen: list[Tried]) -> Fact[str]:
    cache = world.host.ldcache()
    if isinstance(cache, Unknown):
        return Unknown(f"{name}: not in the folders searched, and {cache.reason}")
    if len(seen) > _MOST_FOLDERS:
        return Unknown(f"{name}: not in the first {_MOST_FOLDERS} folders of {seen[0].why}")
    return Absent(Source("call", "loader search", name))


def look_at(world: World, path: str) -> Outcome:
    """What glibc does with the file at `path`: found, not there, skipped, the end of this list or of the search."""
    if isinstance(_inside(world, path.rpartition("/")[0] or "/"), Absent):
        return NOT_THERE
    stat = world.host.stat(path)
    if isinstance(stat, Absent):
        return NOT_THERE
    if isinstance(stat, Unknown):
        return Outcome(Fate.ENDS_LIST if stat.kind in ("loop", "long") else Fate.SKIPPED, stat.reason)
    if stat.value.kind == "folder":
        return Outcome(Fate.STOPS, "it is a folder")
    elf = world.host.elf(path)
    if isinstance(elf, Absent):
        return NOT_THERE
    if isinstance(elf, Unknown):
        return Outcome(Fate.SKIPPED if elf.kind == "denied" else Fate.STOPS, elf.reason.removeprefix(f"{path}: "))
    return _judge(world, elf.value)


def _judge(world: World, elf: Elf) -> Outcome:
    """glibc's checks of a header, in its order: machine and class, then the rest."""
    if elf.machine != world.machine or (elf.bits == 64) != (world.machine in _LIB64):
        return Outcome(Fate.SKIPPED, f"it is for {elf.machine}, {elf.bits} bit")
    return Outcome(Fate.STOPS, elf.refused) if elf.refused else FOUND


def _inside(world: World, folder: str) -> Fact[tuple[Entry, ...]]:
    """Whether a folder is there, and its preferred subfolders: one question per folder."""
    return world.host.list(folder, SUBFOLDERS)


# ---------------------------------------------------------------- the steps


def _rpath(world: World, name: str, asker: Asker | None) -> Iterator[tuple[str, str]]:
    """DT_RPATH of the asker, of who loaded it, and so on; the program's last. A DT_RUNPATH of the asker ends it."""
    if asker and not asker.elf.ignores_rpath:
        for link in _chain(asker, world.main):
            if not link.elf.ignores_rpath:
                yield from _split(world, link.elf.rpath, link, by_rpath(link.path))


def _variable(world: World, name: str, asker: Asker | None) -> Iterator[tuple[str, str]]:
    """LD_LIBRARY_PATH as it was at the start: there $ORIGIN is the program's folder."""
    if not world.secure:
        yield from _split(world, world.library_path.replace(";", ":"), world.main, Rule.LD_LIBRARY_PATH.value)


def _runpath(world: World, name: str, asker: Asker | None) -> Iterator[tuple[str, str]]:
    """DT_RUNPATH of the asker alone."""
    if asker:
        yield from _split(world, asker.elf.runpath, asker, by_runpath(asker.path))


def _cache(world: World, name: str, asker: Asker | None) -> Iterator[tuple[str, str]]:
    """The one entry of ld.so.cache that glibc would take; a file there that is gone is not replaced by another."""
    cache = world.host.ldcache()
    if not isinstance(cache, Known):
        return
    entries = [entry for entry in cache.value if entry.name == name and entry.serves(world.machine)]
    chosen = best_entry(world.host, world.glibc, entries)
    below = tuple(f"{folder}/" for folder in default_folders(world))
    if chosen and not (_no_default(world, asker) and chosen.path.startswith(below)):
        yield chosen.path, Rule.CACHE.value


def _defaults(world: World, name: str, asker: Asker | None) -> Iterator[tuple[str, str]]:
    """The folders built into the loader, unless the asker was linked with -z nodefaultlib."""
    if not _no_default(world, asker):
        for folder in default_folders(world):
            yield folder, Rule.DEFAULT.value


_FOLDERS: tuple[Callable[[World, str, Asker | None], Iterator[tuple[str, str]]], ...] = (_rpath, _variable, _runpath)
"""The steps before the cache; each gives folders with the reason."""


def candidates(world: World, name: str, asker: Asker | None) -> Iterator[tuple[str, str]]:
    """Every path glibc would try, in order, with the reason."""
    for step in _FOLDERS:
        yield from _files(world, name, step(world, name, asker))
    yield from _cache(world, name, asker)
    yield from _files(world, name, _defaults(world, name, asker))


def _files(world: World, name: str, folders: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for folder, why in folders:
        for below in subfolders(world.host, world.glibc, _inside(world, folder)):
            yield f"{folder.rstrip('/')}/{below}/{name}", why
        yield f"{folder.rstrip('/')}/{name}", why


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


def _split(world: World, text: str, asker: Asker | None, why: str) -> Iterator[tuple[str, str]]:
    if not text:
        return
    seen: set[str] = set()
    for element in dict.fromkeys(text.split(":")):
        folder = tidy(from_folder(world, expand(world, element, asker))) if element else world.folder
        if folder and folder not in seen:
            seen.add(folder)
            yield folder, why
        if len(seen) > _MOST_FOLDERS:
            return


def tidy(path: str) -> str:
    """A folder without trailing slashes."""
    return (path.rstrip("/") or "/") if path else ""


def from_folder(world: World, path: str) -> str:
    """A relative path seen from the current folder; `~` is how a host writes the home folder."""
    return f"{world.folder.rstrip('/')}/{path}" if path and not path.startswith(("/", "~")) else path


def expand(world: World, element: str, asker: Asker | None) -> str:
    """Replace $ORIGIN, $LIB and $PLATFORM; "" for an element that glibc drops."""
    tokens = {found[1] or found[2] for found in _TOKEN.finditer(element)}
    values = {token: _value(world, token, asker) for token in tokens}
    if not all(values.values()):
        return ""
    path = _TOKEN.sub(lambda found: values[found[1] or found[2]], element)
    guarded = world.secure and "ORIGIN" in values and asker is world.main
    return "" if guarded and not _trusted(world, path) else path


def _value(world: World, token: str, asker: Asker | None) -> str:
    if token == "ORIGIN":
        return asker.origin if asker else ""
    if token == "PLATFORM":
        return cpu_of(world.host).platform if world.machine == "x86_64" else world.machine
    last = default_folders(world)[-1].rpartition("/")[2]
    triplet = _TRIPLET.get(world.machine, "")
    return f"lib/{triplet}" if f"/usr/lib/{triplet}" in default_folders(world) else last


def _trusted(world: World, path: str) -> bool:
    return f"{path}/".startswith(tuple(f"{folder}/" for folder in default_folders(world)))


def default_folders(world: World) -> tuple[str, ...]:
    """glibc's built-in folders: Debian's multiarch ones where they exist, its own on NixOS, lib64 elsewhere."""
    interpreter = world.main.elf.interpreter if world.main else ""
    if interpreter.startswith(("/nix/", "/gnu/")):
        return (interpreter.rpartition("/")[0],)
    triplet = _TRIPLET.get(world.machine, "")
    if triplet and any(isinstance(world.host.stat(f"{lib}/{triplet}"), Known) for lib in ("/usr/lib", "/lib")):
        return (f"/lib/{triplet}", f"/usr/lib/{triplet}", "/lib", "/usr/lib")
    if world.machine not in _LIB64:
        return ("/lib", "/usr/lib")
    linked = world.host.link("/usr/lib64")  # Arch: one folder for everything
    return ("/usr/lib",) if isinstance(linked, Known) and linked.value == "lib" else ("/lib64", "/usr/lib64")
