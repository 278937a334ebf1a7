"""Packages without a list of their files, as an installation that was cut short leaves them.

Installers write RECORD last. What such a package lacks is seen by following the imports that run
whenever it is imported, within the package itself, and by the headers of its libraries.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from gpuwhy.facts.environment import Package
from gpuwhy.facts.fact import Known, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.installs import Damage, DamageKind, Part
from gpuwhy.facts.record import Owner
from gpuwhy.look.environment.packages import exists, gone
from gpuwhy.machine.machine import Entry, Machine

_MODULES = ("torch", "tensorflow", "jax", "jaxlib", "onnxruntime", "cupy", "numpy")
_ALSO_FIRST = {"jaxlib": ("xla_client",)}
"""Modules that a package's own __init__ does not import, and whoever imports the package does."""
_ASIDE = r"~+(?P<rest>[\w.]+?)-(?P<version>\d[^-]*)\.dist-info"
"""How pip names what it has moved aside: with another first letter."""
_MOST_FILES, _MOST_LIBRARIES, _MOST_PARTS = 80, 60, 4000


class Folder(NamedTuple):
    """A package on the disk: its folder and who it belongs to."""

    path: str
    owner: Owner

    @property
    def name(self) -> str:
        """Its import name."""
        return self.path.rpartition("/")[2]


def unrecorded(machine: Machine, facts: Facts, among: Iterable[Package]) -> Iterator[Damage]:
    """What is missing or cut in packages that no RECORD describes."""
    if value_or(facts.system.os, "") == "windows":
        return
    known = list(among)
    for one in (*_without_record(machine, known), *_without_metadata(machine, facts)):
        yield from _cut(machine, one)
        yield from _lacking(machine, one)
    yield from _broken_off(machine, facts)


def _without_record(machine: Machine, among: Iterable[Package]) -> Iterator[Folder]:
    for one in among:
        if not one.recorded and one.location.endswith(".dist-info"):
            folder = f"{one.site}/{_module(one)}"
            if exists(machine, f"{folder}/__init__.py"):
                yield Folder(folder, one.owner)


def _module(one: Package) -> str:
    from gpuwhy.knowledge.flavours import flavour

    kind = flavour(one.name)
    return kind.module if kind else one.name.replace("-", "_")


def _without_metadata(machine: Machine, facts: Facts) -> Iterator[Folder]:
    """Folders of the frameworks that no installed package is named after."""
    named = {_module(one) for one in value_or(facts.environment.packages, ())}
    wanted = [
        name
        for name in _MODULES
        if name not in named and not any(one.startswith(f"{name}_") for one in named)
    ]
    for site in value_or(facts.environment.sites, ()) if wanted else ():
        for entry in value_or(machine.list(site.path, rf"({'|'.join(wanted)})$"), ()):
            folder = f"{site.path}/{entry.name}"
            if exists(machine, f"{folder}/__init__.py"):
                yield Folder(folder, Owner(entry.name, _version(machine, folder)))


def _version(machine: Machine, folder: str) -> str:
    """What the package states of itself."""
    for name in ("version.py", "_version.py"):
        for line in value_or(machine.lines(f"{folder}/{name}", "ersion"), ()):
            found = re.match(r"_{0,2}version_{0,2}\s*(?::\s*\w+\s*)?=\s*['\"](\d[\w.]*)", line)
            if found:
                return found[1]
    return ""


def _broken_off(machine: Machine, facts: Facts) -> Iterator[Damage]:
    """Frameworks that pip had moved aside (~orch) for another release when it was ended."""
    names = {one.name for one in value_or(facts.environment.packages, ())}
    for site in value_or(facts.environment.sites, ()):
        for entry in value_or(machine.list(site.path, r"~.*\.dist-info$"), ()):
            aside = re.fullmatch(_ASIDE, entry.name)
            rest = aside["rest"] if aside else ""
            module = next((one for one in _MODULES if rest and one[1:] == rest), "")
            if not aside or not module or module in names:
                continue
            path = _not_there(machine, site.path, entry.name, module)
            if path:
                owner = Owner(module, aside["version"], "pip")
                kind, part = DamageKind.HALF_UPGRADED, Part.PACKAGE
                yield Damage(path, kind, part, owner, actual=entry.name)


def _not_there(machine: Machine, site: str, aside: str, module: str) -> str:
    """The first package of what was moved aside that is not in its old place; "" if all are."""
    lines = value_or(machine.lines(f"{site}/{aside}/RECORD", "/__init__.py,"), ())
    named = (line.partition(",")[0] for line in lines if line.startswith(f"{module}/"))
    paths = (f"{site}/{one}" for one in dict.fromkeys((f"{module}/__init__.py", *named)))
    return next((path for path in islice(paths, _MOST_PARTS) if gone(machine, path)), "")


# ------------------------------------------------------------ what one lacks


def _cut(machine: Machine, one: Folder) -> Iterator[Damage]:
    """Libraries that are no libraries, or end too early."""
    match = r".*\.so(\.\d+)*$"
    folders = (one.path, f"{one.path}/lib")
    found = [f"{f}/{e.name}" for f in folders for e in value_or(machine.list(f, match), ())]
    for path in found[:_MOST_LIBRARIES]:
        stat, elf = machine.stat(path), machine.elf(path)
        size = stat.value.size if isinstance(stat, Known) else -1
        if isinstance(elf, Unknown) and elf.kind in ("foreign", "cut"):
            foreign = elf.kind == "foreign"
            kind = DamageKind.NOT_A_LIBRARY if foreign else DamageKind.TRUNCATED
            kind = kind if size else DamageKind.EMPTY
            yield Damage(path, kind, Part.LIBRARY, one.owner, size=size)
        elif isinstance(elf, Known) and elf.value.extent > size >= 0:
            said = f"its headers say {elf.value.extent} bytes"
            kind = DamageKind.TRUNCATED
            yield Damage(path, kind, Part.LIBRARY, one.owner, actual=said, size=size)


def _lacking(machine: Machine, one: Folder) -> Iterator[Damage]:
    """The first module that an import of the package asks for and does not find."""
    waiting = ["__init__", *_ALSO_FIRST.get(one.name, ())]
    seen: set[str] = set()
    while waiting and len(seen) < _MOST_FILES:
        module = waiting.pop(0)
        if module in seen or module == "-":
            continue
        seen.add(module)
        for wanted in _imports(machine, one, module):
            found = _found(machine, one, wanted)
            if not found:
                path = f"{one.path}/{wanted.lstrip('?').replace('.', '/')}"
                yield Damage(path, DamageKind.MISSING, Part.MODULE, one.owner)
                return
            waiting.append(found)


def _imports(machine: Machine, one: Folder, module: str) -> Iterator[str]:
    """The modules of the package that a module imports without a condition."""
    import ast

    text = machine.read(f"{one.path}/{module.replace('.', '/')}.py")
    try:
        body = ast.parse(text.value).body if isinstance(text, Known) else []
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    here = module.split(".")[:-1]
    inside = f"{one.name}."
    for node in body:
        if isinstance(node, ast.Import):
            names = (name.name for name in node.names)
            yield from (name.removeprefix(inside) for name in names if name.startswith(inside))
        elif isinstance(node, ast.ImportFrom) and node.level <= len(here) + 1:
            base = here[: len(here) + 1 - node.level] if node.level else []
            wanted = node.module or ""
            if not node.level:
                wanted = wanted.removeprefix(inside) if wanted.startswith(inside) else ""
            if wanted:  # what `from .a import b` takes of a cannot be told
                yield ".".join([*base, wanted])
            elif node.level:  # of `from . import b` only a folder of stubs counts
                names = (name.name for name in node.names if name.name != "*")
                yield from (f"?{'.'.join([*base, name])}" for name in names)


def _found(machine: Machine, one: Folder, asked: str) -> str:
    """The file to read on with, "" where nothing of that name is there; a folder by its __init__;
    "-" where its inside cannot be told.
    """
    module = asked.lstrip("?")
    parts = module.split(".")
    there: tuple[Entry, ...] = ()
    for place in range(1, len(parts) + 1):
        there = _there(machine, one, parts[:place])
        if any(entry.name.endswith((".so", ".pyd")) for entry in there):
            return "-"  # what lies below a compiled module is made when it is loaded
        if not there:
            return "-" if asked != module else ""
    if all(entry.kind == "file" for entry in there):
        return module
    folder = f"{one.path}/{module.replace('.', '/')}"
    inits = value_or(machine.list(folder, r"__init__\.pyi?$"), ())
    if {entry.name for entry in inits} == {"__init__.pyi"}:
        return ""  # the types of a compiled module that is gone
    return f"{module}.__init__" if asked == module else "-"


def _there(machine: Machine, one: Folder, parts: list[str]) -> tuple[Entry, ...]:
    parent = "/".join([one.path, *parts[:-1]])
    match = rf"{re.escape(parts[-1])}(\.(py|pyc|so|pyd|cpython.*|abi3.*))?$"
    return value_or(machine.list(parent, match), ())
