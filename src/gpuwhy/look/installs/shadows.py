"""Files and folders that Python finds before the module that was meant.

Python looks into the script's folder (or the working folder), then PYTHONPATH, then the
environment; a line in a .pth file or a user's own folder of packages may come before it too. Names
that several packages share (google, nvidia, cuda) are joined only while no folder has a package of
that name: one of these wins wherever it stands, and hides the other folders' parts.
"""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Iterator
from typing import NamedTuple

from gpuwhy.facts.environment import Python
from gpuwhy.facts.fact import Absent, Fact, Owner, absent, known, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.installs import Shadow, ShadowVia
from gpuwhy.facts.version import major_minor
from gpuwhy.knowledge.modules import (
    FRAMEWORK_MODULES,
    IMPORTED_AS,
    INNER_MODULES,
    NAMESPACES,
    PART_OWNERS,
    STACK_MODULES,
    STANDARD_MODULES,
)
from gpuwhy.look.environment.packages import normal
from gpuwhy.look.environment.python import made_for, pth_folders, user_base
from gpuwhy.look.files import environ, exists, lines, names, real
from gpuwhy.look.installs.requirements import asked_by_the_stack, refused_by_the_stack
from gpuwhy.look.look import Options
from gpuwhy.machine.machine import Entry, Machine

NO_FOLDER = "-"
"""The script of a program whose Python looks into no folder of its own (python -I)."""
_STANDARD = STANDARD_MODULES | {one for one in sys.stdlib_module_names if one.startswith("_")}
_MODULE = r"([A-Za-z_]\w*)(?:\.py|\.(?:cpython|abi3)[\w.-]*\.so|\.so)$"
_INSERTED = r"sys\.path\.insert\(\s*0\s*,\s*[rR]?(['\"])(?P<folder>[^'\"]+)\1"
_KNOWN_PTH = ("distutils-precedence.pth", "_virtualenv.pth", "matplotlib", "ray", "coverage")
_ARCHIVES = (".zip", ".egg", ".whl")
_MOST = 4000  # names of a folder that are looked at
_JOINS = ("extend_path", "declare_namespace", "__path__")


class Place(NamedTuple):
    """A folder that Python searches, and what put it there."""

    folder: str
    via: ShadowVia
    file: str = ""  # the .pth file


def shadows(machine: Machine, facts: Facts, options: Options) -> Fact[tuple[Shadow, ...]]:
    """What stands in for a module of the GPU stack, or for one of Python's that it imports."""
    python = facts.environment.python.need()
    if python is None:
        return absent("env", "PATH", "no Python")
    look = _Look(machine, facts, options, python)
    found: dict[str, Shadow] = {}
    for one in (*look.before(), *look.of_other_pythons(), *look.hidden()):
        found.setdefault(one.module, one)
    where = ", ".join(place.folder for place in look.places) or "sys.path"
    return known(tuple(found.values()), "folder", where, "names compared")


class _Look:
    """The folders of Python's path, in order."""

    def __init__(self, machine: Machine, facts: Facts, options: Options, python: Python) -> None:
        self.machine = machine
        self.facts = facts
        self.options = options
        self.python = python
        self.minor = major_minor(python.version)
        self.asked = asked_by_the_stack(facts)
        user = f"{user_base(machine)}/lib/python{self.minor}/site-packages"
        first = self._pythonpath()
        every = [site.path for site in value_or(facts.environment.sites, ())]
        self.sites = [one for one in every if one not in (*first, user)]
        self.places = [*self._own_folder(), *(Place(one, "PYTHONPATH") for one in first)]
        for site in self.sites:
            self.places += self._inserted(site)
        self.places += [Place(user, "user site")] if python.kind == "conda" else []
        behind = ((*found,) for site in self.sites for found in pth_folders(machine, site))
        self.behind = [Place(folder, "pth", file) for folder, file in behind]
        self.there = self._there()

    def _there(self) -> dict[str, str]:
        """The modules in the environment's own folders, each with its folder."""
        beside = set()  # the import names of what else is installed, as far as a name tells them
        for one in value_or(self.facts.environment.packages, ()):
            name = IMPORTED_AS.get(one.name) or re.sub(r"[-.]", "_", one.name)
            if name.isidentifier() and name not in STACK_MODULES | INNER_MODULES | _STANDARD:
                beside.add(name)
        return {
            name: site
            for site in reversed(self.sites)
            for wanted in (STACK_MODULES, INNER_MODULES, frozenset(beside))
            for name, _ in self._named(site, wanted)
        }

    def _pythonpath(self) -> list[str]:
        parts = [part for part in environ(self.machine).get("PYTHONPATH", "").split(":") if part]
        start = ""
        if not all(part.startswith("/") for part in parts):
            start = value_or(self.machine.real(self.options.folder or "."), "")
        return [posixpath.normpath(posixpath.join(start, part)) for part in parts]

    def _own_folder(self) -> list[Place]:
        """The script's folder, or the working folder."""
        script, folder = self.options.script, self.options.folder
        if environ(self.machine).get("PYTHONSAFEPATH") or script == NO_FOLDER:
            return []
        if script:
            return [Place(real(self.machine, script), "script folder")]
        runs = folder and isinstance(self.machine.offline(), Absent)
        return [Place(real(self.machine, folder), "working folder")] if runs else []

    def _inserted(self, site: str) -> Iterator[Place]:
        """Folders that a .pth file puts in front; a plain path comes behind everything."""
        for name in names(self.machine, site, r".*\.pth$"):
            file = f"{site}/{name}"
            found = (
                () if name.startswith(_KNOWN_PTH) else lines(self.machine, file, "sys.path.insert")
            )
            for folder in re.finditer(_INSERTED, "\n".join(found)):
                yield Place(folder["folder"].rstrip("/"), "pth", file)

    # -------------------------------------------------------- names

    def _named(self, folder: str, wanted: frozenset[str]) -> Iterator[tuple[str, str]]:
        """The modules of some names in a folder, each with the name of its file or folder."""
        match = rf"({'|'.join(sorted(wanted))})(\.|$)"
        listed = value_or(self.machine.list(folder, match), ()) if wanted else ()
        for entry in listed[:_MOST]:
            name = self._name(folder, entry)
            if name in wanted:
                yield name, entry.name

    def _name(self, folder: str, entry: Entry) -> str:
        """An entry's import name; "" for no module: a folder without __init__.py loses."""
        if found := re.fullmatch(_MODULE, entry.name):
            return found[1]
        if entry.kind == "file" or not entry.name.isidentifier():
            return ""
        package = folder.endswith(_ARCHIVES) or self._is_package(f"{folder}/{entry.name}")
        return entry.name if package else ""

    def _is_package(self, folder: str) -> bool:
        return exists(self.machine, f"{folder}/__init__.py")

    def _release(self, folder: str, module: str) -> tuple[str, str]:
        """The package of a module's name in a folder, and its release."""
        name = module.replace("-", "[-_.]")
        match = rf"(?i){name}(_gpu|_cpu|_cuda\d+x)?-\d.*\.dist-info$"
        for info in names(self.machine, folder, match):
            package, _, version = info.removesuffix(".dist-info").rpartition("-")
            return normal(package), version
        return "", ""

    # -------------------------------------------------------- before the environment

    def before(self) -> Iterator[Shadow]:
        """What the folders before the environment hold of its modules."""
        own = {real(self.machine, site) for site in self.sites}
        inner, stack = INNER_MODULES & self.there.keys(), STACK_MODULES & self.there.keys()
        rest = frozenset(self.there) - inner - stack
        asked = {IMPORTED_AS.get(one) or one.replace("-", "_") for one in self.asked}
        for place in self.places:
            if real(self.machine, place.folder) in own:
                continue
            found = (self._named(place.folder, some) for some in (stack | _STANDARD, inner, rest))
            for name, entry in (pair for some in found for pair in some):
                if name not in NAMESPACES and (name not in rest or name in asked):
                    yield self._shadow(place, name, entry, self.there.get(name, ""))
            for name in names(self.machine, place.folder, rf"({'|'.join(sorted(NAMESPACES))})$"):
                yield from self._parts_in(place, name)

    def _parts_in(self, place: Place, name: str) -> Iterator[Shadow]:
        """Parts of a shared name that a folder before the environment holds, and it too."""
        joined = not any(self._is_package(f"{site}/{name}") for site in self.sites)
        if joined or self._is_package(f"{place.folder}/{name}"):
            held = {part: site for site in self.sites[::-1] for part in self._parts(site, name)}
            for part in self._parts(place.folder, name):
                if part in held:
                    yield self._shadow(place, part, part.replace(".", "/"), held[part])

    def _shadow(self, place: Place, name: str, entry: str, site: str) -> Shadow:
        """One shadow: of a module, or of a part of a shared name (entry is its path then)."""
        own = _owner_of(name) if "." in name else name
        package, version = self._release(place.folder, own)
        meant_package, meant = self._release(site, own) if site else ("", "")
        refused = refused_by_the_stack(self.facts, package, version) if site and version else None
        other = re.search(r"/python(\d+\.\d+)/(?:site|dist)-packages$", place.folder)
        foreign = own == name and other and other[1] != self.minor
        return Shadow(
            module=name,
            path=f"{place.folder}/{entry}",
            via=place.via,
            file=place.file,
            instead=site,
            standard=not site,
            version=version,
            package=package if package != meant_package else "",
            meant=meant,
            other_python=other[1] if other and foreign else "",
            wanted_by=refused[0] if refused else None,
            wants=refused[1] if refused else "",
        )

    def of_other_pythons(self) -> Iterator[Shadow]:
        """Frameworks that only a folder of the path has, and only for another Python."""
        match = rf"({'|'.join(sorted(FRAMEWORK_MODULES))})$"
        for place in (*self.places, *self.behind):
            for name in names(self.machine, place.folder, match):
                other = "" if name in self.there else made_for(self.machine, place.folder, name)
                if other and other != self.minor:
                    path, version = f"{place.folder}/{name}", self._release(place.folder, name)[1]
                    by = place.via, place.file
                    yield Shadow(name, path, *by, version=version, other_python=other)

    # -------------------------------------------------------- shared names

    def hidden(self) -> Iterator[Shadow]:
        """What hides parts of shared names that the environment's folders hold."""
        every = [*self.places, *(Place(site, "site") for site in self.sites), *self.behind]
        match = rf"({'|'.join(sorted(NAMESPACES))})(\.|$)"
        held = [(place, names(self.machine, place.folder, match)) for place in every]
        for name in NAMESPACES:
            winners = ((p, path) for p, listed in held if (path := self._taken(p, name, listed)))
            place, path = next(winners, (None, ""))
            if place is None or lines(self.machine, f"{path}/__init__.py", *_JOINS):
                continue  # nothing hides them, or it looks for its own parts in all folders
            lost: dict[str, str] = {}
            for site in self.sites:
                for part, entry in self._parts(site, name).items():
                    own = path == f"{place.folder}/{name}" and site == place.folder
                    if not own and not exists(self.machine, f"{path}/{entry}"):
                        lost.setdefault(part, site)
            if lost:
                yield self._hidden(name, place, path, lost)

    def _taken(self, place: Place, name: str, listed: list[str]) -> str:
        """The package or module of a shared name in a folder; "" where it has none."""
        if name in listed and self._is_package(f"{place.folder}/{name}"):
            return f"{place.folder}/{name}"
        own = (one for one in sorted(listed) if one.split(".")[0] == name)
        file = next((one for one in own if one.endswith((".py", ".so"))), "")
        return f"{place.folder}/{file}" if file else ""

    def _parts(self, site: str, name: str) -> dict[str, str]:
        """The parts with code that a folder holds of a shared name, each with its entry.

        NVIDIA's wheels of libraries hold an empty __init__.py only.
        """
        out: dict[str, str] = {}
        match = "|".join(f"{one}$" for one in NAMESPACES[name])
        for entry in names(self.machine, f"{site}/{name}", match):
            path, part = f"{site}/{name}/{entry}", entry.partition(".")[0]
            if part.isidentifier() and not part.startswith("__"):
                code = r"(?!__init__\.py).*\.(py|so)$"
                if entry.endswith((".py", ".so")) or names(self.machine, path, code):
                    out.setdefault(f"{name}.{part}", entry)
        return out

    def _hidden(self, name: str, place: Place, path: str, lost: dict[str, str]) -> Shadow:
        by = {part: self.asked.get(_owner_of(part)) for part in lost}
        wanted_by = next(filter(None, by.values()), None)
        if wanted_by is None and name == "jax_plugins":
            wanted_by = Owner("jax")
        return Shadow(
            module=name,
            path=path,
            via=place.via,
            file=place.file,
            instead=next(iter(lost.values())),
            parts=tuple(sorted(by, key=lambda part: by[part] is None)),
            wanted_by=wanted_by,
        )


def _owner_of(part: str) -> str:
    """The package that installs a part of a shared name: cuda.pathfinder → cuda-pathfinder."""
    return PART_OWNERS.get(part) or part.replace(".", "-").replace("_", "-")
