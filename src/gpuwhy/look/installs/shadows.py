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
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from gpuwhy.facts.environment import Python
from gpuwhy.facts.fact import Absent, Fact, Known, absent, known, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.installs import Shadow, ShadowVia
from gpuwhy.facts.record import Owner
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
from gpuwhy.look.environment.packages import exists, normal
from gpuwhy.look.environment.python import made_for, pth_folders, user_base
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
_BARE = 600  # bytes: an __init__.py that marks a folder of libraries
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
        self.user = f"{user_base(machine)}/lib/python{self.minor}/site-packages"
        self.pythonpath = self._pythonpath()
        aside = {*self.pythonpath, self.user}
        every = [site.path for site in value_or(facts.environment.sites, ())]
        self.sites = [one for one in every if one not in aside]
        self.places = list(self._places())
        self.behind = [
            Place(folder, "pth", file)
            for site in self.sites
            for folder, file in pth_folders(machine, site)
        ]

    @cached_property
    def asked(self) -> dict[str, Owner]:
        """What the GPU stack asks for, and who asks first."""
        return asked_by_the_stack(self.facts)

    @cached_property
    def there(self) -> dict[str, str]:
        """The modules in the environment's own folders, each with its folder."""
        beside = frozenset(self._beside())
        return {
            name: site
            for site in reversed(self.sites)
            for wanted in (STACK_MODULES, INNER_MODULES, beside)
            for name, _ in self.named(site, wanted)
        }

    def _beside(self) -> Iterator[str]:
        """The import names of what is installed besides, as far as a name tells them."""
        for one in value_or(self.facts.environment.packages, ()):
            name = IMPORTED_AS.get(one.name) or re.sub(r"[-.]", "_", one.name)
            if name.isidentifier() and name not in STACK_MODULES | INNER_MODULES | _STANDARD:
                yield name

    def _real(self, path: str) -> str:
        return value_or(self.machine.real(path), path)

    def _pythonpath(self) -> list[str]:
        value = value_or(self.machine.environ(), {}).get("PYTHONPATH", "")
        parts = [part.rstrip("/") or "/" for part in value.split(":") if part]
        if all(part.startswith("/") for part in parts):
            return parts
        start = value_or(self.machine.real(self.options.folder or "."), "")
        return [
            part if part.startswith("/") else posixpath.normpath(f"{start}/{part}")
            for part in parts
        ]

    def _places(self) -> Iterator[Place]:
        """The folders that are searched before the environment."""
        environ = value_or(self.machine.environ(), {})
        script, folder = self.options.script, self.options.folder
        if not environ.get("PYTHONSAFEPATH") and script != NO_FOLDER:
            if script:
                yield Place(self._real(script), "script folder")
            elif folder and isinstance(self.machine.offline(), Absent):
                yield Place(self._real(folder), "working folder")
        yield from (Place(one, "PYTHONPATH") for one in self.pythonpath)
        for site in self.sites:
            yield from self._inserted(site)
        if self.python.kind == "conda":
            yield Place(self.user, "user site")

    def _inserted(self, site: str) -> Iterator[Place]:
        """Folders that a .pth file puts in front; a plain path comes behind everything."""
        for entry in value_or(self.machine.list(site, r".*\.pth$"), ()):
            if entry.name.startswith(_KNOWN_PTH):
                continue
            file = f"{site}/{entry.name}"
            for line in value_or(self.machine.lines(file, "sys.path.insert"), ()):
                for found in re.finditer(_INSERTED, line):
                    yield Place(found["folder"].rstrip("/"), "pth", file)

    # -------------------------------------------------------- names

    def named(self, folder: str, names: frozenset[str]) -> Iterator[tuple[str, Entry]]:
        """The modules of some names in a folder."""
        match = rf"({'|'.join(sorted(names))})(\.|$)"
        listed = self.machine.list(folder, match) if names else None
        for entry in (listed.value if isinstance(listed, Known) else ())[:_MOST]:
            name = self._name(folder, entry)
            if name in names:
                yield name, entry

    def _name(self, folder: str, entry: Entry) -> str:
        """An entry's import name; "" for no module: a folder without __init__.py loses."""
        found = re.fullmatch(_MODULE, entry.name)
        if found:
            return found[1]
        if entry.kind == "file" or not entry.name.isidentifier():
            return ""
        if folder.endswith(_ARCHIVES) or exists(self.machine, f"{folder}/{entry.name}/__init__.py"):
            return entry.name
        return ""

    def release(self, folder: str, module: str) -> tuple[str, str]:
        """The package of a module's name in a folder, and its release."""
        name = module.replace("-", "[-_.]")
        match = rf"(?i){name}(_gpu|_cpu|_cuda\d+x)?-\d.*\.dist-info$"
        for entry in value_or(self.machine.list(folder, match), ()):
            package, _, version = entry.name.removesuffix(".dist-info").rpartition("-")
            return normal(package), version
        return "", ""

    # -------------------------------------------------------- before the environment

    def before(self) -> Iterator[Shadow]:
        """What the folders before the environment hold of its modules."""
        real_sites = {self._real(site) for site in self.sites}
        for place in self.places:
            if self._real(place.folder) not in real_sites:
                yield from self._in_folder(place)
                yield from self._parts_in(place)

    def _in_folder(self, place: Place) -> Iterator[Shadow]:
        inner, stack = INNER_MODULES & self.there.keys(), STACK_MODULES & self.there.keys()
        rest = frozenset(self.there) - inner - stack
        for name, entry in (
            *self.named(place.folder, stack | _STANDARD),
            *self.named(place.folder, inner),
            *self.named(place.folder, rest),
        ):
            if name in NAMESPACES or (name in rest and name not in self._asked_modules):
                continue  # what the former hide is told part by part
            yield self._shadow(place, name, entry)

    @cached_property
    def _asked_modules(self) -> frozenset[str]:
        """The import names of what the GPU stack asks for."""
        return frozenset(IMPORTED_AS.get(one) or one.replace("-", "_") for one in self.asked)

    def _shadow(self, place: Place, name: str, entry: Entry) -> Shadow:
        site = self.there.get(name, "")
        package, version = self.release(place.folder, name)
        meant_package, meant = self.release(site, name) if site else ("", "")
        refused = refused_by_the_stack(self.facts, package, version) if site and version else None
        return Shadow(
            module=name,
            path=f"{place.folder}/{entry.name}",
            via=place.via,
            file=place.file,
            instead=site,
            standard=not site,
            version=version,
            package=package if version and package != meant_package else "",
            meant=meant,
            other_python=self._other_python(place.folder),
            wanted_by=refused[0] if refused else None,
            wants=refused[1] if refused else "",
        )

    def _other_python(self, folder: str) -> str:
        """The Python that a folder of packages belongs to, where it is another; else ""."""
        found = re.search(r"/python(\d+\.\d+)/(?:site|dist)-packages$", folder)
        return found[1] if found and found[1] != self.minor else ""

    # -------------------------------------------------------- other Pythons

    def of_other_pythons(self) -> Iterator[Shadow]:
        """Frameworks that only a folder of the path has, and only for another Python."""
        match = rf"({'|'.join(sorted(FRAMEWORK_MODULES))})$"
        for place in (*self.places, *self.behind):
            for entry in value_or(self.machine.list(place.folder, match), ()):
                if entry.name in self.there:
                    continue
                other = made_for(self.machine, place.folder, entry.name)
                if other and other != self.minor:
                    yield Shadow(
                        module=entry.name,
                        path=f"{place.folder}/{entry.name}",
                        via=place.via,
                        file=place.file,
                        version=self.release(place.folder, entry.name)[1],
                        other_python=other,
                    )

    # -------------------------------------------------------- shared names

    def _parts_in(self, place: Place) -> Iterator[Shadow]:
        """Parts of shared names that a folder before the environment holds, and it too."""
        match = rf"({'|'.join(sorted(NAMESPACES))})$"
        for entry in value_or(self.machine.list(place.folder, match), ()):
            name, wanted = entry.name, NAMESPACES[entry.name]
            package = self._is_package(f"{place.folder}/{name}")
            joined = not any(self._is_package(f"{site}/{name}") for site in self.sites)
            for part in self._parts(place.folder, name, wanted) if package or joined else ():
                holding = (s for s in self.sites if part in self._parts(s, name, wanted))
                site = next(holding, "")
                if site:
                    yield self._part_shadow(place, site, part)

    def _is_package(self, folder: str) -> bool:
        return exists(self.machine, f"{folder}/__init__.py")

    def _part_shadow(self, place: Place, site: str, part: str) -> Shadow:
        name = _owner_of(part)
        version, meant = self.release(place.folder, name)[1], self.release(site, name)[1]
        refused = refused_by_the_stack(self.facts, name, version) if version else None
        return Shadow(
            module=part,
            path=f"{place.folder}/{part.replace('.', '/')}",
            via=place.via,
            file=place.file,
            instead=site,
            version=version,
            meant=meant,
            wanted_by=refused[0] if refused else None,
            wants=refused[1] if refused else "",
        )

    def hidden(self) -> Iterator[Shadow]:
        """What hides parts of shared names that the environment's folders hold."""
        own = [Place(site, "site") for site in self.sites]
        every = [*self.places, *own, *self.behind]
        match = rf"({'|'.join(sorted(NAMESPACES))})(\.|$)"
        listed = {one.folder: value_or(self.machine.list(one.folder, match), ()) for one in every}
        for name, wanted in NAMESPACES.items():
            winner = self._winner(name, every, listed)
            if winner is None or self._joins(winner[1]):
                continue
            place, path = winner
            as_folder = path == f"{place.folder}/{name}"
            lost = [
                (part, site)
                for site in self.sites
                if not (as_folder and site == place.folder)
                for part, entry in self._parts(site, name, wanted).items()
                if not (as_folder and exists(self.machine, f"{path}/{entry}"))
            ]
            if lost:
                yield self._hidden(name, place, path, lost)

    def _winner(
        self, name: str, places: Sequence[Place], listed: Mapping[str, tuple[Entry, ...]]
    ) -> tuple[Place, str] | None:
        """The package or module of a shared name that Python takes, and where it is."""
        for place in places:
            names = {entry.name for entry in listed[place.folder]}
            if name in names and self._is_package(f"{place.folder}/{name}"):
                return place, f"{place.folder}/{name}"
            for file in sorted(names):
                if file.split(".")[0] == name and file.endswith((".py", ".so")):
                    return place, f"{place.folder}/{file}"
        return None

    def _joins(self, path: str) -> bool:
        """Whether the package looks for its own parts in the other folders too."""
        return bool(value_or(self.machine.lines(f"{path}/__init__.py", *_JOINS), ()))

    def _parts(self, site: str, name: str, wanted: tuple[str, ...]) -> dict[str, str]:
        """The parts with code that a folder holds of a shared name, each with its entry."""
        match = "|".join(f"{one}$" for one in wanted)
        out: dict[str, str] = {}
        for entry in value_or(self.machine.list(f"{site}/{name}", match), ()):
            part = entry.name.partition(".")[0]
            module = part.isidentifier() and not part.startswith("__")
            if module and self._has_code(f"{site}/{name}", entry):
                out.setdefault(f"{name}.{part}", entry.name)
        return out

    def _has_code(self, folder: str, entry: Entry) -> bool:
        """NVIDIA's wheels of libraries hold an empty __init__.py only."""
        if entry.name.endswith((".py", ".so")):
            return True
        path = f"{folder}/{entry.name}"
        listed = value_or(self.machine.list(path, r".*\.(py|so)$"), ())
        if any(one.name != "__init__.py" for one in listed):
            return True
        stat = self.machine.stat(f"{path}/__init__.py")
        return isinstance(stat, Known) and stat.value.size > _BARE

    def _hidden(
        self, name: str, place: Place, path: str, lost: Sequence[tuple[str, str]]
    ) -> Shadow:
        by = {part: self.asked.get(_owner_of(part)) for part, _ in lost}
        parts = tuple(sorted(by, key=lambda part: by[part] is None))
        wanted_by = next(filter(None, by.values()), None)
        if wanted_by is None and name == "jax_plugins":
            wanted_by = Owner("jax")
        return Shadow(
            module=name,
            path=path,
            via=place.via,
            file=place.file,
            instead=lost[0][1],
            parts=parts,
            wanted_by=wanted_by,
        )


def _owner_of(part: str) -> str:
    """The package that installs a part of a shared name: cuda.pathfinder → cuda-pathfinder."""
    return PART_OWNERS.get(part) or part.replace(".", "-").replace("_", "-")
