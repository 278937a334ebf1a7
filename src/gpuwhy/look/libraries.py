"""Every copy of the CUDA libraries that something on this machine could load.

A folder costs one narrow listing, a file one stat and one look at its header, whatever its size and
however many names lead to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from gpuwhy.facts.environment import FileRow, Package
from gpuwhy.facts.fact import Absent, Fact, Known, Owner, Source, Unknown, known, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.libraries import Flaw, Libraries, LibraryCopy, Where
from gpuwhy.facts.version import numbers
from gpuwhy.look.files import environ, names, real
from gpuwhy.look.look import Field, Options, filled, is_windows
from gpuwhy.look.toolkits import conda_packages, conda_prefix, split_path, toolkits
from gpuwhy.machine.machine import Machine

if TYPE_CHECKING:
    from gpuwhy.knowledge.libraries import Family, LibraryName

_TRIPLETS = {"x86_64": "x86_64-linux-gnu", "aarch64": "aarch64-linux-gnu"}
_BUNDLES = r"(nvidia|torch|tensorrt|tensorrt_libs|paddle|[\w.-]+\.libs)$"
_INSIDE = {"torch": ("/lib",), "paddle": ("/libs",), "tensorrt": ("", "/lib")}
_SCRIPT_SIZE = 4096

Places = Iterator[tuple[str, Where]]
"""Folders that may hold libraries, and why they count."""


def libraries(machine: Machine, facts: Facts, options: Options) -> Libraries:
    """Everything of the subject."""
    fields: dict[str, Field] = {
        "toolkits": toolkits,
        "copies": lambda machine, facts: _copies(machine, facts, options.folder),
    }
    if is_windows(facts):
        from gpuwhy.look.windows import LIBRARIES

        fields.update(LIBRARIES)
    return filled(machine, facts, "libraries", fields).libraries


class Name(NamedTuple):
    """One name in a folder, before anything is asked about the file."""

    library: LibraryName
    name: str
    path: str
    real: str  # "" when it leads nowhere
    where: Where


Examined = tuple[Fact[int], Fact[Flaw]]
"""Size and health of one file."""


def _copies(machine: Machine, facts: Facts, folder: str) -> Fact[tuple[LibraryCopy, ...]]:
    """Every copy, in the order in which the places are searched."""
    finder = _Finder(machine, facts, folder)
    out = described(machine, facts, finder.find())
    detail = f"not seen: {'; '.join(finder.unseen[:3])}" if finder.unseen else ""
    if finder.unseen and not out:
        return Unknown(detail)
    where = "ld.so.cache, search paths, toolkits, conda and wheels"
    return Known(out, Source("folder", where, detail))


def described(machine: Machine, facts: Facts, found: Iterable[Name]) -> tuple[LibraryCopy, ...]:
    """Each copy; what a real file is, is looked at once. A linker script is none."""
    owners, processor = _Owners(machine, facts), value_or(facts.system.machine, "")
    windows, out = is_windows(facts), []
    examined: dict[str, Examined] = {}
    for one in found:
        key = one.real or one.path
        if key not in examined:
            examined[key] = examine(machine, one.path, processor, windows)
        size, health = examined[key]
        script = not one.library.suffix and value_or(health, None) is Flaw.FOREIGN
        if script and not windows and value_or(size, 0) < _SCRIPT_SIZE:
            continue
        owner, stated = owners.owner(one.library, one.path, one.real, size)
        copy = LibraryCopy(
            family=one.library.family.name,
            name=one.name,
            path=one.path,
            real=key,
            where=one.where,
            version=owners.version(one.path, one.real, owner, stated),
            size=size,
            owner=owner,
            health=health,
        )
        out.append(copy)
    return tuple(out)


class _Finder:
    """Walks the places, each real folder once."""

    def __init__(self, machine: Machine, facts: Facts, folder: str) -> None:
        self._machine, self._facts, self._folder = machine, facts, folder
        self._processor = value_or(facts.system.machine, "")
        self._seen: set[str] = set()
        self.unseen: list[str] = []

    def find(self) -> Iterator[Name]:
        """Every name that a program could ask for, each folder's once."""
        elements = split_path(environ(self._machine).get("LD_LIBRARY_PATH", ""), ":;")
        folders = (one if one.startswith("/") else f"{self._folder}/{one}" for one in elements)
        first: list[tuple[str, Where]] = [(o, "LD_LIBRARY_PATH") for o in folders if o[0] == "/"]
        yield from self._in_places(first)
        yield from self._in_cache()
        yield from self._in_places(self._places())
        sites = self._facts.environment.sites
        if isinstance(sites, Unknown):
            self.unseen.append(f"Python packages ({sites.reason})")

    def _in_places(self, places: Iterable[tuple[str, Where]]) -> Iterator[Name]:
        from gpuwhy.knowledge.libraries import FILES, parse

        for path, where in places:
            folder = self._machine.real(path)
            if not isinstance(folder, Known) or folder.value in self._seen:
                continue
            self._seen.add(folder.value)
            entries = self._machine.list(path, FILES)
            if isinstance(entries, Unknown) and entries.kind != "denied":
                self.unseen.append(entries.reason)
            found = []
            for entry in value_or(entries, ()):
                library, own = parse(entry.name), f"{folder.value}/{entry.name}"
                if library and entry.kind not in ("folder", "other"):
                    if entry.kind == "link":
                        own = value_or(self._machine.real(f"{path}/{entry.name}"), "")
                    found.append(Name(library, entry.name, f"{path}/{entry.name}", own, where))
            for one in _asked_for(found):
                if f"{folder.value}/{one.name}" not in self._seen:
                    yield one

    def _in_cache(self) -> list[Name]:
        from gpuwhy.knowledge.libraries import parse

        cache = self._machine.ldcache()
        if isinstance(cache, Unknown):
            self.unseen.append(cache.reason)
        found = []
        for entry in value_or(cache, ()):
            ours = entry.name.startswith(("libcu", "libn"))
            library = parse(entry.name) if ours else None
            if library is None or (self._processor and not entry.serves(self._processor)):
                continue
            folder, _, name = entry.path.rpartition("/")
            real_folder = real(self._machine, folder)
            key = f"{real_folder}/{name}"
            if real_folder not in self._seen and key not in self._seen:
                self._seen.add(key)
                leads = value_or(self._machine.real(entry.path), "")
                found.append(Name(library, entry.name, entry.path, leads, "ld.so.cache"))
        return _asked_for(found)

    def _places(self) -> Places:
        """Default folders, toolkits, conda, wheels."""
        triplet = _TRIPLETS.get(self._processor, "x86_64-linux-gnu")
        multiarch = (f"/lib/{triplet}", f"/usr/lib/{triplet}")
        for folder in (*multiarch, "/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib"):
            yield folder, "default folder"
        target = f"targets/{self._processor or 'x86_64'}-linux/lib"
        for toolkit in value_or(self._facts.libraries.toolkits, ()):
            if toolkit.kind in ("system", "distribution"):
                for inside in ("lib64", "lib", target, "extras/CUPTI/lib64"):
                    yield f"{toolkit.path}/{inside}", "toolkit"
        if prefix := conda_prefix(self._machine, self._facts):
            yield f"{prefix}/lib", "conda"
        for site in (one.path.rstrip("/") for one in value_or(self._facts.environment.sites, ())):
            for name in names(self._machine, site, _BUNDLES):  # both layouts of nvidia/*/lib
                below = [f"{name}{end}" for end in _INSIDE.get(name, ("",))]
                if name == "nvidia":
                    parts = value_or(self._machine.list(f"{site}/nvidia", r"[a-z]\w*$"), ())
                    below = [f"nvidia/{one.name}/lib" for one in parts if one.kind != "file"]
                yield from ((f"{site}/{one}", "wheel") for one in below)


def _asked_for(found: list[Name]) -> list[Name]:
    """Per file the shortest versioned name; a plain .so only where nothing versioned is beside it.

    So neither the further suffixed file behind a link counts, nor the compiler's link.
    """
    beside = {
        (one.path.rpartition("/")[0], one.library.stem) for one in found if one.library.suffix
    }
    kept: dict[str, Name] = {}
    for one in found:
        if one.library.suffix or (one.path.rpartition("/")[0], one.library.stem) not in beside:
            key = one.real or one.path
            if key not in kept or len(one.name) < len(kept[key].name):
                kept[key] = one
    return list(kept.values())


def examine(machine: Machine, path: str, processor: str, windows: bool = False) -> Examined:
    """Look at one file as the loader would."""
    stat = machine.stat(path)
    if isinstance(stat, Unknown):
        return stat, _unread(stat, path)
    if isinstance(stat, Absent):
        link = value_or(machine.link(path), "")
        flaw = Flaw.DANGLING if link else Flaw.MISSING
        return stat, known(flaw, "file", path, f"to {link}" if link else "")
    size, read = stat.value.size, machine.pe(path) if windows else machine.elf(path)
    flaw, note = Flaw.NONE, ""
    if stat.value.kind != "file":
        flaw, note = Flaw.FOREIGN, f"a {stat.value.kind}"
    elif size == 0:
        flaw = Flaw.EMPTY
    elif isinstance(read, Unknown):
        return known(size, "file", path), _unread(read, path)
    elif isinstance(read, Absent):
        return known(size, "file", path), read
    elif read.value.extent > size:
        flaw, note = Flaw.TRUNCATED, f"needs {read.value.extent} bytes, has {size}"
    elif processor and read.value.machine != processor:
        flaw, note = Flaw.MACHINE, f"{read.value.machine}, this machine is {processor}"
    return known(size, "file", path), known(flaw, "file", path, note)


def _unread(unread: Unknown, path: str) -> Fact[Flaw]:
    why = unread.reason.removeprefix(f"{path}: ").partition(" at offset ")[0]
    flaws = {"denied": Flaw.UNREADABLE, "loop": Flaw.UNREADABLE, "foreign": Flaw.FOREIGN}
    flaw = Flaw.TRUNCATED if unread.kind == "cut" else flaws.get(unread.kind)
    return known(flaw, "file", path, why) if flaw else unread


_CONDA = r"(lib)?(cu|nccl|nv|tensorrt)[\w-]*-\d[^-]*-[^-]*\.json$"
_HASH_SIZE = 1 << 20
_SHARED = {"tensorrt_libs": r"tensorrt(-cu\d+)?-libs$", "tensorrt": r"tensorrt$"}
"""Folders of site-packages that packages of several names write to."""


OwnerAndVersion = tuple[Fact[Owner], str]
"""The package of a file, and the version that it gives the library ("" when it gives none)."""


class _Owners:
    """Answers for one machine."""

    def __init__(self, machine: Machine, facts: Facts) -> None:
        self._machine = machine
        self._packages = value_or(facts.environment.packages, ())
        self._prefix = conda_prefix(machine, facts)
        sites = [one.path.rstrip("/") for one in value_or(facts.environment.sites, ())]
        pairs = ((site, real(machine, site)) for site in sites)
        self._sites = tuple(dict.fromkeys(path for pair in pairs for path in pair))

    def owner(self, library: LibraryName, path: str, real: str, size: Fact[int]) -> OwnerAndVersion:
        """The package that brought a copy."""
        for place in (path, real):
            for site in self._sites:
                if place.startswith(f"{site}/"):
                    return self._wheel(library, site, place.removeprefix(f"{site}/"), size)
        family, folder = library.family, f"{self._prefix}/conda-meta"
        if self._prefix and path.startswith(f"{self._prefix}/"):
            versions = conda_packages(self._machine, self._prefix, _CONDA)
            name = next((one for one in family.conda if one in versions), "")
            if name:
                fact = known(Owner(name, versions[name], "conda"), "package", folder)
                whole = name == "cudatoolkit"
                version = "" if whole else _places(versions[name], family.places)
                return fact, version
            return Unknown(f"no conda package of {family.name} is listed in {folder}"), ""
        return Unknown(f"{path} is in no folder that a package manager is known to fill"), ""

    def _wheel(
        self, library: LibraryName, site: str, inside: str, size: Fact[int]
    ) -> OwnerAndVersion:
        """By the folder's name; of several those whose RECORD describes the bytes on disk; none of
        another family, in whose folder somebody copied the file.
        """
        found, family = wheels_of(self._packages, library.family, inside), library.family
        own = inside.startswith(("nvidia/", "tensorrt"))
        if len(found) > 1:
            rows = [(one, one.files.find(inside) or FileRow("")) for one in found]
            fits = [(one, row) for one, row in rows if row.size == value_or(size, -1)]
            if len(fits) > 1 and fits[0][1].size <= _HASH_SIZE:
                actual = value_or(self._machine.sha256(f"{site}/{inside}"), "")
                fits = [pair for pair in fits if pair[1].sha256 == actual] or fits
            found = [one for one, _ in fits] or found
        elif inside.startswith("nvidia/") and not re.match(r"nvidia/cu\d+/", inside):
            usual = {base.removeprefix("nvidia-").replace("-", "_") for base in family.wheels}
            if inside.split("/")[1] not in usual:
                found = [o for o in found if o.files.known != "all" or o.files.find(inside)]
        if len(found) == 1:
            version = _places(found[0].version, family.places) if own else ""
            return known(found[0].owner, "package", found[0].location), version
        both = " and ".join(str(one.owner) for one in found)
        none = f"no installed package is known to bring {inside}"
        return Unknown(f"{both} both claim {inside}" if both else none), ""

    def version(self, path: str, real: str, owner: Fact[Owner], given: str) -> Fact[str]:
        """By the real file's name, its package, else its own bytes; a DLL's bytes come first."""
        suffix, dll = (real or path).rpartition(".so.")[2], path.lower().endswith(".dll")
        if suffix.count(".") >= 2 and re.fullmatch(r"[\d.]+", suffix):
            return known(suffix, "file", real, "its name")
        stated = self._machine.cuda_version(path) if dll or not given else None
        if isinstance(stated, Known):
            return stated
        if given:
            return known(given, "package", str(value_or(owner, "")))
        return Unknown(f"{path}: neither its name nor a package nor the file states its version")


def wheels_of(packages: Sequence[Package], family: Family, inside: str) -> list[Package]:
    """The installed packages that write to a path below site-packages, by their names."""
    top = inside.partition("/")[0]
    if toolkit := re.match(r"nvidia/cu(\d+)/", inside):
        suffixed = [f"{base}-cu{toolkit[1]}" for base in family.wheels]
        plain = [one for one in packages if one.name in family.wheels]
        return plain or [one for one in packages if one.name in suffixed]
    if top == "nvidia":
        pattern = "|".join(rf"{re.escape(base)}-cu\d+$" for base in family.wheels)
    else:
        named = re.escape(re.sub(r"[-_.]+", "-", top.removesuffix(".libs")).lower()) + "$"
        pattern = _SHARED.get(top, named)
    return [one for one in packages if re.match(pattern, one.name)]


def _places(version: str, count: int) -> str:
    return ".".join(str(one) for one in numbers(version)[:count])
