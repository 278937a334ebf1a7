"""Packages without a list of their files, as an installation that was cut short leaves them.

Installers write RECORD last. What such a package lacks is seen by the headers of its libraries.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from gpuwhy.facts.environment import Metadata, Package
from gpuwhy.facts.fact import Known, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.installs import Damage, DamageKind, Part
from gpuwhy.facts.record import Owner
from gpuwhy.look.environment.packages import exists, gone
from gpuwhy.machine.machine import Machine

_MODULES = ("torch", "tensorflow", "jax", "jaxlib", "onnxruntime", "cupy", "numpy")
_ASIDE = r"~+(?P<rest>[\w.]+?)-(?P<version>\d[^-]*)\.dist-info"
"""How pip names what it has moved aside: with another first letter."""
_MOST_LIBRARIES, _MOST_PARTS = 60, 4000


class Folder(NamedTuple):
    """A package on the disk: its folder and who it belongs to."""

    path: str
    owner: Owner


def unrecorded(machine: Machine, facts: Facts, among: Iterable[Package]) -> Iterator[Damage]:
    """What is missing or cut in packages that no RECORD describes."""
    if value_or(facts.system.os, "") == "windows":
        return
    known = list(among)
    python = value_or(facts.environment.python, None)
    for package in known if python and python.kind == "venv" else ():
        whole = package.metadata is Metadata.WHOLE
        if whole and not package.recorded and not package.installer:  # pip writes both last
            path, kind = f"{package.location}/RECORD", DamageKind.MISSING
            yield Damage(path, kind, Part.METADATA, package.owner)
    for one in (*_without_record(machine, known), *_without_metadata(machine, facts)):
        yield from _cut(machine, one)
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
