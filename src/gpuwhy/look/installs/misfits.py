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

    def name(self, tag: re.Match[str]) -> Misfit | None:
        """In which respect a module's name is not one that this Python looks for."""
        minor, flags, processor, libc, mac = tag.groups()
        if mac:
            return Misfit(DamageKind.WRONG_SYSTEM, "Linux", "macOS")
        return self.place(processor, libc) or self.python(minor, "t" if "t" in flags else "")

    def tag(self, tag: str) -> Misfit | None:
        """In which respect a wheel's tag does not fit; None where one of its combinations does."""
        if tag.count("-") != 2:
            return None
        pythons, abis, platforms = (part.split(".") for part in tag.split("-"))
        places: list[Misfit | None] = []
        for platform in platforms:
            system = next((n for start, n in _SYSTEMS.items() if platform.startswith(start)), "")
            linux = re.fullmatch(_LINUX, platform)
            wrong = Misfit(DamageKind.WRONG_SYSTEM, "Linux", system) if system else None
            if linux:
                wrong = self.place(linux[2], "musl" if linux[1] == "musl" else "gnu")
            places.append(wrong)
        pairs: list[Misfit | None] = []
        for minor, abi in ((one.removeprefix("cp3"), abi) for one in pythons for abi in abis):
            stable = abi == "abi3" and minor.isdecimal() and int(minor) <= self.minor
            plain = not minor.isdecimal() or (stable and not self.threads)
            pairs.append(None if plain else self.python(minor, "t" if abi.endswith("t") else ""))
        return _worst(places) or _worst(pairs)


def _worst(judged: list[Misfit | None]) -> Misfit | None:
    """The gravest misfit, where nothing fits."""
    wrong = [one for one in judged if one]
    if not wrong or len(wrong) < len(judged):
        return None
    return min(wrong, key=lambda one: _ORDER.index(one.kind))


def misfits(machine: Machine, facts: Facts, among: Iterable[Package]) -> Iterator[Damage]:
    """Of each package that fits in no respect, one library."""
    python = value_or(facts.environment.python, None)
    version = numbers(python.version) if python else ()
    linux = value_or(facts.system.os, "linux") == "linux"
    if not python or not linux or version[:1] != (3,) or len(version) < 2 or "pypy" in python.path:
        return  # no name of a module tells anything
    free = f"/python{major_minor(python.version)}t/"
    sites = value_or(facts.environment.sites, ())
    threads = "t" if any(free in f"{site.path}/" for site in sites) else ""
    elf = machine.elf(real(machine, python.path))
    loader = elf.value.interpreter if isinstance(elf, Known) else ""
    libc = "musl" if "ld-musl" in loader else "gnu" if "ld-linux" in loader else ""
    here = Here(version[1], threads, python.machine, libc)
    for one in among:
        by_tags = _worst([here.tag(tag) for tag in one.tags])
        if one.tags and by_tags is None:
            continue
        rows = (row.path for row in one.files.ending(".so") if re.search(r"\.so[.\d]*$", row.path))
        paths = [f"{one.site}/{path}" for path in rows if not path.startswith(("/", ".."))]
        found = _misfit(machine, here, paths, by_tags)
        if found is None and not paths and by_tags and by_tags.kind is DamageKind.WRONG_SYSTEM:
            found = f"{one.location}/WHEEL", by_tags
        if found:
            path, wrong = found
            yield Damage(path, wrong.kind, Part.PACKAGE, one.owner, wrong.expected, wrong.actual)


def _misfit(
    machine: Machine, here: Here, paths: list[str], by_tags: Misfit | None
) -> tuple[str, Misfit] | None:
    """What its libraries say: their names first, which know more than the wheel; then headers."""
    named = {path: here.name(tag) for path in paths if (tag := re.search(_NAME_TAG, path))}
    if by_names := _worst([*named.values()]):
        return next(path for path, wrong in named.items() if wrong == by_names), by_names
    elves = [machine.elf(path) for path in paths[:_FEW]]
    found = [elf.value for elf in elves if isinstance(elf, Known)]
    if not paths:
        return None
    if by_tags is None:  # some packages have libraries for two machines on purpose
        machines = {elf.machine for elf in found}
        other = machines and here.machine and here.machine not in machines
        by_tags = Misfit(DamageKind.WRONG_MACHINE, here.machine, min(machines)) if other else None
        return (paths[0], by_tags) if by_tags else None
    libraries = (".abi3." in path or path.rpartition("/")[2].startswith("lib") for path in paths)
    first = elves[0]
    confirmed = {
        DamageKind.WRONG_LIBC: any(n.startswith("libc.musl") for e in found for n in e.needed),
        DamageKind.WRONG_PYTHON: not named and not all(libraries),
        DamageKind.WRONG_MACHINE: not named
        and isinstance(first, Known)
        and first.value.machine != here.machine,
        DamageKind.WRONG_SYSTEM: not named
        and isinstance(first, Unknown)
        and first.kind == "foreign",
    }
    return (paths[0], by_tags) if confirmed[by_tags.kind] else None
