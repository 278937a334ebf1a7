"""glibc's search for a library name, as a tuple of steps in glibc's order.

DT_RPATH of the asker and of those who loaded it (only while the asker has no DT_RUNPATH), LD_LIBRARY_PATH, DT_RUNPATH
of the asker alone, ld.so.cache, default folders. A file for another machine, a dangling link or an unreadable file is
skipped; an empty, truncated-header or text file stops the search, as in glibc.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from gpuwhy.binary.elf import Elf
from gpuwhy.host.base import Host
from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown

_NODEFLIB = 0x800
_LIB64 = frozenset({"x86_64", "aarch64", "ppc64", "riscv64"})
_TRIPLET = {"x86_64": "x86_64-linux-gnu", "aarch64": "aarch64-linux-gnu", "ppc64": "powerpc64le-linux-gnu"}


class Asker(msgspec.Struct, frozen=True):
    """The file that asks for a library, and who loaded that file."""

    path: str
    elf: Elf
    loader: Asker | None = None

    @property
    def origin(self) -> str:
        """What $ORIGIN stands for: the folder of the path used, links not resolved."""
        return self.path.rpartition("/")[0] or "/"


class Tried(msgspec.Struct, frozen=True):
    """One place that was looked at."""

    path: str
    why: str  # "RUNPATH of …", "LD_LIBRARY_PATH", "ld.so.cache", "default folder"
    outcome: str  # "found", "not there", "skipped: …", "stops the search: …"


class Located(msgspec.Struct, frozen=True):
    """The end of a search: the file, how it was found, and everything tried on the way."""

    name: str
    path: Fact[str]  # Absent: nothing found; Unknown: a file that stops the search, or a place we could not read
    via: str
    tried: tuple[Tried, ...]


class World(msgspec.Struct, frozen=True):
    """What the search depends on besides the asker: the host, its machine, LD_LIBRARY_PATH."""

    host: Host
    machine: str
    library_path: str = ""
    main: Asker | None = None  # the program, whose DT_RPATH counts for everyone without a DT_RUNPATH
    folder: str = "/"  # current folder: what an empty path element means


def search(world: World, name: str, asker: Asker | None) -> Located:
    """Find `name` as glibc would for a NEEDED entry or dlopen of `asker` (None: a program without RPATHs)."""
    if "/" in name:
        outcome = look_at(world, name)
        tried = (Tried(name, "path given", outcome),)
        return _end(name, name, "path given", outcome, tried)
    seen: list[Tried] = []
    for path, why in candidates(world, name, asker):
        outcome = look_at(world, path)
        seen.append(Tried(path, why, outcome))
        if outcome == "found" or outcome.startswith("stops"):
            return _end(name, path, why, outcome, tuple(seen))
    return Located(name, _nothing(world, name), "", tuple(seen))


def _end(name: str, path: str, why: str, outcome: str, tried: tuple[Tried, ...]) -> Located:

    if outcome == "found":
        return Located(name, Known(path, Source("file", path, why)), why, tried)
    if outcome == "not there":
        return Located(name, Absent(Source("file", path)), "", tried)
    return Located(name, Unknown(f"{path} {outcome}"), why, tried)


def _nothing(world: World, name: str) -> Fact[str]:

    cache = world.host.ldcache()
    if isinstance(cache, Unknown):
        return Unknown(f"{name}: not in the folders searched, and {cache.reason}")
    return Absent(Source("call", "loader search", name))


def look_at(world: World, path: str) -> str:
    """What glibc does with the file at `path`: 'found', 'not there', 'skipped: …' or 'stops the search: …'."""
    stat = world.host.stat(path)
    if isinstance(stat, Absent):
        return "not there"
    if isinstance(stat, Unknown):
        return f"skipped: {stat.reason}"
    if stat.value.kind == "folder":
        return "stops the search: it is a folder"
    elf = world.host.elf(path)
    if isinstance(elf, Absent):
        return "not there"
    if isinstance(elf, Unknown):
        text = elf.reason.removeprefix(f"{path}: ")
        return f"skipped: {text}" if "ermission denied" in text else f"stops the search: {text}"
    if elf.value.machine != world.machine or (elf.value.bits == 64) != (world.machine in _LIB64):
        return f"skipped: it is for {elf.value.machine}, {elf.value.bits} bit"
    return "found"


def candidates(world: World, name: str, asker: Asker | None) -> Iterator[tuple[str, str]]:
    """Every path glibc would try, in order, with the reason."""
    for folder, why in search_folders(world, asker):
        yield f"{folder}/{name}", why
    no_default = bool(asker and asker.elf.flags_1 & _NODEFLIB)
    defaults = default_folders(world)
    cache = world.host.ldcache()
    if isinstance(cache, Known):
        for entry in cache.value:
            if entry.name == name and entry.serves(world.machine):
                if no_default and entry.path.rpartition("/")[0] in defaults:
                    continue
                yield entry.path, "ld.so.cache"
                break
    if not no_default:
        for folder in defaults:
            yield f"{folder}/{name}", "default folder"


def search_folders(world: World, asker: Asker | None) -> Iterator[tuple[str, str]]:
    """The folders before the cache, in order, with the reason; each folder once per reason."""
    if asker and not asker.elf.runpath:
        for link in _chain(asker, world.main):
            if not link.elf.runpath:
                yield from _split(world, link.elf.rpath, link, f"RPATH of {link.path}")
    # In the variable, $ORIGIN is the program's folder: glibc expands it once, at the start.
    yield from _split(world, world.library_path, world.main, "LD_LIBRARY_PATH", ";")
    if asker:
        yield from _split(world, asker.elf.runpath, asker, f"RUNPATH of {asker.path}")


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


def _split(world: World, text: str, asker: Asker | None, why: str, also: str = "") -> Iterator[tuple[str, str]]:
    if not text:
        return
    if also:
        text = text.replace(also, ":")
    seen = set()
    for element in text.split(":"):
        folder = expand(world, element, asker) if element else world.folder
        folder = tidy(folder)
        if folder and folder not in seen:
            seen.add(folder)
            yield folder, why


def tidy(path: str) -> str:
    """A folder without trailing slashes."""
    return (path.rstrip("/") or "/") if path else ""


def expand(world: World, element: str, asker: Asker | None) -> str:
    """Replace $ORIGIN, $LIB and $PLATFORM; an element that needs an unknown $ORIGIN is dropped."""
    if "$" not in element:
        return element
    for token in ("ORIGIN", "LIB", "PLATFORM"):
        if f"${token}" not in element and f"${{{token}}}" not in element:
            continue
        if token == "ORIGIN" and asker is None:
            return ""
        value = {
            "ORIGIN": asker.origin if asker else "",
            "LIB": f"lib/{_TRIPLET[world.machine]}" if world.machine in _TRIPLET else "lib64",
            "PLATFORM": "haswell" if world.machine == "x86_64" else world.machine,
        }[token]
        element = element.replace(f"${{{token}}}", value).replace(f"${token}", value)
    return element


def default_folders(world: World) -> tuple[str, ...]:
    """glibc's built-in folders for this machine: Debian's multiarch ones where they exist, lib64 elsewhere."""
    triplet = _TRIPLET.get(world.machine, "")
    if triplet and isinstance(world.host.stat(f"/usr/lib/{triplet}"), Known):
        return (f"/lib/{triplet}", f"/usr/lib/{triplet}", "/lib", "/usr/lib")
    return ("/lib64", "/usr/lib64") if world.machine in _LIB64 else ("/lib", "/usr/lib")
