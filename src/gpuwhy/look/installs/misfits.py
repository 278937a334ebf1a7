"""Packages that were built for another machine, system, C library or Python than the environment's.

A wheel states in its tags what it was built for, its modules in their names; the header of a
library has the last word on the machine. Where one tag or one name fits, the package is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from gpuwhy.facts.environment import Package
from gpuwhy.facts.fact import Known, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.installs import Damage, DamageKind, Part
from gpuwhy.facts.version import major_minor, numbers
from gpuwhy.machine.machine import Machine

_ORDER = (
    DamageKind.WRONG_SYSTEM,
    DamageKind.WRONG_MACHINE,
    DamageKind.WRONG_LIBC,
    DamageKind.WRONG_PYTHON,
)
NAME_TAG = r"\.cpython-3(\d+)([a-z]*)-(?:([a-z0-9_]+)-linux-(gnu|musl)\w*|(darwin))\.so$"
_LINUX = r"(many|musl)?linux(?:1|20\d\d|_\d+_\d+)?_(\w+)"
_SYSTEMS = {"win": "Windows", "macosx": "macOS", "ios": "iOS", "android": "Android"}
_SAME = {"amd64": "x86_64", "arm64": "aarch64", "powerpc64le": "ppc64le", "i386": "i686"}
_FEW = 4  # libraries whose headers are asked which C library they want


class Here(NamedTuple):
    """What the environment's Python is."""

    minor: int  # 11 of 3.11
    threads: str  # "t": without the global lock
    machine: str
    libc: str  # "gnu", "musl", "" = not known


class Misfit(NamedTuple):
    """In which respect a tag does not fit."""

    kind: DamageKind
    expected: str
    actual: str


Libraries = Callable[[Package], Sequence[str]]


def misfits(
    machine: Machine, facts: Facts, among: Iterable[Package], libraries: Libraries
) -> Iterator[Damage]:
    """Of each package that fits in no respect, one library."""
    here = python_here(machine, facts)
    for one in among if here else ():
        found = here and _misfit(machine, here, one, libraries)
        if found:
            path, wrong = found
            yield Damage(path, wrong.kind, Part.PACKAGE, one.owner, wrong.expected, wrong.actual)


def python_here(machine: Machine, facts: Facts) -> Here | None:
    """What the environment's Python is; None where no name of a module tells anything."""
    python = facts.environment.python
    if not isinstance(python, Known) or value_or(facts.system.os, "linux") != "linux":
        return None
    one = python.value
    version = numbers(one.version)
    if version[:1] != (3,) or len(version) < 2 or "pypy" in one.path:
        return None
    sites = value_or(facts.environment.sites, ())
    free = f"/python{major_minor(one.version)}t/"
    threads = "t" if any(free in f"{site.path}/" for site in sites) else ""
    elf = machine.elf(value_or(machine.real(one.path), one.path))
    loader = elf.value.interpreter if isinstance(elf, Known) else ""
    libc = "musl" if "ld-musl" in loader else "gnu" if "ld-linux" in loader else ""
    return Here(version[1], threads, one.machine, libc)


def _misfit(
    machine: Machine, here: Here, one: Package, libraries: Libraries
) -> tuple[str, Misfit] | None:
    by_tags = _of_tags(here, one.tags)
    if by_tags is None and one.tags:
        return None
    paths = libraries(one)
    by_names = _of_names(here, paths)
    if by_names:
        return by_names
    if by_tags is None:
        return _of_headers(machine, here, paths)
    if by_tags.kind is DamageKind.WRONG_SYSTEM and not paths:
        return f"{one.location}/WHEEL", by_tags
    # musl's Pythons wrote -gnu for long; else the modules' own names say more than the wheel
    named = any(re.search(NAME_TAG, path) for path in paths)
    if (named and by_tags.kind is not DamageKind.WRONG_LIBC) or not paths:
        return None
    return (paths[0], by_tags) if _confirmed(machine, here, by_tags, paths) else None


def _of_names(here: Here, paths: Sequence[str]) -> tuple[str, Misfit] | None:
    """By the modules' names: where none of them is one that this Python looks for."""
    found = [(path, tag) for path in paths if (tag := re.search(NAME_TAG, path))]
    judged = [(path, misfit_of_name(here, tag)) for path, tag in found]
    wrong = [(path, one) for path, one in judged if one]
    if not wrong or len(wrong) < len(judged):
        return None
    return min(wrong, key=lambda pair: _ORDER.index(pair[1].kind))


def _of_headers(machine: Machine, here: Here, paths: Sequence[str]) -> tuple[str, Misfit] | None:
    """Where nothing is stated, by the libraries: some packages have those of two on purpose."""
    elves = [machine.elf(path) for path in paths[:_FEW]]
    found = {elf.value.machine for elf in elves if isinstance(elf, Known)}
    if not found or not here.machine or here.machine in found:
        return None
    return paths[0], Misfit(DamageKind.WRONG_MACHINE, here.machine, min(found))


def misfit_of_name(here: Here, tag: re.Match[str]) -> Misfit | None:
    """In which respect a module's name is not one that this Python looks for."""
    minor, flags, processor, libc, mac = tag.groups()
    if mac:
        return Misfit(DamageKind.WRONG_SYSTEM, "Linux", "macOS")
    if here.machine and _machine(processor) != _machine(here.machine):
        return Misfit(DamageKind.WRONG_MACHINE, here.machine, processor)
    if here.libc == "gnu" and libc == "musl":
        return Misfit(DamageKind.WRONG_LIBC, "glibc", "musl")
    return _of_python(here, int(minor), "t" if "t" in flags else "")


def _of_python(here: Here, minor: int, threads: str) -> Misfit | None:
    if (minor, threads) == (here.minor, here.threads):
        return None
    expected, actual = f"3.{here.minor}{here.threads}", f"3.{minor}{threads}"
    return Misfit(DamageKind.WRONG_PYTHON, expected, actual)


def _of_tags(here: Here, tags: Sequence[str]) -> Misfit | None:
    """What the tags of a wheel say, where none of them fits."""
    parts = [tag.split("-") for tag in tags]
    judged = [_of_tag(here, *part) for part in parts if len(part) == 3]
    wrong = [one for one in judged if one]
    if not wrong or len(wrong) < len(judged):
        return None
    return min(wrong, key=lambda one: _ORDER.index(one.kind))


def _of_tag(here: Here, pythons: str, abis: str, platforms: str) -> Misfit | None:
    """None where one of the combinations fits."""
    places = [_of_place(here, place) for place in platforms.split(".")]
    wrong = [one for one in places if one]
    if len(wrong) == len(places):
        return min(wrong, key=lambda one: _ORDER.index(one.kind))
    pairs = [(python, abi) for python in pythons.split(".") for abi in abis.split(".")]
    judged = [_of_pair(here, *pair) for pair in pairs]
    return None if None in judged else judged[0]


def _of_pair(here: Here, python: str, abi: str) -> Misfit | None:
    minor = python.removeprefix("cp3")
    if not python.startswith("cp3") or not minor.isdecimal():
        return None
    if abi == "abi3" and int(minor) <= here.minor and not here.threads:
        return None
    return _of_python(here, int(minor), "t" if abi.endswith("t") else "")


def _of_place(here: Here, place: str) -> Misfit | None:
    for start, name in _SYSTEMS.items():
        if place.startswith(start):
            return Misfit(DamageKind.WRONG_SYSTEM, "Linux", name)
    linux = re.fullmatch(_LINUX, place)
    if linux and here.machine and _machine(linux[2]) != _machine(here.machine):
        return Misfit(DamageKind.WRONG_MACHINE, here.machine, linux[2])
    if linux and linux[1] == "musl" and here.libc == "gnu":
        return Misfit(DamageKind.WRONG_LIBC, "glibc", "musl")
    return None


def _machine(name: str) -> str:
    return _SAME.get(name, name)


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
    if not isinstance(elf, Known) or wrong.kind is not DamageKind.WRONG_MACHINE:
        return False
    return elf.value.machine != here.machine
