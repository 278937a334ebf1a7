"""Packages that were built for another machine, system, C library or Python than the environment's.

A wheel states in its tags what it was built for, its modules in their names; the header of a
library has the last word on the machine. Where one tag or one name fits, the package is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gpuwhy.facts.environment import Package
from gpuwhy.facts.fact import Known, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.installs import Damage, DamageKind, Part
from gpuwhy.facts.version import major_minor, numbers
from gpuwhy.look.files import real
from gpuwhy.machine.machine import Machine

_ORDER = (
    DamageKind.WRONG_SYSTEM,
    DamageKind.WRONG_MACHINE,
    DamageKind.WRONG_LIBC,
    DamageKind.WRONG_PYTHON,
)
_NAME_TAG = r"\.cpython-3(\d+)([a-z]*)-(?:([a-z0-9_]+)-linux-(gnu|musl)\w*|(darwin))\.so$"
_LINUX = r"(many|musl)?linux(?:1|20\d\d|_\d+_\d+)?_(\w+)"
_SYSTEMS = {"win": "Windows", "macosx": "macOS", "ios": "iOS", "android": "Android"}
_SAME = {"amd64": "x86_64", "arm64": "aarch64", "powerpc64le": "ppc64le", "i386": "i686"}
_FEW = 4  # libraries whose headers are read


class Misfit(NamedTuple):
    """In which respect a tag does not fit."""

    kind: DamageKind
    expected: str
    actual: str


class Here(NamedTuple):
    """What the environment's Python is."""

    minor: int  # 11 of 3.11
    threads: str  # "t": without the global lock
    machine: str
    libc: str  # "gnu", "musl", "" = not known

    def place(self, processor: str, libc: str) -> Misfit | None:
        """Whether code for a processor and a C library runs; musl's Pythons take glibc's too."""
        same = _SAME.get(processor, processor) == _SAME.get(self.machine, self.machine)
        if self.machine and not same:
            return Misfit(DamageKind.WRONG_MACHINE, self.machine, processor)
        wrong = self.libc == "gnu" and libc == "musl"
        return Misfit(DamageKind.WRONG_LIBC, "glibc", "musl") if wrong else None

    def python(self, minor: str, threads: str) -> Misfit | None:
        """Whether a module for a Python is imported."""
        if (int(minor), threads) == (self.minor, self.threads):
            return None
        expected, actual = f"3.{self.minor}{self.threads}", f"3.{minor}{threads}"
        return Misfit(DamageKind.WRONG_PYTHON, expected, actual)


def misfits(machine: Machine, facts: Facts, among: Iterable[Package]) -> Iterator[Damage]:
    """Of each package that fits in no respect, one library."""
    here = _python_here(machine, facts)
    for one in among if here else ():
        if here and (found := _misfit(machine, here, one)):
            path, wrong = found
            yield Damage(path, wrong.kind, Part.PACKAGE, one.owner, wrong.expected, wrong.actual)


def _python_here(machine: Machine, facts: Facts) -> Here | None:
    """What the environment's Python is; None where no name of a module tells anything."""
    one = value_or(facts.environment.python, None)
    version = numbers(one.version) if one else ()
    linux = value_or(facts.system.os, "linux") == "linux"
    if not one or not linux or version[:1] != (3,) or len(version) < 2 or "pypy" in one.path:
        return None
    free = f"/python{major_minor(one.version)}t/"
    sites = value_or(facts.environment.sites, ())
    threads = "t" if any(free in f"{site.path}/" for site in sites) else ""
    elf = machine.elf(real(machine, one.path))
    loader = elf.value.interpreter if isinstance(elf, Known) else ""
    libc = "musl" if "ld-musl" in loader else "gnu" if "ld-linux" in loader else ""
    return Here(version[1], threads, one.machine, libc)


def _misfit(machine: Machine, here: Here, one: Package) -> tuple[str, Misfit] | None:
    by_tags = _worst([_of_tag(here, tag) for tag in one.tags])
    if one.tags and by_tags is None:
        return None
    listed = (row.path for row in one.files.ending(".so") if re.search(r"\.so[.\d]*$", row.path))
    paths = [f"{one.site}/{path}" for path in listed if not path.startswith(("/", ".."))]
    named = {path: tag for path in paths if (tag := re.search(_NAME_TAG, path))}
    by_names = _worst([_of_name(here, tag) for tag in named.values()])
    if by_names:
        return next(path for path in named if _of_name(here, named[path]) == by_names), by_names
    if not paths:
        system = by_tags is not None and by_tags.kind is DamageKind.WRONG_SYSTEM
        return (f"{one.location}/WHEEL", by_tags) if by_tags and system else None
    elves = [machine.elf(path) for path in paths[:_FEW]]
    if by_tags is None:  # some packages have libraries for two machines on purpose
        found = {elf.value.machine for elf in elves if isinstance(elf, Known)}
        other = found and here.machine and here.machine not in found
        wrong = Misfit(DamageKind.WRONG_MACHINE, here.machine, min(found)) if other else None
        return (paths[0], wrong) if wrong else None
    if by_tags.kind is DamageKind.WRONG_LIBC:  # musl's Pythons wrote -gnu for long
        needed = [name for elf in elves if isinstance(elf, Known) for name in elf.value.needed]
        confirmed = any(name.startswith("libc.musl") for name in needed)
    elif named:
        return None  # the modules' own names say more than the wheel
    elif by_tags.kind is DamageKind.WRONG_PYTHON:
        plain = (".abi3." in path or path.rpartition("/")[2].startswith("lib") for path in paths)
        confirmed = not all(plain)
    elif isinstance(elf := elves[0], Known):
        confirmed = elf.value.machine != here.machine and by_tags.kind is DamageKind.WRONG_MACHINE
    else:
        foreign = isinstance(elf, Unknown) and elf.kind == "foreign"
        confirmed = foreign and by_tags.kind is DamageKind.WRONG_SYSTEM
    return (paths[0], by_tags) if confirmed else None


def _worst(judged: list[Misfit | None]) -> Misfit | None:
    """The gravest misfit, where nothing fits."""
    wrong = [one for one in judged if one]
    if not wrong or len(wrong) < len(judged):
        return None
    return min(wrong, key=lambda one: _ORDER.index(one.kind))


def _of_name(here: Here, tag: re.Match[str]) -> Misfit | None:
    """In which respect a module's name is not one that this Python looks for."""
    minor, flags, processor, libc, mac = tag.groups()
    if mac:
        return Misfit(DamageKind.WRONG_SYSTEM, "Linux", "macOS")
    return here.place(processor, libc) or here.python(minor, "t" if "t" in flags else "")


def _of_tag(here: Here, tag: str) -> Misfit | None:
    """In which respect a wheel's tag does not fit; None where one of its combinations does."""
    if tag.count("-") != 2:
        return None
    pythons, abis, platforms = (part.split(".") for part in tag.split("-"))
    pairs = [_of_pair(here, python, abi) for python in pythons for abi in abis]
    return _worst([_of_place(here, place) for place in platforms]) or _worst(pairs)


def _of_pair(here: Here, python: str, abi: str) -> Misfit | None:
    minor = python.removeprefix("cp3")
    if not python.startswith("cp3") or not minor.isdecimal():
        return None
    stable = abi == "abi3" and int(minor) <= here.minor and not here.threads
    return None if stable else here.python(minor, "t" if abi.endswith("t") else "")


def _of_place(here: Here, place: str) -> Misfit | None:
    for start, name in _SYSTEMS.items():
        if place.startswith(start):
            return Misfit(DamageKind.WRONG_SYSTEM, "Linux", name)
    linux = re.fullmatch(_LINUX, place)
    return here.place(linux[2], "musl" if linux[1] == "musl" else "gnu") if linux else None
