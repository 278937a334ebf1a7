"""Packages that were built for another machine, system, C library or Python than the environment's.

The names of their modules state it, and the headers of their libraries. Where one of them fits, the
package is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gpuwhy.facts.environment import Package
from gpuwhy.facts.fact import Known, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.installs import Damage, DamageKind, Part
from gpuwhy.facts.version import major_minor, numbers
from gpuwhy.look.files import real
from gpuwhy.machine.machine import Machine

_TAG = r"\.cpython-3(\d+)([a-z]*)-(?:([a-z0-9_]+)-linux-(gnu|musl)\w*|(darwin))\.so$"
_SAME = {"powerpc64le": "ppc64le", "i386": "i686"}
_FEW = 4  # libraries whose headers are read


class Misfit(NamedTuple):
    """In which respect a package does not fit."""

    kind: DamageKind
    expected: str
    actual: str


class Here(NamedTuple):
    """What the environment's Python is."""

    python: str  # 3.13, 3.13t: without the global lock
    machine: str
    musl: bool

    def refuses(self, path: str) -> Misfit | None:
        """In which respect a module's name is not one that this Python looks for.

        musl's Pythons wrote -gnu for long.
        """
        tag = re.search(_TAG, path)
        if tag is None:
            return None
        minor, flags, processor, libc, mac = tag.groups()
        python = f"3.{minor}{'t' if 't' in flags else ''}"
        if mac:
            return Misfit(DamageKind.WRONG_SYSTEM, "Linux", "macOS")
        processor = _SAME.get(processor, processor)
        if self.machine and processor != self.machine:
            return Misfit(DamageKind.WRONG_MACHINE, self.machine, processor)
        if libc == "musl" and not self.musl:
            return Misfit(DamageKind.WRONG_LIBC, "glibc", "musl")
        wrong = Misfit(DamageKind.WRONG_PYTHON, self.python, python)
        return wrong if python != self.python else None


def misfits(machine: Machine, facts: Facts, among: Iterable[Package]) -> Iterator[Damage]:
    """Of each package that fits in no respect, one library."""
    python = value_or(facts.environment.python, None)
    version = numbers(python.version) if python else ()
    linux = value_or(facts.system.os, "linux") == "linux"
    if not python or not linux or version[:1] != (3,) or len(version) < 2 or "pypy" in python.path:
        return  # no name of a module tells anything
    release = major_minor(python.version)
    sites = value_or(facts.environment.sites, ())
    free = any(f"/python{release}t/" in f"{site.path}/" for site in sites)
    elf = machine.elf(real(machine, python.path))
    musl = isinstance(elf, Known) and "ld-musl" in elf.value.interpreter
    here = Here(f"{release}t" if free else release, python.machine, musl)
    for one in among:
        rows = [row.path for row in one.files.ending(".so", ".pyd")]
        paths = [f"{one.site}/{path}" for path in rows if not path.startswith(("/", ".."))]
        found = _misfit(machine, here, paths)
        if found:
            path, wrong = found
            yield Damage(path, wrong.kind, Part.PACKAGE, one.owner, wrong.expected, wrong.actual)


def _misfit(machine: Machine, here: Here, paths: list[str]) -> tuple[str, Misfit] | None:
    libraries = [path for path in paths if re.search(r"\.so[.\d]*$", path)]
    if not libraries and any(path.endswith(".pyd") for path in paths):
        return paths[0], Misfit(DamageKind.WRONG_SYSTEM, "Linux", "Windows")
    named = {path: here.refuses(path) for path in libraries if re.search(_TAG, path)}
    for path, wrong in named.items():
        if wrong and all(named.values()):
            return path, wrong
    elves = [] if named else [machine.elf(path) for path in libraries[:_FEW]]
    machines = {elf.value.machine for elf in elves if isinstance(elf, Known)}
    if machines and here.machine and here.machine not in machines:
        return libraries[0], Misfit(DamageKind.WRONG_MACHINE, here.machine, min(machines))
    return None
