"""Packages that were built for another machine, system, C library or Python than the environment's.

A wheel states in its tags what it was built for, its modules in their names; the header of a
library has the last word on the machine. Where one tag or one name fits, the package is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
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
_FEW = 4  # libraries whose headers are asked which C library they want


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

    def of_machine(self, processor: str) -> Misfit | None:
        """Whether code for a processor runs."""
        same = _SAME.get(processor, processor) == _SAME.get(self.machine, self.machine)
        if same or not self.machine:
            return None
        return Misfit(DamageKind.WRONG_MACHINE, self.machine, processor)

    def of_libc(self, libc: str) -> Misfit | None:
        """Whether code for a C library runs; musl's Pythons take glibc's names too."""
        wrong = self.libc == "gnu" and libc == "musl"
        return Misfit(DamageKind.WRONG_LIBC, "glibc", "musl") if wrong else None

    def of_python(self, minor: int, threads: str) -> Misfit | None:
        """Whether a module for a Python is imported."""
        if (minor, threads) == (self.minor, self.threads):
            return None
        expected, actual = f"3.{self.minor}{self.threads}", f"3.{minor}{threads}"
        return Misfit(DamageKind.WRONG_PYTHON, expected, actual)


def misfits(machine: Machine, facts: Facts, among: Iterable[Package]) -> Iterator[Damage]:
    """Of each package that fits in no respect, one library."""
    here = _python_here(machine, facts)
    for one in among if here else ():
        found = here and _misfit(machine, here, one)
        if found:
            path, wrong = found
            yield Damage(path, wrong.kind, Part.PACKAGE, one.owner, wrong.expected, wrong.actual)


def _python_here(machine: Machine, facts: Facts) -> Here | None:
    """What the environment's Python is; None where no name of a module tells anything."""
    one = value_or(facts.environment.python, None)
    version = numbers(one.version) if one else ()
    if not one or value_or(facts.system.os, "linux") != "linux":
        return None
    if version[:1] != (3,) or len(version) < 2 or "pypy" in one.path:
        return None
    sites = value_or(facts.environment.sites, ())
    free = f"/python{major_minor(one.version)}t/"
    threads = "t" if any(free in f"{site.path}/" for site in sites) else ""
    elf = machine.elf(real(machine, one.path))
    loader = elf.value.interpreter if isinstance(elf, Known) else ""
    libc = "musl" if "ld-musl" in loader else "gnu" if "ld-linux" in loader else ""
    return Here(version[1], threads, one.machine, libc)


def _misfit(machine: Machine, here: Here, one: Package) -> tuple[str, Misfit] | None:
    by_tags = _worst([_of_tag(here, tag) for tag in one.tags])
    if by_tags is None and one.tags:
        return None
    listed = (row.path for row in one.files.ending(".so") if re.search(r"\.so[.\d]*$", row.path))
    paths = [f"{one.site}/{path}" for path in listed if not path.startswith(("/", ".."))]
    named = [(path, tag) for path in paths if (tag := re.search(_NAME_TAG, path))]
    judged = {path: _of_name(here, tag) for path, tag in named}
    if by_names := _worst(list(judged.values())):
        return next(path for path, wrong in judged.items() if wrong == by_names), by_names
    if by_tags is None:
        return _of_headers(machine, here, paths)
    if by_tags.kind is DamageKind.WRONG_SYSTEM and not paths:
        return f"{one.location}/WHEEL", by_tags
    # musl's Pythons wrote -gnu for long; else the modules' own names say more than the wheel
    if (named and by_tags.kind is not DamageKind.WRONG_LIBC) or not paths:
        return None
    return (paths[0], by_tags) if _confirmed(machine, here, by_tags, paths) else None


def _worst(judged: Sequence[Misfit | None]) -> Misfit | None:
    """The gravest misfit, where nothing fits."""
    wrong = [one for one in judged if one]
    if not wrong or len(wrong) < len(judged):
        return None
    return min(wrong, key=lambda one: _ORDER.index(one.kind))


def _of_headers(machine: Machine, here: Here, paths: Sequence[str]) -> tuple[str, Misfit] | None:
    """Where nothing is stated, by the libraries: some packages have those of two on purpose."""
    elves = [machine.elf(path) for path in paths[:_FEW]]
    found = {elf.value.machine for elf in elves if isinstance(elf, Known)}
    if not found or not here.machine or here.machine in found:
        return None
    return paths[0], Misfit(DamageKind.WRONG_MACHINE, here.machine, min(found))


def _of_name(here: Here, tag: re.Match[str]) -> Misfit | None:
    """In which respect a module's name is not one that this Python looks for."""
    minor, flags, processor, libc, mac = tag.groups()
    if mac:
        return Misfit(DamageKind.WRONG_SYSTEM, "Linux", "macOS")
    python = here.of_python(int(minor), "t" if "t" in flags else "")
    return here.of_machine(processor) or here.of_libc(libc) or python


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
    if abi == "abi3" and int(minor) <= here.minor and not here.threads:
        return None
    return here.of_python(int(minor), "t" if abi.endswith("t") else "")


def _of_place(here: Here, place: str) -> Misfit | None:
    for start, name in _SYSTEMS.items():
        if place.startswith(start):
            return Misfit(DamageKind.WRONG_SYSTEM, "Linux", name)
    linux = re.fullmatch(_LINUX, place)
    if not linux:
        return None
    return here.of_machine(linux[2]) or here.of_libc("musl" if linux[1] == "musl" else "gnu")


def _confirmed(machine: Machine, here: Here, wrong: Misfit, paths: Sequence[str]) -> bool:
    """Whether the libraries themselves do not belie the wheel's tag."""
    if wrong.kind is DamageKind.WRONG_PYTHON:
        plain = (".abi3." in path or path.rpartition("/")[2].startswith("lib") for path in paths)
        return not all(plain)
    if wrong.kind is DamageKind.WRONG_LIBC:
        elves = [machine.elf(path) for path in paths[:_FEW]]
        names = [name for elf in elves if isinstance(elf, Known) for name in elf.value.needed]
        return any(name.startswith("libc.musl") for name in names)
    elf = machine.elf(paths[0])
    if isinstance(elf, Unknown):
        return wrong.kind is DamageKind.WRONG_SYSTEM and elf.kind == "foreign"
    other = isinstance(elf, Known) and elf.value.machine != here.machine
    return other and wrong.kind is DamageKind.WRONG_MACHINE
