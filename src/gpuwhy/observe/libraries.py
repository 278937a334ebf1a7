"""libraries: every copy of the CUDA libraries that something on this machine could load.

A folder costs one narrow listing, a file one stat and one look at its ELF header, whatever its size and however many
names lead to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gpuwhy.host.base import Entry, Host, Stat
from gpuwhy.knowledge.libraries import FILES, LibraryName, parse
from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown, known, value_or
from gpuwhy.model.facts import Flaw, LibraryCopy
from gpuwhy.observe.owners import Owners
from gpuwhy.observe.scene import Look, Scene
from gpuwhy.observe.toolkits import conda_prefix, site_packages, split_path

_TRIPLETS = {"x86_64": "x86_64-linux-gnu", "aarch64": "aarch64-linux-gnu"}
_BUNDLES = r"(nvidia|torch|tensorrt|tensorrt_libs|paddle|[\w.-]+\.libs)$"
_INSIDE = {"torch": ("lib",), "paddle": ("libs",), "tensorrt": ("", "lib")}
_SCRIPT_SIZE = 4096


class Place(NamedTuple):
    """A folder that may hold libraries, and why it counts."""

    folder: str
    where: str


class Found(NamedTuple):
    """One name in a folder, before anything is asked about the file."""

    library: LibraryName
    name: str
    path: str
    real: str  # "" when it leads nowhere
    where: str


def copies(scene: Scene) -> Fact[tuple[LibraryCopy, ...]]:
    """Every copy, in the order in which the places are searched."""
    finder = _Finder(scene)
    out = [copy for found in finder.find() if (copy := finder.describe(found)) is not None]
    detail = f"not seen: {'; '.join(finder.unseen[:3])}" if finder.unseen else ""
    if finder.unseen and not out:
        return Unknown(detail)
    return Known(tuple(out), Source("folder", "ld.so.cache, search paths, toolkits, conda and wheels", detail))


class _Finder:
    """Walks the places, each real folder once, and describes each real file once."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._host = scene.host
        self._owners = Owners(scene)
        uname = scene.host.uname()
        self._machine = value_or(
            scene.facts.surroundings.machine, uname.value.machine if isinstance(uname, Known) else ""
        )
        self._seen: set[str] = set()
        self._described: dict[str, Examined] = {}
        self.unseen: list[str] = []

    def find(self) -> Iterator[Found]:
        """Every name that a program could ask for, each folder's once."""
        library_path, rest = _search_path(self._scene), _places(self._scene, self._machine)
        yield from self._in_places(library_path)
        yield from self._in_cache()
        yield from self._in_places(rest)
        if isinstance(self._scene.facts.target.site_packages, Unknown):
            self.unseen.append(f"Python packages ({self._scene.facts.target.site_packages.reason})")

    def _in_places(self, places: Iterable[Place]) -> Iterator[Found]:
        for place in places:
            folder = self._host.real(place.folder)
            if not isinstance(folder, Known) or folder.value in self._seen:
                continue
            self._seen.add(folder.value)
            entries = self._host.list(place.folder, FILES)
            if isinstance(entries, Unknown) and entries.kind != "denied":
                self.unseen.append(entries.reason)
            for found in self._in_folder(place, folder.value, value_or(entries, ())):
                if f"{folder.value}/{found.name}" not in self._seen:
                    yield found

    def _in_folder(self, place: Place, real_folder: str, entries: tuple[Entry, ...]) -> list[Found]:
        """The names that programs ask for: not the further suffixed file behind a link, not the compiler's link."""
        found = []
        for entry in entries:
            library = parse(entry.name)
            if library is None or entry.kind in ("folder", "other"):
                continue
            path = f"{place.folder}/{entry.name}"
            real = f"{real_folder}/{entry.name}"
            if entry.kind == "link":
                real = value_or(self._host.real(path), "")
            found.append(Found(library, entry.name, path, real, place.where))
        return _asked_for(found)

    def _in_cache(self) -> Iterator[Found]:
        cache = self._host.ldcache()
        if isinstance(cache, Unknown):
            self.unseen.append(cache.reason)
        found = []
        for entry in value_or(cache, ()):
            library = parse(entry.name) if entry.name.startswith(("libcu", "libn")) else None
            if library is None or (self._machine and not entry.serves(self._machine)):
                continue
            folder, _, name = entry.path.rpartition("/")
            real_folder = value_or(self._host.real(folder), folder)
            key = f"{real_folder}/{name}"
            if real_folder not in self._seen and key not in self._seen:
                self._seen.add(key)
                real = value_or(self._host.real(entry.path), "")
                found.append(Found(library, entry.name, entry.path, real, "ld.so.cache"))
        yield from _asked_for(found)

    def describe(self, found: Found) -> LibraryCopy | None:
        """Size, health, owner and version of one copy; None for a linker script."""
        size, health, fault = self._file(found)
        if not found.library.suffix and fault == "foreign" and value_or(size, 0) < _SCRIPT_SIZE:
            return None
        owner = self._owners.owner(found.library, found.path, found.real, size)
        version = self._owners.version(found.library, found.path, found.real, owner)
        return LibraryCopy(
            found.library.family.name, found.name, found.path, found.real or found.path, found.where, version,
            size, owner.fact, health, fault,
        )  # fmt: skip

    def _file(self, found: Found) -> Examined:
        key = found.real or found.path
        if key not in self._described:
            self._described[key] = examine(self._host, found.path, self._machine)
        return self._described[key]


def _asked_for(found: list[Found]) -> list[Found]:
    """Per file the shortest versioned name that leads to it; a plain .so only where nothing versioned is beside it."""
    versioned = {(f.path.rpartition("/")[0], f.library.stem) for f in found if f.library.suffix}
    kept: dict[str, Found] = {}
    for item in found:
        if not item.library.suffix and (item.path.rpartition("/")[0], item.library.stem) in versioned:
            continue
        key = item.real or item.path
        if key not in kept or len(item.name) < len(kept[key].name):
            kept[key] = item
    return list(kept.values())


def _search_path(scene: Scene) -> Iterator[Place]:
    value = value_or(scene.host.environ(), {}).get("LD_LIBRARY_PATH", "")
    for element in split_path(value, ":;"):
        folder = element if element.startswith(("/", "~")) else f"{scene.options.folder}/{element}"
        if folder.startswith(("/", "~")):
            yield Place(folder, "LD_LIBRARY_PATH")


def _places(scene: Scene, machine: str) -> Iterator[Place]:
    """Default folders, toolkits, conda, wheels."""
    triplet = _TRIPLETS.get(machine, "x86_64-linux-gnu")
    for folder in (
        f"/lib/{triplet}",
        f"/usr/lib/{triplet}",
        "/lib64",
        "/usr/lib64",
        "/lib",
        "/usr/lib",
        "/usr/local/lib",
    ):
        yield Place(folder, "default folder")
    for toolkit in value_or(scene.facts.toolkits.toolkits, ()):
        if toolkit.kind in ("system", "distribution"):
            for inside in ("lib64", "lib", f"targets/{machine or 'x86_64'}-linux/lib", "extras/CUPTI/lib64"):
                yield Place(f"{toolkit.path}/{inside}", "toolkit")
    prefix = conda_prefix(scene)
    if prefix:
        yield Place(f"{prefix}/lib", "conda")
    for site in site_packages(scene):
        yield from _wheels(scene.host, site)


def _wheels(host: Host, site: str) -> Iterator[Place]:
    """The library folders of wheels: nvidia/*/lib in both layouts, and what other wheels bring along."""
    for entry in value_or(host.list(site, _BUNDLES), ()):
        if entry.name == "nvidia":
            for part in value_or(host.list(f"{site}/nvidia", r"[a-z]\w*$"), ()):
                if part.kind != "file":
                    yield Place(f"{site}/nvidia/{part.name}/lib", "wheel")
        else:
            for inside in _INSIDE.get(entry.name, ("",)):
                yield Place(f"{site}/{entry.name}/{inside}".rstrip("/"), "wheel")


class Examined(NamedTuple):
    """Size and health of one file, and what is wrong with it."""

    size: Fact[int]
    health: Fact[str]
    fault: Flaw = ""


def examine(host: Host, path: str, machine: str) -> Examined:
    """Look at one file as the loader would."""
    stat = host.stat(path)
    if isinstance(stat, Unknown):
        return Examined(stat, *_unreadable(stat, path))
    if isinstance(stat, Absent):
        link = value_or(host.link(path), "")
        said: tuple[str, Flaw] = (f"dangling link to {link}", "dangling") if link else ("missing", "missing")
        return Examined(stat, known(said[0], "file", path), said[1])
    return Examined(known(stat.value.size, "file", path), *_health(host, path, stat.value, machine))


def _unreadable(unknown: Unknown, path: str) -> tuple[Fact[str], Flaw]:
    reason = unknown.reason.removeprefix(f"{path}: ").partition(" at offset ")[0]
    if unknown.kind in ("denied", "loop"):
        return known(f"unreadable: {reason}", "file", path), "unreadable"
    if unknown.kind == "foreign":
        return known("not ELF: it does not start with an ELF header", "file", path), "foreign"
    if unknown.kind == "cut":
        return known(f"truncated: {reason}", "file", path), "truncated"
    return unknown, ""


def _health(host: Host, path: str, stat: Stat, machine: str) -> tuple[Fact[str], Flaw]:
    if stat.kind != "file":
        return known(f"not ELF: a {stat.kind}", "file", path), "foreign"
    if stat.size == 0:
        return known("empty", "file", path), "empty"
    elf = host.elf(path)
    if not isinstance(elf, Known):
        return _unreadable(elf, path) if isinstance(elf, Unknown) else (elf, "")
    if elf.value.extent > stat.size:
        return known(f"truncated: needs {elf.value.extent} bytes, has {stat.size}", "file", path), "truncated"
    if machine and elf.value.machine != machine:
        return known(f"wrong architecture: {elf.value.machine}, this machine is {machine}", "file", path), "machine"
    return known("ok", "file", path), ""


LOOKS: tuple[Look, ...] = (Look("libraries", "copies", copies),)
