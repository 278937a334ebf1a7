"""Misfits: distributions that were built for another machine, system, C library or Python than the environment's.

A wheel says in its WHEEL file for what it was built, and its modules say it in their names; the header of a library
has the last word on the machine. Where one tag, or one module's name, fits, the distribution is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from gpuwhy.model.fact import Known, Unknown, value_or
from gpuwhy.model.facts import Damage, Distribution
from gpuwhy.model.version import major_minor, numbers
from gpuwhy.observe.scene import Scene

MACHINE, SYSTEM = "wrong architecture", "for another system"
LIBC, PYTHON = "for another C library", "for another Python"
_ORDER = (SYSTEM, MACHINE, LIBC, PYTHON)
TAG = re.compile(r"\.cpython-3(\d+)([a-z]*)-(?:([a-z0-9_]+)-linux-(gnu|musl)\w*|(darwin))\.so$")
_WHEEL = re.compile(r"Tag:\s*([\w.]+)-([\w.]+)-([\w.]+)\s*$")
_LINUX = re.compile(r"(many|musl)?linux(?:1|20\d\d|_\d+_\d+)?_(\w+)")
_FEW = 4  # libraries whose headers are asked which C library they want
_SYSTEMS = {"win": "Windows", "macosx": "macOS", "ios": "iOS", "android": "Android"}


class Here(NamedTuple):
    """What the environment's Python is."""

    minor: int  # 11 of 3.11
    threads: str  # "t": without the global lock
    machine: str
    libc: str  # "gnu", "musl", "" = not told


class Misfit(NamedTuple):
    """In which respect a tag does not fit."""

    what: str
    expected: str
    actual: str


def misfits(scene: Scene, among: Iterable[Distribution], files: Mapping[str, Sequence[str]]) -> Iterator[Damage]:
    """Of each distribution that fits in no respect, one library; `files` are the libraries of each, by owner."""
    here = python_here(scene)
    if here is None:
        return
    for dist in among:
        owner = f"{dist.name} {dist.version}"
        libraries = files.get(owner, ())
        found = _by_names(here, libraries) or _by_wheel(scene, here, dist, libraries)
        if found:
            yield Damage(found[0], owner, *found[1])


def strays(
    scene: Scene, among: Iterable[Distribution], libraries: Callable[[Distribution], Sequence[str]]
) -> Iterator[Damage]:
    """The same of many distributions: the files of one are asked for where its wheel's tags do not fit."""
    here = python_here(scene)
    for dist in among if here is not None else ():
        if here is not None and _wheel_s(scene, here, dist):
            yield from misfits(scene, (dist,), {f"{dist.name} {dist.version}": libraries(dist)})


def python_here(scene: Scene) -> Here | None:
    """What the environment's Python is; None where no name of a module tells anything."""
    python = scene.facts.target.interpreter
    if not isinstance(python, Known) or value_or(scene.facts.surroundings.system, "linux") != "linux":
        return None
    version = numbers(python.value.version)
    if version[:1] != (3,) or len(version) < 2 or "pypy" in python.value.path:
        return None
    sites = value_or(scene.facts.target.site_packages, ())
    threads = "t" if any(f"/python{major_minor(python.value.version)}t/" in f"{site}/" for site in sites) else ""
    elf = scene.host.elf(value_or(scene.host.real(python.value.path), python.value.path))
    loader = elf.value.interpreter if isinstance(elf, Known) else ""
    libc = "musl" if "ld-musl" in loader else "gnu" if "ld-linux" in loader else ""
    return Here(version[1], threads, python.value.machine, libc)


def _by_names(here: Here, libraries: Sequence[str]) -> tuple[str, Misfit] | None:
    """By the modules' names: where none of them is one that this Python looks for."""
    told = [(path, misfit_of_name(here, match)) for path in libraries if (match := TAG.search(path))]
    if not told or any(wrong is None for _, wrong in told):
        return None
    path, wrong = min(told, key=lambda one: _ORDER.index(one[1].what) if one[1] else 0)
    return (path, wrong) if wrong else None


def misfit_of_name(here: Here, match: re.Match[str]) -> Misfit | None:
    """In which respect a module's name is not one that this Python looks for."""
    minor, flags, machine, libc, mac = match.groups()
    if mac:
        return Misfit(SYSTEM, "Linux", "macOS")
    if here.machine and _machine(machine) != _machine(here.machine):
        return Misfit(MACHINE, here.machine, machine)
    if here.libc == "gnu" and libc == "musl":
        return Misfit(LIBC, "glibc", "musl")
    return _misfit_of_python(here, int(minor), "t" if "t" in flags else "")


def _misfit_of_python(here: Here, minor: int, threads: str) -> Misfit | None:
    if (minor, threads) == (here.minor, here.threads):
        return None
    return Misfit(PYTHON, f"Python 3.{here.minor}{here.threads}", f"Python 3.{minor}{threads}")


def _by_wheel(scene: Scene, here: Here, dist: Distribution, libraries: Sequence[str]) -> tuple[str, Misfit] | None:
    """By the tags of the wheel, confirmed by what is on disk."""
    wrong = _wheel_s(scene, here, dist)
    if wrong is None:
        return None
    if wrong.what == SYSTEM and not libraries:
        return f"{dist.location}/WHEEL", wrong
    named = any(TAG.search(path) for path in libraries) and wrong.what != LIBC  # musl's Pythons wrote -gnu for long
    if not libraries or named or not _confirmed(scene, here, wrong, libraries):
        return None  # the modules' own names say more than the wheel
    return libraries[0], wrong


def _wheel_s(scene: Scene, here: Here, dist: Distribution) -> Misfit | None:
    """What its tags say, where none of them fits."""
    lines = value_or(scene.host.lines(f"{dist.location}/WHEEL", "Tag:"), ())
    told = [_misfit_of_tag(here, *tag.groups()) for line in lines if (tag := _WHEEL.match(line.strip()))]
    if not told or any(wrong is None for wrong in told):
        return None
    return min(filter(None, told), key=lambda one: _ORDER.index(one.what))


def _confirmed(scene: Scene, here: Here, wrong: Misfit, libraries: Sequence[str]) -> bool:
    """Whether the headers of the libraries do not belie the wheel's tag."""
    if wrong.what == PYTHON:
        return not all(".abi3." in path or path.rpartition("/")[2].startswith("lib") for path in libraries)
    if wrong.what == LIBC:
        asked = [
            name
            for path in libraries[:_FEW]
            if isinstance(one := scene.host.elf(path), Known)
            for name in one.value.needed
        ]
        return any(name.startswith("libc.musl") for name in asked)
    elf = scene.host.elf(libraries[0])
    if isinstance(elf, Unknown):
        return wrong.what == SYSTEM and elf.kind == "foreign"
    return wrong.what == MACHINE and isinstance(elf, Known) and elf.value.machine != here.machine


def _misfit_of_tag(here: Here, pythons: str, abis: str, platforms: str) -> Misfit | None:
    """None where one of the combinations fits."""
    places = [_misfit_of_place(here, place) for place in platforms.split(".")]
    if all(places):
        return min(filter(None, places), key=lambda one: _ORDER.index(one.what))
    told = [_misfit_of_pair(here, python, abi) for python in pythons.split(".") for abi in abis.split(".")]
    return None if any(one is None for one in told) else told[0]


def _misfit_of_pair(here: Here, python: str, abi: str) -> Misfit | None:
    minor = python.removeprefix("cp3")
    if not python.startswith("cp3") or not minor.isdecimal():
        return None
    if abi == "abi3" and int(minor) <= here.minor and not here.threads:
        return None
    return _misfit_of_python(here, int(minor), "t" if abi.endswith("t") else "")


def _misfit_of_place(here: Here, place: str) -> Misfit | None:
    system = next((name for start, name in _SYSTEMS.items() if place.startswith(start)), "")
    if system:
        return Misfit(SYSTEM, "Linux", system)
    linux = _LINUX.fullmatch(place)
    if linux and here.machine and _machine(linux[2]) != _machine(here.machine):
        return Misfit(MACHINE, here.machine, linux[2])
    return Misfit(LIBC, "glibc", "musl") if linux and linux[1] == "musl" and here.libc == "gnu" else None


def _machine(name: str) -> str:
    return {"amd64": "x86_64", "arm64": "aarch64", "powerpc64le": "ppc64le", "i386": "i686"}.get(name, name)
